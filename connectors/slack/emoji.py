"""Slack's emoji names <-> Unicode: `:wave::skin-tone-3:`, reactions without colons. Pure.

An unknown name may be a custom emoji of a workspace: it stays text, which Slack shows as the emoji
where it exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.content.text.emoji import emoji_of, short_name_of
from bridge.content.text.tree import Emoji, Inline, Text

NAME = r"[\w+'\-]+(?:::skin-tone-[2-6](?:-[2-6])?)?"
_OURS = {"simple_smile": "slightly_smiling_face"}  # emoji that only Slack has
_NAMED = re.compile(rf":(?<!\w:)({NAME}):(?!\w)")


def unicode_of(name: str) -> str | None:
    """The characters of a standard emoji; None for a custom one or an unknown name."""
    return emoji_of(_OURS.get(name, name))


def named_emoji(name: str) -> Emoji | None:
    """The emoji node of a name such as `wave::skin-tone-3`; None for a custom or unknown name."""
    characters = unicode_of(name)
    return Emoji(name, characters) if characters else None


def text_with_emoji(text: str) -> Iterator[Inline]:
    """Inlines of a text with names of standard emoji, such as a plain_text object with `emoji`."""
    place = 0
    for match in _NAMED.finditer(text) if ":" in text else ():
        if emoji := named_emoji(match[1]):
            if match.start() > place:
                yield Text(text[place : match.start()])
            yield emoji
            place = match.end()
    if text[place:]:
        yield Text(text[place:])


def reaction_to_emoji(name: str) -> str:
    """`+1` -> 👍; a custom emoji -> its name between colons."""
    return unicode_of(name) or f":{name}:"


def emoji_to_reaction(emoji: str) -> str | None:
    """👍 -> `+1`, `:party:` -> `party`; None for an emoji that has no Slack name."""
    if len(emoji) > 2 and emoji[0] == emoji[-1] == ":":
        return emoji[1:-1]
    return short_name_of(emoji)
