"""What a text refers to: found in it, and put as its destination knows it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from bridge.content.cards.tree import Card
from bridge.content.text.tree import (
    Broadcast,
    BroadcastPing,
    ChannelLink,
    ChannelThere,
    Document,
    GroupMention,
    GroupPing,
    Inline,
    Link,
    Mention,
    Ping,
    Text,
)
from bridge.model import Counterparts, split_key

Reference = Mention | GroupMention | ChannelLink | Broadcast | Link
Rule = Callable[[Reference], Inline]
"""What is written in place of a reference: see `reference_rule`."""
_REFERENCES = (Mention, GroupMention, ChannelLink, Broadcast, Link)
T = TypeVar("T", Document, Card)


def references_in(document: Document | Card) -> Iterator[Reference]:
    """Mentions, channels and links, in order; code and escaped text refer to nothing."""
    stack: list[object] = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, _REFERENCES):
            yield value
        if isinstance(value, tuple):
            stack.extend(reversed(value))  # pyright: ignore[reportUnknownArgumentType]
        elif is_dataclass(value):
            stack.extend(reversed([getattr(value, name) for name in _inner(type(value))]))


def reference_rule(known: Counterparts, names: Mapping[str, str]) -> Rule:
    """The one rule for what a copy refers to, in text and in native payloads alike.

    A person, a group, a channel or everybody is referred to for real only if `known` allows it.
    Any other reference becomes one that connectors write as readable text; it carries the name in
    `names` (by the key of the actor, group or channel) where the source gave only an id."""

    def rule(node: Reference) -> Inline:
        return _counterpart(named(node, names), known)

    return rule


def named(node: Reference, names: Mapping[str, str]) -> Reference:
    """The reference with the name in `names` in place of its bare id."""
    match node:
        case Mention(key, name) | GroupMention(key, name) | ChannelLink(key, name):
            known = names.get(key)
            return replace(node, name=known) if known and is_bare_id(key, name) else node
        case _:
            return node


def is_bare_id(key: str, name: str) -> bool:
    """Whether the name of an actor, a group or a channel is only its native id."""
    return name == split_key(key)[-1]


def with_names(value: T, names: Mapping[str, str]) -> T:
    """A text or a card with names in place of bare ids; the same object where none changes."""
    return with_references(value, lambda node: named(node, names)) if names else value


def with_counterparts(value: T, known: Counterparts) -> T:
    """A text or a card that refers to what is there; it is the same object where nothing does."""
    if not (known.people or known.groups or known.channels or known.links or known.everyone):
        return value
    return with_references(value, lambda node: _counterpart(node, known))


def with_references(value: T, other: Callable[[Reference], Inline]) -> T:
    """The same with `other(reference)` for each; what does not change stays the same object."""
    return _with(value, other)


def _counterpart(node: Reference, known: Counterparts) -> Reference:
    match node:
        case Mention(actor) if actor in known.people:
            person = known.people[actor]
            return Ping(person.id, person.name)
        case GroupMention(group, name) if group in known.groups:
            return GroupPing(known.groups[group], name)
        case ChannelLink(channel, name) if channel in known.channels:
            return ChannelThere(known.channels[channel], name)
        case Broadcast(range=range_) if known.everyone:
            return BroadcastPing(range_)
        case Link(url, children) if url in known.links:
            leads = known.links[url]
            return Link(leads, (Text(leads),) if children == (Text(url),) else children)
        case _:
            return node


def _with(value: Any, other: Callable[[Reference], Inline]) -> Any:
    if isinstance(value, _REFERENCES):
        return other(value)
    if isinstance(value, tuple):
        before: tuple[Any, ...] = value
        items = [_with(one, other) for one in before]
        same = all(a is b for a, b in zip(items, before, strict=True))
        return value if same else tuple(items)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changes: dict[str, Any] = {}
    for name in _inner(type(value)):
        before = getattr(value, name)
        after = _with(before, other)
        if after is not before:
            changes[name] = after
    return replace(value, **changes) if changes else value


@cache
def _inner(kind: type) -> tuple[str, ...]:
    """The fields that may hold nodes."""
    plain = ("str", "bool", "int", "float", "Literal", "JsonValue", "Annotated[SkipJsonSchema")
    return tuple(one.name for one in fields(kind) if not str(one.type).startswith(plain))
