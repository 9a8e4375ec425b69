"""A dialog event <-> a UACS message: what one speaker says.

Nothing of a dialog event is lost: the message's `metadata.openfloor` keeps it as it came, without
the bytes that are parts of the message, and an unchanged message is written as that event again.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, cast

from pydantic import JsonValue

from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.content.markdown.html_writer import document_html
from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    read_bridge_metadata,
    with_bridge_metadata,
)
from bridge.content.messages.parts import MediaPart, message_text
from bridge.openfloor.envelope import DialogEvent, Feature, Span, Token
from bridge.openfloor.read import read_dialog_event
from bridge.openfloor.write import dialog_event_json
from bridge.uacs import (
    Actor,
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
    VideoPart,
    to_timestamp,
)

KEY = "openfloor"
"""The member of a message's metadata that keeps the dialog event."""

_PLAIN, _HTML, _JSON = "text/plain", "text/html", "application/json"
_OWN = ("text", "html")  # features that become the text of the message
_FORMATTED = re.compile(r"<(?!/?(?:p|br)\b)")  # more than paragraphs and lines
_FROM_PART = "part"  # a kept token names the part that has its value


# --- a dialog event -> a message --------------------------------------------------------------


def message_of(event: DialogEvent, actor: Actor, message_id: str, now: datetime) -> Message:
    """Return what the speaker said.

    - The text feature is plain text; HTML is shown only where there is no text.
    - Pictures, sounds, videos and files become media parts: base64, or the address in `valueUrl`,
      which nobody has fetched yet.
    - JSON features become structured data with the schema `openfloor:NAME`.
    - A text's language is in `metadata.uacs_bridge.parts`.

    Args:
        actor: who speaks.
        message_id: the id of the message.
        now: its time if the event has none that can be read.
    """
    kept: Any = dialog_event_json(event)
    parts: list[ContentPart] = []
    details: dict[str, PartDetails] = {}
    text = _text_of(event)
    if text:
        lang = next((event.features[n].lang for n in _OWN if n in event.features), None)
        if lang:
            details["0"] = PartDetails.model_validate({"lang": lang})
        parts.append(TextPart(text=text, format="plain"))
    for name, feature in event.features.items():
        if name not in _OWN:
            for number, token, part in _parts_of(name, feature):
                if token.value_url is None:
                    written = kept["features"][name]["tokens"][number]
                    del written["value"]
                    written[_FROM_PART] = len(parts)
                parts.append(part)
    message = Message(
        message_id=message_id,
        timestamp=to_timestamp(time_of(event.span) or now),
        actor=actor,
        content=tuple(parts) or (TextPart(text="", format="plain"),),
        metadata={KEY: {"dialog_event": kept}},
    )
    if details:
        return with_bridge_metadata(message, BridgeMetadata(parts=details))
    return message


def _text_of(event: DialogEvent) -> str:
    if event.text.strip():
        return event.text
    html = event.features.get("html")
    return plain_of_html(html.text) if html is not None else event.text


def _parts_of(name: str, feature: Feature) -> Iterator[tuple[int, Token, ContentPart]]:
    """The parts of a feature, each with its token and the token's number."""
    for number, token in enumerate(feature.tokens):
        part = _part_of(name, feature, token)
        if part is not None:
            yield number, token, part


def _part_of(name: str, feature: Feature, token: Token) -> ContentPart | None:
    mime = feature.mime_type.partition(";")[0].strip().lower()
    if token.value_url is not None:
        return _media(mime, MediaSource(url=token.value_url)) if _is_link(token.value_url) else None
    if isinstance(token.value, str) and not mime.startswith("text/") and mime != _JSON:
        return _media(mime, MediaSource(base64=token.value)) if _is_base64(token.value) else None
    if isinstance(token.value, dict | list) and (mime == _JSON or mime.endswith("+json")):
        return StructuredDataPart(schema_id=f"{KEY}:{name}", data=token.value)
    return None


def _media(mime: str, source: MediaSource) -> ContentPart:
    kinds = {"image": ImagePart, "video": VideoPart, "audio": AudioPart}
    kind = kinds.get(mime.partition("/")[0], FilePart)
    try:
        return kind(source=source, media_type=mime)
    except ValueError:  # a type that the part's class does not have
        return FilePart(source=source, media_type=mime)


def _is_link(url: str) -> bool:
    return url.lower().startswith(("https://", "http://"))


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(value)


def time_of(span: Span) -> datetime | None:
    """Return when it began; None for a span that says no time that can be read."""
    try:
        at = datetime.fromisoformat((span.start_time or "").strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class _Words(HTMLParser):
    """The words of HTML, without scripts and styles."""

    _BLOCKS = frozenset(("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre"))
    _HIDDEN = frozenset(("script", "style", "template", "head"))

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._hidden += tag in self._HIDDEN
        if tag in self._BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN and self._hidden:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def plain_of_html(html: str) -> str:
    """Return the words of HTML, one line a block."""
    words = _Words()
    words.feed(html)
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.pieces).split("\n"))
    return "\n".join(filter(None, lines))


# --- a message -> a dialog event --------------------------------------------------------------


@dataclass(frozen=True)
class Speaking:
    """How a message becomes a dialog event.

    - `speaker_uri`: who says it.
    - `previous_id`: the id of what it answers.
    - `link`: the address of a stored file for the peer; None if it may not have one.
    """

    speaker_uri: str
    previous_id: str | None = None
    link: Callable[[MediaPart], str | None] = lambda _part: None


def dialog_event_of(message: Message, speaking: Speaking) -> DialogEvent:
    """Return what a message says.

    Text is plain in `text`, and HTML in `html` where the plain text says less; media are features
    of their own with an address or base64, structured data is JSON. A message that came as a dialog
    event, and was not edited since, is that event again.
    """
    kept = _kept(message)
    if kept is not None:
        return replace(kept, speaker_uri=speaking.speaker_uri)
    text = _plain(message)
    features: dict[str, Feature] = {"text": _text_feature(_PLAIN, text, _lang(message))}
    markdown, _ = message_text(message)
    if any(isinstance(part, TextPart) and part.is_markdown for part in message.content):
        html = document_html(markdown_to_text(markdown))
        if _FORMATTED.search(html):
            features["html"] = _text_feature(_HTML, html, _lang(message))
    for name, feature in _other_features(message.content, speaking):
        features[_free(name, features)] = feature
    return DialogEvent(
        id=message.message_id,
        speaker_uri=speaking.speaker_uri,
        previous_id=speaking.previous_id,
        span=Span(start_time=message.timestamp),
        features=features,
    )


def _kept(message: Message) -> DialogEvent | None:
    """The dialog event as which the message came; None for another one, and after an edit."""
    own = (message.metadata or {}).get(KEY)
    value = own.get("dialog_event") if isinstance(own, dict) else None
    event = read_dialog_event(value) if isinstance(value, dict) else None
    if event is None:
        return None
    features = {
        name: replace(feature, tokens=tuple(_restored(t, message) for t in feature.tokens))
        for name, feature in event.features.items()
    }
    whole = replace(event, features=features)
    as_it_came = message_of(whole, message.actor, message.message_id, datetime.now(UTC))
    return whole if as_it_came.content == message.content else None


def _restored(token: Token, message: Message) -> Token:
    number = token.extra.get(_FROM_PART)
    if not isinstance(number, int) or not 0 <= number < len(message.content):
        return token
    part = message.content[number]
    value: JsonValue = None
    if isinstance(part, StructuredDataPart):
        value = cast("JsonValue", part.data)
    elif isinstance(part, MediaPart):
        value = part.source.base64
    rest = {name: member for name, member in token.extra.items() if name != _FROM_PART}
    return Token(value, part.source.url if isinstance(part, MediaPart) else None, rest)


def _plain(message: Message) -> str:
    texts = [part for part in message.content if isinstance(part, TextPart)]
    if len(texts) == 1 and not texts[0].is_markdown:
        return texts[0].text
    return text_to_plain(markdown_to_text(message_text(message)[0]))


def _lang(message: Message) -> str | None:
    found: Mapping[str, PartDetails] = read_bridge_metadata(message)[0].parts
    langs = [getattr(details, "lang", None) for details in found.values()]
    return next((lang for lang in langs if isinstance(lang, str)), None)


def _text_feature(mime: str, text: str, lang: str | None) -> Feature:
    return Feature(mime_type=mime, lang=lang, tokens=(Token(text),))


def _other_features(
    content: Sequence[ContentPart], speaking: Speaking
) -> Iterator[tuple[str, Feature]]:
    for part in content:
        if isinstance(part, MediaPart):
            token = _media_token(part, speaking)
            if token is not None:
                yield part.type, Feature(part.media_type, (token,))
        elif isinstance(part, StructuredDataPart):
            name = part.schema_id.removeprefix(f"{KEY}:")
            yield name, Feature(_JSON, (Token(cast("JsonValue", part.data)),))


def _media_token(part: MediaPart, speaking: Speaking) -> Token | None:
    if part.source.base64 is not None:
        return Token(part.source.base64)
    url = speaking.link(part) or part.source.url
    return None if url is None else Token(value_url=url)


def _free(name: str, features: Mapping[str, Feature]) -> str:
    """The name, with a number behind it where it is taken."""
    number, free = 2, name
    while free in features:
        free, number = f"{name}-{number}", number + 1
    return free
