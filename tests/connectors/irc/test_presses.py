"""Cards are answered by numbers; the newest card is meant unless one is named."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.json import card_from_json
from bridge.content.cards.reader import Cards
from bridge.model import ActionPressed, MessagePosted
from bridge.uacs import Actor, Message, StructuredDataPart
from connectors.irc import ids
from connectors.irc.actions import Press, numbered, read_press, token_and_values
from tests.connectors.irc.conftest import CHANNEL, Local
from tests.connectors.irc.sending import post

CARDS = Cards({}, bytes(32))
NODES: list[Any] = [
    {"type": "prose", "text": "Order?"},
    {"type": "text_input", "id": "note", "label": "Note"},
    {"type": "choice", "id": "size", "label": "Size", "options": [
        {"label": "Small", "value": "s"}, {"label": "Large", "value": "l"},
    ]},
    {"type": "actions", "items": [
        {"type": "button", "label": "Order", "id": "order", "does": "submit"},
        {"type": "button", "label": "Cancel", "id": "cancel"},
        {"type": "button", "label": "Docs", "does": "open", "url": "https://example.com/"},
    ]},
]  # fmt: skip


def card_message(number: int = 1) -> Message:
    data: Any = {"type": "card", "nodes": NODES}
    return Message(
        message_id=f"agent:helper:{number}", timestamp="2026-11-25T00:00:00.000Z",
        actor=Actor(id="agent:helper", role="assistant", name="helper"),
        content=(StructuredDataPart(schema_id="application/vnd.uacs.card+json", data=data),),
    )  # fmt: skip


def test_actions_are_numbered_in_reading_order() -> None:
    found = numbered(card_from_json({"type": "card", "nodes": NODES}))

    assert [(entry.number, entry.label) for entry in found] == [
        (1, "Note"), (2, "Size"), (3, "Order"), (4, "Cancel"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "press"),
    [
        ("!1", Press(1)),
        (" !12 some words ", Press(12, "", "some words")),
        ("!1 abc", Press(1, "abc")),
        ("!1 abc yes", Press(1, "abc", "yes")),
        ("!1 fix it", Press(1, "", "fix it")),
        ("!1 yes", Press(1, "", "yes")),
        ("!0", None),
        ("!help", None),
        ("well!1", None),
        ("!1000", None),
    ],
)
def test_an_answer_is_read(text: str, press: Press | None) -> None:
    assert read_press(text, ["abc"]) == press


@pytest.mark.parametrize(
    ("press", "token", "values"),
    [
        (Press(1, "", "with milk"), 0, {0: "with milk"}),
        (Press(2, "", "large"), 1, {1: "l"}),
        (Press(2, "", "1"), 1, {1: "s"}),
        (Press(2, "", "huge"), 1, {1: "huge"}),
        (Press(4), 3, {}),
        (Press(3, "", "1: with milk; 2=Large"), 2, {0: "with milk", 1: "l"}),
        (Press(3, "", "no pairs"), 2, {}),
    ],
)
def test_a_number_is_an_action_with_its_values(
    press: Press, token: int, values: dict[int, str]
) -> None:
    card = card_from_json({"type": "card", "nodes": NODES})
    paths = [entry.action.at for entry in numbered(card)]

    found = token_and_values(card, press, str)

    assert found == (paths[token], {paths[key]: value for key, value in values.items()})


def test_a_number_without_an_action_is_no_press() -> None:
    assert token_and_values(card_from_json({"type": "card", "nodes": NODES}), Press(9), str) is None


async def stand(local: Local, *numbers: int) -> list[str]:
    """Cards in the channel, known to the inbox; the ids of their last lines."""
    local.cards = CARDS
    connector = local.connector()
    await local.start(connector)
    native_ids: list[str] = []
    for number in numbers:
        message = card_message(number)
        receipts = await post(connector, local, message)
        local.inbox.messages[local.channel, receipts[-1].native_id] = message
        native_ids.append(receipts[-1].native_id)
    return native_ids


async def pressed(local: Local, text: str, *, reply: str = "") -> ActionPressed | MessagePosted:
    before = len(local.inbox.raws)
    local.irc.say("alice", CHANNEL, text, reply=reply)
    await local.inbox.until(lambda: len(local.inbox.raws) > before)
    (event,) = local.made[-1].decode(local.inbox.raws[-1])
    assert isinstance(event, ActionPressed | MessagePosted)
    return event


async def test_a_number_alone_belongs_to_the_newest_card(local: Local) -> None:
    _, newest = await stand(local, 1, 2)

    event = await pressed(local, "!4")

    assert isinstance(event, ActionPressed)
    assert event.target == newest
    found = CARDS.interaction(card_message(2), event.token, event.values)
    assert found is not None
    assert (found.id, found.kind) == ("cancel", "pressed")


async def test_a_code_or_a_reply_names_an_older_card(local: Local) -> None:
    older, _ = await stand(local, 1, 2)
    code = ids.card_code(card_message(1).message_id)

    by_code = await pressed(local, f"!2 {code} small")
    by_reply = await pressed(local, "!4", reply=older)

    assert isinstance(by_code, ActionPressed)
    assert isinstance(by_reply, ActionPressed)
    assert by_code.target == by_reply.target == older
    found = CARDS.interaction(card_message(1), by_code.token, by_code.values)
    assert found is not None
    assert (found.id, found.value) == ("size", "s")


async def test_after_a_restart_the_newest_card_is_still_known(local: Local) -> None:
    (native_id,) = await stand(local, 1)
    await local.stop()
    await local.start(local.connector())

    event = await pressed(local, "!4")

    assert isinstance(event, ActionPressed)
    assert event.target == native_id


async def test_a_number_without_a_card_is_a_message(local: Local) -> None:
    await stand(local, 1)

    assert isinstance(await pressed(local, "!9"), MessagePosted)
    assert isinstance(await pressed(local, "!help me"), MessagePosted)
