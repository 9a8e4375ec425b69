"""The state of writing one card: components so far, losses, and used ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import quote, urlsplit

from pydantic import JsonValue

from bridge.content.cards.tree import Asset
from bridge.content.cards.writing import CardWriting
from bridge.content.media.file_names import safe_file_name
from bridge.content.text.tree import Inline
from bridge.content.text.urls import safe_url
from bridge.model import Loss
from connectors.discord.cards import limits

Json = dict[str, JsonValue]

_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|([\ud800-\udfff])")
# Discord refuses hosts without a dot or with `_`: "Not a well formed URL" (reports, 2018-2026).
_URL = re.compile(
    r"https?://(?:(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?:[A-Za-z]{2,63}|xn--[a-z0-9-]{1,59})"
    r"|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:[/?#][!-~]*)?",
    re.ASCII,
)
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_ENDINGS = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
    "image/apng": ".png", "video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov",
    "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav", "audio/mp4": ".m4a",
    "application/pdf": ".pdf", "text/plain": ".txt", "application/json": ".json",
    "application/zip": ".zip", "text/csv": ".csv", "image": ".png", "video": ".mp4",
    "audio": ".ogg",
}  # fmt: skip
_MAX_NAME = 100
SEPARATOR = "#"  # precedes the number of an id whose token was used before


def token_of(custom_id: str) -> str:
    """Return the token in a custom id."""
    return custom_id.partition(SEPARATOR)[0]


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A container around adjacent components; boxes are compared by identity."""

    color: int | None
    spoiler: bool


@dataclass(slots=True)
class Piece:
    """A component, its box, and its share of the message's limits."""

    body: Json
    box: Box | None = None
    count: int = 1
    text: int = 0
    files: tuple[Asset, ...] = ()
    leads: bool = False  # a heading: it stays in one message with the next piece


def content_of(piece: Piece) -> str:
    """Return the text of a text display."""
    content = piece.body.get("content")
    return content if isinstance(content, str) else ""


@dataclass(frozen=True, slots=True)
class Media:
    """The URL from which Discord gets the bytes; `file` is the uploaded asset."""

    url: str
    file: Asset | None = None

    @property
    def files(self) -> tuple[Asset, ...]:
        return () if self.file is None else (self.file,)


@dataclass(frozen=True, slots=True)
class CardInputs:
    """The inputs of a card.

    `names`: by `id(input)`, the names of inputs without a label; `submitted`: ids of inputs that a
    live button sends; `without_page`: ids of inputs that no form has a page for; `hidden`: ids of
    hidden containers; `labels`: how many buttons have each label.
    """

    names: Mapping[int, tuple[Inline, ...]]
    submitted: frozenset[int]
    without_page: frozenset[int]
    hidden: frozenset[str]
    labels: Counter[str]


@dataclass(slots=True)
class Writing(CardWriting[Piece]):
    """The writing of one card.

    - `box`: the current container; None: none.
    - `card_inputs`: the inputs of the whole card; None: not computed yet.
    - `unfolded`: the hidden containers that are written, or whose button was named.
    - `labels`: how often each label of a form's button was used.
    - `_names`: the names of files, in lower case.
    """

    box: Box | None = None
    card_inputs: CardInputs | None = None
    unfolded: frozenset[str] = frozenset()
    labels: dict[str, int] = field(default_factory=dict[str, int])
    _names: set[str] = field(default_factory=set[str])

    def lose(self, at: str, kind: str, what: str, shown_as: str = "") -> None:
        self.losses.append(Loss(path=at, kind=kind, what=sound(what), shown_as=sound(shown_as)))

    def apart(self) -> Writing:
        """Return a fresh state for a trial: its pieces and losses are discarded."""
        return Writing(self.card, self.rendering, self.table)

    def add(
        self, body: Json, *, count: int = 1, text: int = 0, files: tuple[Asset, ...] = ()
    ) -> None:
        """Add a component to the current box."""
        self.pieces.append(Piece(body, self.box, count, text, files))

    def action_id(self, at: str) -> str | None:
        """Return the custom id of the action at the path `at`; None if no agent gets a press."""
        token = self.token(at)
        return self.unique_id(token) if token else None

    def unique_id(self, name: str) -> str | None:
        """Return the name as a unique custom id; None if it is too long."""
        if len(name) > limits.CUSTOM_ID - 8 or SEPARATOR in name:
            return None
        return self.numbered_id(name)

    def media(self, asset: Asset, kind: str = "") -> Media | None:
        """Return the asset as an upload or by its URL; None when Discord cannot get it."""
        if self.travels(asset):
            name = self._file_name(asset, kind)
            return Media(f"attachment://{name}", replace(asset, name=name))
        url = http_url(self.url_of(asset), limits.MEDIA_URL)
        return Media(url) if url else None

    def _file_name(self, asset: Asset, kind: str) -> str:
        """Return a unique file name without characters that Discord would replace.

        Discord detects pictures by the ending.
        """
        stem, dot, ending = _NAME.sub("_", asset.name).strip("._-").rpartition(".")
        if not stem or len(ending) > 8:
            stem, dot, ending = f"{stem}{dot}{ending}", "", ""
        stem = stem.strip("._-")[:_MAX_NAME] or "file"
        known_ending = _ENDINGS.get(asset.media_type.partition(";")[0]) or _ENDINGS.get(kind, "")
        tail = f"{dot}{ending}" or known_ending
        name, number = safe_file_name(f"{stem}{tail}"), len(self._names)
        while name.lower() in self._names:
            number += 1
            name = safe_file_name(f"{stem}-{number}{tail}")
        self._names.add(name.lower())
        return name

    def cut(self, text: str, limit: int, at: str, kind: str) -> str:
        """Return at most `limit` characters; a cut text is a Loss."""
        if len(text) <= limit:
            return text
        shorter = f"{text[: limit - 1].rstrip()}…"
        self.lose(at, kind, text, shorter)
        return shorter


def sound(text: str) -> str:
    """Return the text without control characters and lone surrogates."""
    if text.isprintable():
        return text
    return _FORBIDDEN.sub(lambda match: "\ufffd" if match[1] else "", text)


@lru_cache(maxsize=4096)
def http_url(url: str, limit: int) -> str:
    """Return the URL in a form that Discord accepts, or an empty text if it accepts none."""
    if not url or len(url) > 4 * limit:
        return ""
    sound_url = url if _URL.fullmatch(url) else _in_ascii(url)
    return sound_url if len(sound_url) <= limit else ""


def _in_ascii(url: str) -> str:
    safe = safe_url(url) or ""
    try:
        parts = urlsplit(safe)
        host = (parts.hostname or "").encode("idna").decode()
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    path = quote(parts.path, safe="%/:=&+,;@!$'()*~-._")
    query_and_fragment = "".join(
        f"{sign}{quote(text, safe='%/:=&+,;@!$()*~-._?')}"
        for sign, text in (("?", parts.query), ("#", parts.fragment))
        if text
    )
    quoted_url = f"{parts.scheme}://{host}{port}{path}{query_and_fragment}"
    return quoted_url if _URL.fullmatch(quoted_url) and not parts.username else ""
