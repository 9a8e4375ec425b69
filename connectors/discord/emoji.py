"""Discord's custom emoji, such as `<:party:12>` <-> their picture. Pure.

Short names such as `:smile:` are typed in Discord's clients, which send the character: in a
message they are text.
"""

from __future__ import annotations

import re

from bridge.content.text.tree import Emoji

CDN = "https://cdn.discordapp.com/emojis"
_NATIVE = re.compile(r"https://cdn\.discordapp\.com/emojis/([0-9]{1,20})\.(webp|png|gif)(?:\?.*)?")
_NAME = re.compile(r"\w{2,32}")


def custom_emoji(name: str, emoji_id: str, *, moving: bool) -> Emoji:
    return Emoji(name, url=f"{CDN}/{emoji_id}.{'gif' if moving else 'webp'}")


def native_emoji(emoji: Emoji) -> str | None:
    """Return `<:name:id>` of a Discord custom emoji; None for emoji of other platforms."""
    match = _NATIVE.fullmatch(emoji.url or "")
    if not match or not _NAME.fullmatch(emoji.name):
        return None
    return f"<{'a' if match[2] == 'gif' else ''}:{emoji.name}:{match[1]}>"


def emoji_to_reaction(emoji: Emoji) -> str | None:
    """Return the emoji as the API takes a reaction: the characters, or `name:id`."""
    if emoji.unicode:
        return emoji.unicode
    native = native_emoji(emoji)
    return native.strip("<>").removeprefix("a").removeprefix(":") if native else None
