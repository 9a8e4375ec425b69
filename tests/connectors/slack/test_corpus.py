"""Real payloads from public sources: each is decoded, or undecodable with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from bridge.errors import UndecodableEvent
from bridge.model import EVENT
from connectors.slack.content import post_content
from connectors.slack.decode import decode
from connectors.slack.json_values import objects_at
from tests.connectors.slack.payloads import OWN_IDENTITY, envelope, raw

CORPUS = os.environ.get("UACS_CORPUS")
pytestmark = pytest.mark.skipif(not CORPUS, reason="UACS_CORPUS names no folder of payloads")


def _objects(folder: str) -> list[tuple[str, dict[str, object]]]:
    files = sorted((Path(CORPUS or ".") / "slack" / folder).rglob("*.json"))
    objects: list[tuple[str, dict[str, object]]] = []
    for file in files:
        value = orjson.loads(file.read_bytes())
        values = value if isinstance(value, list) else [value]
        objects += [(file.name, item) for item in values if isinstance(item, dict)]
    return objects


def test_every_corpus_event_is_decoded_or_undecodable() -> None:
    decoded = undecodable = 0
    for _name, body in _objects("events"):
        event = body if "event" in body or "ts" not in body else envelope(dict(body))
        row = raw(event)
        try:
            (decoded_event,) = decode(row, OWN_IDENTITY)
        except UndecodableEvent:
            undecodable += 1
        else:
            assert EVENT.validate_json(decoded_event.model_dump_json()) == decoded_event
            decoded += 1

    assert decoded > 0.9 * (decoded + undecodable)


def test_every_corpus_block_gives_content_parts() -> None:
    for name, body in _objects("blocks"):
        blocks = objects_at(body, "blocks") or [body]
        content = post_content({"blocks": list(blocks)}, "T1")
        assert content.parts, name
