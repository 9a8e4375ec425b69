"""A Discord message or payload -> its copy for another channel. Pure and total.

Mentions in `content`, text displays and the texts of embeds are rewritten by the rule. The sender's
`allowed_mentions` decide whom they notify. Code and escaped characters stay unchanged (docs:
reference#message-formatting, 2026-08).
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from bridge.content.safety.mentions import Rule, with_references
from bridge.content.text.tree import Paragraph
from bridge.model import ChannelRef
from connectors.discord.cards.schemas import TEXT_DISPLAY
from connectors.discord.ids import PLATFORM
from connectors.discord.inline_reader import Names, read_inline
from connectors.discord.inline_writer import write_inline

_TOKEN = re.compile(
    r"""(?P<skip> \\. | (?<!`)(?P<ticks>`+)(?!`)(?s:.*?)(?<!`)(?P=ticks)(?!`) )
      | <(?:@[!&]?|\#)[0-9]{1,20}> | @(?:everyone|here)\b""",
    re.VERBOSE,
)
_DEEPEST = 200
_LISTS_OF_EMBEDS = frozenset(("embeds", "embed"))
_TEXTS_OF_EMBEDS = frozenset(("title", "description", "name", "value", "text"))
_OF_EMBEDS = frozenset(("title", "description", "fields", "author", "footer"))


def as_copy(native: JsonValue, rule: Rule, workspace: str = "") -> JsonValue:
    """See `bridge.content.cards.codec.Codec.as_copy`."""
    copier = _Copier(rule, workspace)
    return copier.value(native, embed=_is_embed(native), depth=0)


def _is_embed(native: JsonValue) -> bool:
    first = native[0] if isinstance(native, list) and native else native
    return (
        isinstance(first, dict)
        and bool(_OF_EMBEDS & first.keys())
        and not isinstance(first.get("type"), int)
        and "content" not in first
    )


class _Copier:
    def __init__(self, rule: Rule, guild: str) -> None:
        self._rule = rule
        channel = ChannelRef(platform=PLATFORM, workspace=guild, channel="")
        self._names = Names(channel=channel)

    def value(self, value: JsonValue, *, embed: bool, depth: int) -> JsonValue:
        if depth > _DEEPEST:
            return None if isinstance(value, list | dict) else value
        if isinstance(value, list):
            items = [self.value(item, embed=embed, depth=depth + 1) for item in value]
            same = all(a is b for a, b in zip(items, value, strict=True))
            return value if same else items
        if not isinstance(value, dict):
            return value
        changed: dict[str, JsonValue] = {}
        for key, original in value.items():
            if isinstance(original, str):
                copied = self._text(original) if _is_text(key, value, embed=embed) else original
            else:
                inside = key in _LISTS_OF_EMBEDS or (embed and key in _OF_EMBEDS)
                copied = self.value(original, embed=inside, depth=depth + 1)
            if copied is not original:
                changed[key] = copied
        return {**value, **changed} if changed else value

    def _text(self, text: str) -> str:
        return _TOKEN.sub(self._token, text) if "<" in text or "@" in text else text

    def _token(self, match: re.Match[str]) -> str:
        if match["skip"]:
            return match[0]
        paragraphs = (Paragraph(read_inline(match[0], self._names)),)
        (named,) = with_references(paragraphs, self._rule)
        return write_inline(named.children, before="a", after="a")


def _is_text(key: str, parent: dict[str, JsonValue], *, embed: bool) -> bool:
    if embed:
        return key in _TEXTS_OF_EMBEDS
    return key == "content" and parent.get("type") in (None, 0, 19, TEXT_DISPLAY)
