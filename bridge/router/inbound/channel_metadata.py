"""Name, topic and pins of a channel: what we know of them, and what changed while nobody
listened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bridge.content.markdown import markdown_to_text
from bridge.content.text.plain import text_to_plain
from bridge.model import (
    ChannelRef,
    ChannelRenamed,
    Event,
    PinMessage,
    Raw,
    TopicChanged,
    UnpinMessage,
    split_key,
)
from bridge.model.archive_records import ExpectedPin
from bridge.model.refs import join_key
from bridge.ports.abilities.platform_history import ChannelMetadataReader
from bridge.ports.connector import Connector
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.recovery import RecoveryStore

_FOUND = 0.0  # the time of a name or a topic that the first comparison found


async def is_news(store: KeyValueStore, event: TopicChanged | ChannelRenamed) -> bool:
    """Note a topic or a name that an event changed. Returns whether it differs from the last that
    was noted: history, a comparison and a live event may all bring the same one. What the first
    comparison found was told to nobody, and may be what this event brought. Raises StoreError."""
    if event.place.thread is not None:
        return True
    at = event.time.timestamp()
    noted = await store.get_value(ROUTER_VALUES, _key(event))
    if noted is not None:
        since, _, value = noted.partition(" ")
        if float(since) != _FOUND and (value == _value(event) or at < float(since)):
            return False
    await _note(store, event, at)
    return True


async def _note(store: KeyValueStore, event: TopicChanged | ChannelRenamed, at: float) -> None:
    await store.put_value(ROUTER_VALUES, _key(event), f"{at:.6f} {_value(event)}")


class _NewsOfStore(RecoveryStore, KeyValueStore, MessageStore, Protocol):
    """What `news_of` needs of the store."""


async def news_of(
    store: _NewsOfStore, connector: Connector, channel: ChannelRef, at: float
) -> Sequence[Raw]:
    """Return the changes of the channel that the store does not know, as payloads of live events;
    `at` is now. Raises StoreError, and what the platform's answer raises."""
    reader = connector.abilities.channel_metadata
    if reader is None:
        return ()
    channel_metadata = await reader.metadata(channel)
    raws = [raw for raw in channel_metadata.changes if await _is_changed(store, connector, raw)]
    if channel_metadata.pins is None:
        return raws
    known_pins = await held_pins(store, channel)
    for native_id in dict.fromkeys([*known_pins, *channel_metadata.pins]):
        if (
            channel_metadata.of_threads
            or native_id not in known_pins
            or known_pins[native_id].thread is None
        ):
            pinning = channel_metadata.pins.get(native_id)
            pin_raw = await news_of_pin(store, reader, channel, native_id, pinning, known_pins, at)
            raws += [pin_raw] if pin_raw else []
    return raws


async def held_pins(store: RecoveryStore, channel: ChannelRef) -> Mapping[str, ExpectedPin]:
    """Return the pins of a channel and its threads that the store knows, by native id. Raises
    StoreError."""
    return {pin.native_id: pin for pin in await store.pins(channel)}


async def news_of_pin(
    store: MessageStore, reader: ChannelMetadataReader, channel: ChannelRef, native_id: str,
    pinning: Raw | None, known_pins: Mapping[str, ExpectedPin], at: float,
) -> Raw | None:  # fmt: skip
    """Return a change of a pin that the store does not know, as a payload, or None; `pinning` is
    None where the message is not pinned. Raises StoreError."""
    pin = known_pins.get(native_id)
    if pin is None:
        message = await store.resolve(channel, native_id) if pinning else None
        is_known = any(message == other.message for other in known_pins.values())
        return pinning if message and not is_known else None
    is_pinned = await _is_pinned_here(store, channel, pin)
    if pinning is None and is_pinned is True:
        return reader.unpinned(channel, native_id, pin.thread, pin.at, at)
    return pinning if is_pinned is False else None


async def _is_changed(store: KeyValueStore, connector: Connector, raw: Raw) -> bool:
    """Whether a name or a topic is news. One of which nothing is noted yet is noted, and is no
    news."""
    for event in connector.decode(raw):
        if isinstance(event, TopicChanged | ChannelRenamed):
            noted = await store.get_value(ROUTER_VALUES, _key(event))
            if noted is None:
                await _note(store, event, _FOUND)
            elif noted.partition(" ")[2] != _value(event):
                return True
    return False


async def _is_pinned_here(
    store: MessageStore, channel: ChannelRef, pin: ExpectedPin
) -> bool | None:
    """Whether the message should be pinned in this channel, by our last operation there, or because
    the pin happened there. None: it is not known, because our operation failed, is still to come,
    or never was."""
    explanation = await store.explain(pin.message)
    ours = [
        record
        for record in (explanation.operations if explanation else ())
        if record.operation.lane == channel.reaction_lane
        and isinstance(record.operation, PinMessage | UnpinMessage)
    ]
    if ours and ours[-1].created >= pin.at:
        last = ours[-1]
        done = last.state == "done" and not last.losses
        return isinstance(last.operation, PinMessage) if done else None
    by_one_of_there = split_key(pin.actor)[:2] == [channel.platform, channel.workspace]
    return pin.pinned if by_one_of_there else None


def _key(event: Event) -> str:
    kind = "topic" if isinstance(event, TopicChanged) else "name"
    return join_key(kind, event.account, event.place.channel.key)


def _value(event: TopicChanged | ChannelRenamed) -> str:
    """The text of it: markup, and names that are looked up later, make no difference."""
    if isinstance(event, TopicChanged):
        return text_to_plain(markdown_to_text(event.topic))
    return event.name
