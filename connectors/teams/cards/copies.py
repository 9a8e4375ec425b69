"""Copies of an activity, attachment or card of Teams for another channel, for any input. Pure.

A mention is `<at>Name</at>` in a text and an entity with the same text, in the activity or the card
(msteams-docs, "Format cards" and "Channel and group chat conversations", 2026-09). The rule
replaces the tags, and the entities are removed: the sender adds the allowed ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import unescape

from pydantic import JsonValue

from bridge.content.safety.mentions import Rule, with_references
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Paragraph, Ping
from connectors.teams.activity import Json, objects
from connectors.teams.cards.read_mentions import Mentions, mentions_of_entities
from connectors.teams.cards.write_runs import escape
from connectors.teams.text import at_tag, escape_name

_TAG = re.compile(
    r"<at\b(?P<attributes>[^<>]*)>(?P<words>(?:(?!<at\b|</at\s*>).)*)</at\s*>",
    re.IGNORECASE | re.DOTALL,
)
_LOOSE = re.compile(r"</?at\b", re.IGNORECASE)
_NUMBER = re.compile(r"\bid\s*=\s*[\"']?(\w+)")
_DEEPEST = 200
# Keys whose values clients send back or open, but do not show.
_UNSHOWN = frozenset(("data", "id", "url", "contentUrl", "thumbnailUrl", "iconUrl", "type"))
_SENT_BACK = ("Action.", "imBack", "messageBack", "invoke", "postBack", "openUrl", "signin")


def as_copy(native: JsonValue, rule: Rule, workspace: str = "") -> JsonValue:
    """See `bridge.content.cards.codec.Codec.as_copy`."""
    return _Copying(rule, workspace).value(native, _Scope(Mentions(workspace)), 0)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The mentions in effect, and whether it is an Adaptive Card.

    The Markdown of cards has other escapes than that of messages.
    """

    mentions: Mentions
    card: bool = False

    def written(self, text: str) -> str:
        return escape(text) if self.card else escape_name(text)


class _Copying:
    def __init__(self, rule: Rule, tenant: str) -> None:
        self._rule = rule
        self._tenant = tenant

    def value(self, value: JsonValue, scope: _Scope, depth: int) -> JsonValue:
        match value:
            case str():
                return self._text(value, scope)
            case list() | dict() if depth > _DEEPEST:
                return None
            case list():
                items = [self.value(item, scope, depth + 1) for item in value]
                same = all(a is b for a, b in zip(items, value, strict=True))
                return value if same else items
            case dict():
                return self._object(value, scope, depth)
            case _:
                return value

    def _object(self, value: Json, scope: _Scope, depth: int) -> JsonValue:
        entities = _entities(value)
        if entities:
            mentions = mentions_of_entities(entities, self._tenant)
            scope = replace(scope, mentions=mentions)
        if value.get("type") == "AdaptiveCard":
            scope = replace(scope, card=True)
        changed: Json = {}
        for key, before in value.items():
            if key == "entities":
                after = _without_mentions(before)
            elif key in _UNSHOWN or (key == "value" and _is_sent_back(value)):
                continue
            else:
                after = self.value(before, scope, depth + 1)
            if after is not before:
                changed[key] = after
        return {**value, **changed} if changed else value

    def _text(self, text: str, scope: _Scope) -> str:
        if "<" not in text or not _LOOSE.search(text):
            return text
        written: list[str] = []
        at = 0
        for tag in _TAG.finditer(text):
            written.append(self._without_tags(text[at : tag.start()], scope))
            written.append(self._rewritten_mention(tag, scope))
            at = tag.end()
        return "".join([*written, self._without_tags(text[at:], scope)])

    @staticmethod
    def _without_tags(text: str, scope: _Scope) -> str:
        return _LOOSE.sub(lambda tag: scope.written(tag[0]), text)

    def _rewritten_mention(self, tag: re.Match[str], scope: _Scope) -> str:
        words, mentions = unescape(tag["words"]), scope.mentions
        number = _NUMBER.search(tag["attributes"])
        node = mentions.numbered(number[1], words) if number else mentions.by_text(words)
        (paragraph,) = with_references((Paragraph((node,)),), self._rule)
        (inline,) = paragraph.children
        if isinstance(inline, Ping):
            return at_tag(inline.name)
        return scope.written(plain_inlines((inline,)))


def _entities(value: Json) -> list[Json]:
    """Return the entities of an activity or a card."""
    extension = value.get("msteams")
    return objects(value, "entities") or (
        objects(extension, "entities") if isinstance(extension, dict) else []
    )


def _without_mentions(entities: JsonValue) -> JsonValue:
    if not isinstance(entities, list):
        return entities
    others = [entity for entity in entities if not _is_mention(entity)]
    return others if len(others) < len(entities) else entities


def _is_mention(entity: JsonValue) -> bool:
    return isinstance(entity, dict) and str(entity.get("type")).lower() == "mention"


def _is_sent_back(value: Json) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind.startswith(_SENT_BACK)
