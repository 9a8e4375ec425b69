"""Documents that were looked up, as each API is told them: a document or its text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.agents.a2a.write import write_request as write_a2a
from bridge.content.agent_parts import DOCUMENT
from bridge.uacs import StructuredDataPart, TextPart
from tests.agents.apis import ALL_CODECS
from tests.agents.talking import room, said

TEXT = "Rain falls.\nSnow, too."
FOUND = StructuredDataPart(schema_id=DOCUMENT, data={"title": "Weather", "text": TEXT})
NATIVE: dict[str, Any] = {
    "ailoy": {"type": "value", "value": {"title": "Weather", "text": TEXT}},
    "acp": {"name": "/Weather", "content_type": "text/plain", "content": TEXT},
}


WRITERS = {**{name: one.write_request for name, one in ALL_CODECS.items()}, "a2a": write_a2a}


@pytest.mark.parametrize("api", sorted(WRITERS))
def test_a_document_is_told_with_its_title_and_its_text(api: str) -> None:
    talk = room(said("slack:T:U1", [TextPart(text="Read this:"), FOUND], "Alice"))

    written = WRITERS[api](talk, "bot")

    told = json.dumps(written.body)
    assert DOCUMENT not in told
    assert "schema_id" not in told
    assert json.dumps(NATIVE[api]) in told if api in NATIVE else fenced() in told
    assert [one for one in written.losses if one.kind == "part_as_text"] == []


def fenced() -> str:
    return json.dumps(f"[file Weather, text/plain]\n```\n{TEXT}\n```")[1:-1]
