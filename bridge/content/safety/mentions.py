"""References in a text, and their counterparts at a destination. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from bridge.content.text.names import is_bare_id
from bridge.content.text.nodes import nodes_in, with_nodes
from bridge.content.text.tree import (
    Broadcast,
    BroadcastPing,
    ChannelLink,
    ChannelThere,
    GroupMention,
    GroupPing,
    Inline,
    Link,
    Mention,
    Ping,
    Text,
)
from bridge.model import Counterparts

Reference = Mention | GroupMention | ChannelLink | Broadcast | Link
Rule = Callable[[Reference], Inline]
"""What is written in place of a reference: see `reference_rule`."""
_REFERENCES = (Mention, GroupMention, ChannelLink, Broadcast, Link)
T = TypeVar("T")  # a text or a card


def references_in(document: object) -> Iterator[Reference]:
    """Yields mentions, channels and links of a text or a card, in order; code and escaped text
    refer to nothing."""
    return nodes_in(document, _REFERENCES)


def reference_rule(counterparts: Counterparts, names: Mapping[str, str]) -> Rule:
    """Returns the rule for what a copy refers to, in text and in native payloads alike.

    Args:
        known: The counterparts at the destination. Only they become real mentions and links.
        names: Names by the key of an actor, group or channel, for references with a bare id.

    Returns:
        A function from a reference to what connectors write: a real reference, or readable text.
    """

    def rule(node: Reference) -> Inline:
        return _counterpart(with_known_name(node, names), counterparts)

    return rule


def with_known_name(node: Reference, names: Mapping[str, str]) -> Reference:
    """Returns the reference with the name in `names` in place of its bare id."""
    match node:
        case Mention(key, name) | GroupMention(key, name) | ChannelLink(key, name):
            name_known = names.get(key)
            return replace(node, name=name_known) if name_known and is_bare_id(key, name) else node
        case _:
            return node


def with_names(value: T, names: Mapping[str, str]) -> T:
    """Returns a text or a card with names in place of bare ids; the same object if nothing
    changes."""
    return with_references(value, lambda node: with_known_name(node, names)) if names else value


def with_counterparts(value: T, counterparts: Counterparts) -> T:
    """Returns a text or a card with the destination's counterparts; the same object if nothing
    changes."""
    if not (
        counterparts.people
        or counterparts.groups
        or counterparts.channels
        or counterparts.links
        or counterparts.everyone
    ):
        return value
    return with_references(value, lambda node: _counterpart(node, counterparts))


def with_references(value: T, other: Callable[[Reference], Inline]) -> T:
    """Returns a text or a card with `other(reference)` for each reference; unchanged parts stay the
    same objects."""
    return with_nodes(value, _REFERENCES, other)


def _counterpart(node: Reference, counterparts: Counterparts) -> Reference:
    match node:
        case Mention(actor) if actor in counterparts.people:
            person = counterparts.people[actor]
            return Ping(person.id, person.name)
        case GroupMention(group, name) if group in counterparts.groups:
            return GroupPing(counterparts.groups[group], name)
        case ChannelLink(channel, name) if channel in counterparts.channels:
            return ChannelThere(counterparts.channels[channel], name)
        case Broadcast(range=range_) if counterparts.everyone:
            return BroadcastPing(range_)
        case Link(url, children) if url in counterparts.links:
            target = counterparts.links[url]
            return Link(target, (Text(target),) if children == (Text(url),) else children)
        case _:
            return node
