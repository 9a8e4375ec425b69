"""Schema ids of payloads: content types of attachments, and names for other parts of a message."""

from __future__ import annotations

_CARD = "application/vnd.microsoft.card."
_TEAMS = "application/vnd.microsoft.teams."

ADAPTIVE_TYPE = f"{_CARD}adaptive"  # as contentType
ADAPTIVE = f"{_CARD}adaptive+json"
HERO = f"{_CARD}hero"
THUMBNAIL = f"{_CARD}thumbnail"
RECEIPT = f"{_CARD}receipt"
SIGNIN = f"{_CARD}signin"
OAUTH = f"{_CARD}oauth"
ANIMATION = f"{_CARD}animation"
AUDIO = f"{_CARD}audio"
VIDEO = f"{_CARD}video"
ANNOUNCEMENT = f"{_CARD}announcement"
CODE = f"{_CARD}codesnippet"
LIST = f"{_TEAMS}card.list"
CONNECTOR = f"{_TEAMS}card.o365connector"
DOWNLOAD = f"{_TEAMS}file.download.info"
FILE_INFO = f"{_TEAMS}card.file.info"
OWN_FILE = "teams:"  # prefix of native file ids
FILE_CONSENT = f"{_TEAMS}card.file.consent"
REFERENCE = "reference"  # a file in SharePoint or OneDrive
QUOTED = "messageReference"
FORWARDED = "forwardedMessageReference"
SUGGESTED = "application/vnd.microsoft.suggestedactions+json"
DISCLOSURE = "https://schema.org/Message"  # an entity: AI label, sources, sensitivity
TEXT = ""

CARDS = frozenset((
    ADAPTIVE, HERO, THUMBNAIL, RECEIPT, SIGNIN, OAUTH, ANIMATION, AUDIO, VIDEO, ANNOUNCEMENT,
    LIST, CONNECTOR,
))  # fmt: skip
"""Payloads that are cards of their own."""

MEDIA = frozenset((
    "image/*", "image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/bmp",
    "image/svg+xml", "video/*", "video/mp4", "video/webm", "video/quicktime", "audio/*",
    "audio/mpeg", "audio/mp3", "audio/mp4", "audio/ogg", "audio/wav", "audio/x-wav", "audio/webm",
))  # fmt: skip

SCHEMA_IDS: frozenset[str] = CARDS | MEDIA | frozenset((
    CODE, DOWNLOAD, FILE_INFO, FILE_CONSENT, REFERENCE, QUOTED, FORWARDED, SUGGESTED, DISCLOSURE,
))  # fmt: skip


def schema_of(content_type: str) -> str:
    """Return the schema id of an attachment's content type."""
    name = content_type.partition(";")[0].strip()
    schema_id = _BY_LOWER.get(name.lower(), name)
    return ADAPTIVE if schema_id == ADAPTIVE_TYPE else schema_id


_BY_LOWER = {name.lower(): name for name in (*SCHEMA_IDS, ADAPTIVE_TYPE)}
