"""Reactions, pins and typing against the local Discord, in and out."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.errors import FormRefused
from bridge.model import (
    AddReaction,
    Delivery,
    Event,
    MessagePinned,
    MessageUnpinned,
    PinMessage,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    Receipt,
    RemoveReaction,
    TypingStarted,
    UnpinMessage,
)
from bridge.sandbox.feed import LocalMessage
from connectors.discord.decode import decode
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.unpinned import UnpinDetector
from tests.connectors.discord.conftest import Local
from tests.connectors.discord.payloads import ANN, CHANNEL, US, message, raw, user
from tests.connectors.discord.test_encode import delivery
from tests.router.fake_clock import FakeClock

WHERE: dict[str, str] = {"channel_id": CHANNEL}


def marked(local: Local, kind: type[Any], native_id: str, emoji: str = "👍") -> Delivery:
    new_delivery = delivery(
        kind=AddReaction, channel=local.channel, copies=(Receipt(native_id=native_id),)
    )
    fields: dict[str, Any] = new_delivery.operation.model_dump(exclude={"type", "emoji"})
    if kind in (AddReaction, RemoveReaction):
        fields["emoji"] = emoji
    return new_delivery.model_copy(update={"operation": kind(**fields)})


def standing(local: Local) -> LocalMessage:
    return local.discord.messages(local.channel.workspace, local.channel.channel)[0]


async def put(local: Local, kind: type[Any], native_id: str, emoji: str = "👍") -> None:
    connector = local.connectors[0] if local.connectors else local.connector()
    for call in connector.encode(marked(local, kind, native_id, emoji)).calls:
        await connector.send(call)


async def test_repeated_reactions_and_pins_succeed(local: Local) -> None:
    message_id = await local.say("hello")

    for kind in (AddReaction, AddReaction, PinMessage, PinMessage):
        await put(local, kind, message_id)
    assert list(standing(local).reactions) == ["👍"]
    assert standing(local).pinned
    for kind in (RemoveReaction, RemoveReaction, UnpinMessage, UnpinMessage):
        await put(local, kind, message_id)

    assert standing(local).reactions == {}
    assert not standing(local).pinned


async def test_a_custom_emoji_is_looked_up_by_name_in_the_guild(local: Local) -> None:
    message_id = await local.say("hello")
    guild = local.discord.state.guilds[int(local.channel.workspace)]
    guild.emojis.append({"id": "321", "name": "party", "animated": False})

    await put(local, AddReaction, message_id, ":party:")

    assert list(standing(local).reactions) == [":party:"]


async def test_a_reaction_to_a_deleted_message_is_no_error(local: Local) -> None:
    await put(local, AddReaction, "123456789012345678")


async def test_an_unknown_emoji_or_a_missing_permission_raises_form_refused(local: Local) -> None:
    message_id = await local.say("hello")

    with pytest.raises(FormRefused, match=":party:"):
        await put(local, AddReaction, message_id, ":party:")
    for guild in local.discord.state.guilds.values():
        for role in guild.roles.values():
            role.permissions &= ~int(Permission.ADD_REACTIONS | Permission.PIN_MESSAGES)
    with pytest.raises(FormRefused, match="50013"):
        await put(local, AddReaction, message_id)
    with pytest.raises(FormRefused, match="50013"):
        await put(local, PinMessage, message_id)


# --- decode -------------------------------------------------------------------------------------


def decoded(data: dict[str, Any], kind: str, **own: Any) -> Event:
    (event,) = decode(raw(data, kind, own=own))
    return event


def test_reaction_events_name_their_actor() -> None:
    data = {**WHERE, "message_id": "77", "user_id": ANN, "emoji": {"id": None, "name": "🎉"}}

    added = decoded(data, "MESSAGE_REACTION_ADD")
    removed = decoded(data | {"emoji": {"id": "5", "name": "party"}}, "MESSAGE_REACTION_REMOVE")
    ours = decoded(data | {"user_id": US}, "MESSAGE_REACTION_ADD")
    cleared = decoded({**WHERE, "message_id": "77"}, "MESSAGE_REACTION_REMOVE_ALL")

    assert isinstance(added, ReactionAdded)
    assert (added.target, added.emoji, added.own) == ("77", "🎉", False)
    assert isinstance(removed, ReactionRemoved)
    assert removed.emoji == ":party:"
    assert isinstance(ours, ReactionAdded)
    assert ours.own
    assert isinstance(cleared, ReactionsCleared)
    assert cleared.emoji is None


def test_a_pin_event_is_read_from_its_system_message() -> None:
    line = message("", type=6, message_reference={**WHERE, "message_id": "77"})

    pinned = decoded(line, "MESSAGE_CREATE")
    ours = decoded(line | {"author": user(US)}, "MESSAGE_CREATE")

    assert isinstance(pinned, MessagePinned)
    assert (pinned.target, pinned.actor.split(":")[-1], pinned.own) == ("77", ANN, False)
    assert isinstance(ours, MessagePinned)
    assert ours.own


def test_unpinning_and_typing_are_read() -> None:
    unpinned = decoded(message("x", id="77"), "MESSAGE_UNPINNED", unpinned=True)
    typing = decoded({**WHERE, "user_id": ANN, "timestamp": 1}, "TYPING_START")

    assert isinstance(unpinned, MessageUnpinned)
    assert (unpinned.target, unpinned.own) == ("77", True)
    assert isinstance(typing, TypingStarted)
    assert not typing.own


def test_an_unpin_is_detected_from_an_update_and_a_pins_change() -> None:
    clock = FakeClock()
    detector = UnpinDetector(clock)
    update = {"channel_id": "1", "id": "77", "pinned": False}
    pins = {"channel_id": "1"}

    assert detector.observe("MESSAGE_UPDATE", update) == []
    assert detector.observe("CHANNEL_PINS_UPDATE", pins) == [(0.0, update)]
    assert detector.observe("MESSAGE_UPDATE", update) == [(0.0, update)]
    assert detector.observe("MESSAGE_UPDATE", {**update, "channel_id": "2"}) == []
    assert detector.observe("MESSAGE_UPDATE", {**update, "pinned": True}) == []


def test_an_edit_or_a_new_thread_before_a_pin_is_no_unpin() -> None:
    detector = UnpinDetector(FakeClock())
    update = {"channel_id": "1", "id": "77", "pinned": False}

    assert detector.observe("MESSAGE_UPDATE", update) == []
    assert detector.observe("MESSAGE_UPDATE", {**update, "pinned": True}) == []
    assert detector.observe("CHANNEL_PINS_UPDATE", {"channel_id": "1"}) == []
