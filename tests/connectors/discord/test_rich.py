"""Rich messages to Discord: native payloads unchanged or rewritten, always without pings."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue

from bridge.content.cards.reader import Cards
from bridge.model import (
    AccountId,
    Byline,
    Delivery,
    MessageId,
    OperationId,
    PostMessage,
    RoomId,
)
from bridge.uacs import Actor, Message, StructuredDataPart
from connectors.discord import cards as codec
from connectors.discord.cards.schemas import COMPONENTS, EMBEDS
from connectors.discord.encode import encode
from connectors.discord.home import without_read_only
from tests.connectors.discord.payloads import WHERE

V2 = 1 << 15
NOBODY: JsonValue = {"parse": []}
CARDS = Cards.over((codec,), bytes(32))  # pyright: ignore[reportArgumentType]  # a module is one


def posted(schema_id: str, data: Any) -> dict[str, Any]:
    """Return the body of the single post."""
    message = Message(
        message_id="agent:a:1",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="agent:a", role="assistant", name="A"),
        content=(StructuredDataPart(schema_id=schema_id, data=data),),
    )
    operation = PostMessage(
        id=OperationId("op-1"), account=AccountId("discord"), channel=WHERE, room=RoomId("r"),
        message=MessageId("agent:a:1"), byline=Byline(name="A"),
    )  # fmt: skip
    (call,) = encode(Delivery(operation=operation, message=message), CARDS).calls
    return {key: value for key, value in call.body.items() if key != "username"}


def gallery(url: str) -> dict[str, Any]:
    return {"type": 12, "items": [{"media": {"url": url}, "description": "A chart"}]}


def test_native_components_are_sent_unchanged() -> None:
    components = [gallery("https://x.example/a.png"), {"type": 10, "content": "Up *now*"}]

    assert posted(COMPONENTS, components) == {
        "components": components, "flags": V2, "allowed_mentions": NOBODY,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("schema_id", "data", "expected"),
    [
        (COMPONENTS, [gallery("attachment://chart.png")], "A chart"),
        (COMPONENTS, [{"type": 13, "file": {"url": "attachment://a.pdf"}}], "a.pdf"),
        (
            COMPONENTS,
            [{"type": 13, "name": "a.pdf", "file": {"url": "https://cdn.example/a.pdf"}}],
            "a.pdf https://cdn.example/a.pdf",
        ),
        (EMBEDS, [{"title": "Up", "image": {"url": "attachment://chart.png"}}], "Up"),
    ],
)
def test_attachment_references_without_files_are_removed(
    schema_id: str, data: Any, expected: str
) -> None:
    body = posted(schema_id, data)

    assert "attachment://" not in str(body)
    assert expected in str(body)
    assert '"type": 13' not in str(body)


@pytest.mark.parametrize(
    "native",
    [
        {"content": "@everyone"},
        {"flags": V2, "components": [{"type": 10, "content": "@everyone"}]},
        [{"title": "Build"}],
        [{"type": 10, "content": "@here"}],
    ],
)
def test_a_native_message_sent_home_pings_nobody(native: Any) -> None:
    home: Any = without_read_only(native)

    assert home["allowed_mentions"] == NOBODY


def test_a_native_message_keeps_its_allowed_mentions() -> None:
    native: JsonValue = {"content": "@Ann", "allowed_mentions": {"users": ["1"]}}

    assert without_read_only(native) == native


def test_a_native_modal_gets_no_message_fields() -> None:
    modal: JsonValue = {"title": "T", "custom_id": "c", "components": []}

    assert without_read_only(modal) == modal
