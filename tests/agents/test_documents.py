"""Documents that were looked up, as each API is told them: a document or its text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.agents.a2a.write import write_request as write_a2a
from bridge.content.messages.agent_parts import DOCUMENT
from bridge.uacs import StructuredDataPart, TextPart, ToolCallPart, ToolResultPart, write
from tests.agents.apis import ALL_CODECS
from tests.agents.talking import message_from, room

TEXT = "Rain falls.\nSnow, too."
FOUND = StructuredDataPart(schema_id=DOCUMENT, data={"title": "Weather", "text": TEXT})
NATIVE: dict[str, Any] = {
    "ailoy": {"type": "value", "value": {"title": "Weather", "text": TEXT}},
    "acp": {"name": "/Weather", "content_type": "text/plain", "content": TEXT},
}
IN_RESULTS: dict[str, Any] = {
    "ailoy": {"title": "Weather", "text": TEXT},
    "anthropic": {"type": "document", "title": "Weather",
                  "source": {"type": "text", "media_type": "text/plain", "data": TEXT}},
}  # fmt: skip
PART: Any = json.loads(write(FOUND))
WRITERS = {**{name: value.write_request for name, value in ALL_CODECS.items()}, "a2a": write_a2a}


@pytest.mark.parametrize("api", sorted(WRITERS))
def test_a_document_is_sent_with_its_title_and_its_text(api: str) -> None:
    talk = room(message_from("slack:T:U1", [TextPart(text="Read this:"), FOUND], "Alice"))

    written = WRITERS[api](talk, "bot")

    body = json.dumps(written.body)
    assert DOCUMENT not in body
    assert "schema_id" not in body
    assert json.dumps(NATIVE[api]) in body if api in NATIVE else fenced() in body
    assert [loss for loss in written.losses if loss.kind == "part_as_text"] == []


@pytest.mark.parametrize("shape", [[PART], {"parts": [PART]}, PART], ids=["list", "parts", "bare"])
@pytest.mark.parametrize("api", sorted(ALL_CODECS))
def test_a_document_in_a_tool_result_is_sent_like_a_document_of_a_person(
    api: str, shape: Any
) -> None:
    looked = [ToolCallPart(id="c1", name="look", arguments={}),
              ToolResultPart(tool_call_id="c1", content=shape)]  # fmt: skip
    question = message_from("slack:T:U", "Weather?", "Alice")
    talk = room(question, message_from("agent:bot", looked, "bot", "assistant"), question)

    written = json.dumps(ALL_CODECS[api].write_request(talk, "bot").body, sort_keys=True)

    assert DOCUMENT not in written
    assert "schema_id" not in written
    own = json.dumps(IN_RESULTS.get(api), sort_keys=True)
    assert own in written if api in IN_RESULTS else fenced() in written


def fenced() -> str:
    return json.dumps(f"[file Weather, text/plain]\n```\n{TEXT}\n```")[1:-1]
