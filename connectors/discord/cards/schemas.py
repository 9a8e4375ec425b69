"""Schema ids of Discord's rich payloads, and its component types. Data only."""

from __future__ import annotations

from typing import Final

TEXT = ""
EMBEDS = "application/vnd.discord.embeds+json"
COMPONENTS = "application/vnd.discord.components+json"
ATTACHMENTS = "application/vnd.discord.attachments+json"
STICKERS = "application/vnd.discord.stickers+json"
POLL = "application/vnd.discord.poll+json"
FORWARDS = "application/vnd.discord.forwards+json"

SCHEMA_IDS: frozenset[str] = frozenset((EMBEDS, COMPONENTS, ATTACHMENTS, STICKERS, POLL, FORWARDS))

# Types of components (docs: components/reference, 2026-08).
ACTION_ROW: Final = 1
BUTTON: Final = 2
STRING_SELECT: Final = 3
TEXT_INPUT: Final = 4
USER_SELECT: Final = 5
ROLE_SELECT: Final = 6
MENTIONABLE_SELECT: Final = 7
CHANNEL_SELECT: Final = 8
SECTION: Final = 9
TEXT_DISPLAY: Final = 10
THUMBNAIL: Final = 11
MEDIA_GALLERY: Final = 12
FILE: Final = 13
SEPARATOR: Final = 14
CONTAINER: Final = 17
LABEL: Final = 18
FILE_UPLOAD: Final = 19
RADIO_GROUP: Final = 21
CHECKBOX_GROUP: Final = 22
CHECKBOX: Final = 23

LINK_STYLE: Final = 5
PREMIUM_STYLE: Final = 6

COMPONENTS_V2: Final = 1 << 15  # flag of a message: it has components only, V2 types included
SPOILER: Final = 1 << 3  # flag of an attachment
