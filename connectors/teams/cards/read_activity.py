"""A native message -> its payloads in visible order. Pure.

Input: a Bot Framework activity, a Microsoft Graph chatMessage, an attachment, a card, or the answer
to an invoke with a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import orjson
from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting
from bridge.content.cards.rendering import Payload
from bridge.errors import CodecError
from connectors.teams.cards import schemas
from connectors.teams.cards.json_values import Json, choice_of, items, object_at, objects, string
from connectors.teams.cards.read_adaptive import READERS
from connectors.teams.cards.schemas import schema_of
from connectors.teams.elements import Element, parse_html

_TAGS = re.compile(r"<[^<>]*>")
_NOT_LETTERS = re.compile(r"[\W_]+")
_VISIBLE_TAG = re.compile(r"<(?:img|emoji|hr)\b", re.IGNORECASE)
_PLACED = re.compile(
    r"<attachment\b[^<>]*?\bid\s*=\s*[\"']?(?P<id>[^\"'<>\s]{1,200})[^<>]*>(?:\s*</attachment>)?"
    r"|(?P<picture><img\b[^<>]*schema\.skype\.com/AMSImage[^<>]*>)"
    r"|(?P<reply><blockquote\b[^<>]*schema\.skype\.com/Reply[^<>]*>)",
    re.IGNORECASE,
)
_END_OF_QUOTE = re.compile("</blockquote>", re.IGNORECASE)
_COMPARED = 8  # texts of a message that are compared for duplicates


def payloads(native: JsonValue) -> tuple[Payload, ...]:
    """Return the visible payloads of a message; a card or attachment is its own payload.

    Raises CodecError if `native` is no object or is nested too deeply.
    """
    check_nesting(native)
    if not isinstance(native, dict):
        json_type = "a list" if isinstance(native, list) else type(native).__name__
        raise CodecError("", f"is no message, attachment or card of Teams, but {json_type}")
    return tuple(_of(native))


def _of(native: Json) -> Iterator[Payload]:
    if _is_adaptive(native):
        yield Payload(schemas.ADAPTIVE, native)
    elif string(native, "@type") == "MessageCard":
        yield Payload(schemas.CONNECTOR, native)
    elif "contentType" in native:
        yield from _attachment(native, "")
    elif isinstance(native.get("body"), dict):
        yield from _Message(native).of_graph()
    elif not _ANSWERS.isdisjoint(native):
        yield from _answer(native)
    else:
        yield from _Message(native).of_activity()


def _is_adaptive(native: Json) -> bool:
    """Return whether it is a card, an element, an action, or a template with its data."""
    if string(native, "type") in READERS or isinstance(native.get("body"), list):
        return True
    template = object_at(native, "template")
    return string(template, "type") in READERS or "body" in template


# --- answers to invokes ---------------------------------------------------------------------

_ANSWERS = frozenset(("task", "composeExtension", "statusCode"))


def _answer(native: Json) -> Iterator[Payload]:
    """Yield the payloads of a dialog, of message extension results, or of a replacement card."""
    extension, task = object_at(native, "composeExtension"), object_at(native, "task")
    if text := string(extension, "text").strip():
        yield Payload(schemas.TEXT, text, "/composeExtension/text")
    for index, attachment in enumerate(items(extension, "attachments")):
        if isinstance(attachment, dict):
            yield from _attachment(attachment, f"/composeExtension/attachments/{index}")
    if actions := object_at(extension, "suggestedActions"):
        yield Payload(schemas.SUGGESTED, actions, "/composeExtension/suggestedActions")
    if text := string(task, "value").strip():
        yield Payload(schemas.TEXT, text, "/task/value")
    dialog = object_at(task, "value")
    if title := string(dialog, "title").strip():
        yield Payload(schemas.TEXT, {"subject": title}, "/task/value/title")
    if card := object_at(dialog, "card"):
        yield from _attachment(card, "/task/value/card")
    yield from _replacement(native)


def _replacement(native: Json) -> Iterator[Payload]:
    value = native.get("value")
    if schema_of(string(native, "type")) == schemas.ADAPTIVE and isinstance(value, dict):
        yield Payload(schemas.ADAPTIVE, value, "/value")
    elif "statusCode" in native and isinstance(value, str) and value.strip():
        yield Payload(schemas.TEXT, value, "/value")


# --- attachments ----------------------------------------------------------------------------


def _attachment(attachment: Json, at: str) -> Iterator[Payload]:
    """Yield the content of a card, or another attachment as a whole."""
    schema_id = schema_of(string(attachment, "contentType"))
    content = attachment.get("content")
    if schema_id in schemas.CARDS and parsed(content) is not None:
        yield Payload(schema_id, content, f"{at}/content")
    elif schema_id.lower() == "text/html" and isinstance(content, str):
        yield Payload(schemas.TEXT, {"html": content}, f"{at}/content")
    elif schema_id.lower() == "text/plain" and isinstance(content, str):
        yield Payload(schemas.TEXT, {"text": content, "textFormat": "plain"}, f"{at}/content")
    elif schema_id:
        yield Payload(schema_id, attachment, at)


def parsed(content: JsonValue) -> Json | None:
    """Return an object, also from JSON in a string, as in Microsoft Graph; None otherwise."""
    if isinstance(content, str):
        try:
            content = orjson.loads(content)
            check_nesting(content)
        except (orjson.JSONDecodeError, UnicodeEncodeError, CodecError):
            return None
    return content if isinstance(content, dict) else None


# --- messages -------------------------------------------------------------------------------


class _Message:
    """One message; yields each attachment once, at its place in the text or at the end."""

    def __init__(self, native: Json) -> None:
        self._native = native
        self._attachments = [
            (index, attachment)
            for index, attachment in enumerate(items(native, "attachments"))
            if isinstance(attachment, dict)
        ]
        self._yielded: set[int] = set()
        pictures = [attachment for attachment in self._attachments if _is_picture(attachment[1])]
        self._pictures = iter(pictures)
        self._named: dict[str, Iterator[tuple[int, Json]]] = {
            string(attachment, "id"): iter([(index, attachment)])
            for index, attachment in reversed(self._attachments)
        }
        self._entities: JsonValue = [
            entity for entity in objects(native, "entities") if string(entity, "type") == "mention"
        ]

    def of_activity(self) -> Iterator[Payload]:
        yield from self._head_lines()
        for index, entity in enumerate(items(self._native, "entities")):
            if isinstance(entity, dict) and isinstance(entity.get("quotedReply"), dict):
                place = f"/entities/{index}/quotedReply"
                yield Payload(schemas.QUOTED, entity["quotedReply"], place)
        yield from self._text()
        yield from self._remaining()
        if object_at(self._native, "suggestedActions"):
            data = self._native["suggestedActions"]
            yield Payload(schemas.SUGGESTED, data, "/suggestedActions")
        for index, entity in enumerate(items(self._native, "entities")):
            if isinstance(entity, dict) and string(entity, "type") == schemas.DISCLOSURE:
                yield Payload(schemas.DISCLOSURE, entity, f"/entities/{index}")

    def of_graph(self) -> Iterator[Payload]:
        yield from self._head_lines()
        if subject := string(self._native, "subject").strip():
            yield Payload(schemas.TEXT, {"subject": subject}, "/subject")
        body = object_at(self._native, "body")
        content = string(body, "content")
        if choice_of(body, "contentType") == "html":
            context: Json = {"mentions": self._native.get("mentions")}
            yield from self._html(content, "/body/content", context)
        elif content.strip():
            yield Payload(schemas.TEXT, {"text": content, "textFormat": "plain"}, "/body/content")
        yield from self._remaining()

    def _head_lines(self) -> Iterator[Payload]:
        """Yield what precedes the text: importance, and on whose behalf it was sent."""
        if choice_of(self._native, "importance") in ("high", "urgent"):
            data: Json = {"importance": self._native["importance"]}
            yield Payload(schemas.TEXT, data, "/importance")
        channel_data = object_at(self._native, "channelData")
        if several := items(channel_data, "onBehalfOf"):
            yield Payload(schemas.TEXT, {"onBehalfOf": several}, "/channelData/onBehalfOf")

    # --- text

    def _text(self) -> Iterator[Payload]:
        """Yield the text, or the HTML with the same text; other HTML follows."""
        text = string(self._native, "text")
        letters, mirrored, texts = _letters(text), False, list[tuple[int, str]]()
        for index, html in self._htmls():
            self._yielded.add(index)
            own = _letters(html) if len(texts) < _COMPARED else ""
            if not mirrored and own and letters in own:
                mirrored = True
            elif own and own in letters:
                continue
            texts.append((index, html))
        self._yielded.update(self._copies(text))
        if not mirrored and text.strip():
            yield Payload(schemas.TEXT, self._plain(text), "/text")
        for index, html in texts:
            place = f"/attachments/{index}/content"
            yield from self._html(html, place, {"entities": self._entities})

    def _htmls(self) -> Iterator[tuple[int, str]]:
        for index, attachment in self._attachments:
            is_html = schema_of(string(attachment, "contentType")).lower() == "text/html"
            if is_html and isinstance(html := attachment.get("content"), str):
                yield index, html

    def _copies(self, text: str) -> Iterator[int]:
        """Yield plain-text attachments that repeat the text."""
        for index, attachment in self._attachments[:_COMPARED]:
            is_plain = schema_of(string(attachment, "contentType")).lower() == "text/plain"
            if (
                is_plain
                and not attachment.get("contentUrl")
                and _letters(string(attachment, "content")) in _letters(text)
            ):
                yield index

    def _plain(self, text: str) -> JsonValue:
        """Return the text, as a string if it has no entities and no special format."""
        form = choice_of(self._native, "textFormat")
        if not self._entities and form in ("", "markdown", "extendedmarkdown"):
            return text
        return {"text": text, "textFormat": form, "entities": self._entities}

    def _html(self, html: str, at: str, context: Json) -> Iterator[Payload]:
        """Yield HTML, split at placed attachments and at a quoted message."""
        start = 0
        while mark := _PLACED.search(html, start):
            placed = list(self._placed(mark, html, at))
            end = _end_of_quote(html, mark.end()) if mark["reply"] else mark.end()
            if placed or not mark["picture"]:
                yield from _piece(html[start : mark.start()], at, context)
                yield from placed
            else:  # a picture without attachment
                yield from _piece(html[start:end], at, context)
            start = end
        yield from _piece(html[start:], at, context)

    def _placed(self, mark: re.Match[str], html: str, at: str) -> Iterator[Payload]:
        if mark["reply"]:
            yield _quote(html[mark.start() : _end_of_quote(html, mark.end())], f"{at}/reply")
            return
        named = self._pictures if mark["picture"] else self._named.get(mark["id"], iter(()))
        for index, attachment in named:
            if index not in self._yielded:
                self._yielded.add(index)
                yield from _attachment(attachment, f"/attachments/{index}")
                return

    def _remaining(self) -> Iterator[Payload]:
        for index, attachment in self._attachments:
            if index not in self._yielded:
                yield from _attachment(attachment, f"/attachments/{index}")


def _is_picture(attachment: Json) -> bool:
    return string(attachment, "contentType").lower().startswith("image/")


def _piece(html: str, at: str, context: Json) -> Iterator[Payload]:
    visible = unescape(_TAGS.sub("", html)) if "<" in html or "&" in html else html
    if visible.strip() or _VISIBLE_TAG.search(html):
        yield Payload(schemas.TEXT, {"html": html, **context}, at)


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", unescape(_TAGS.sub("", text))).lower()


# --- quotes in HTML -------------------------------------------------------------------------


def _end_of_quote(html: str, start: int) -> int:
    match = _END_OF_QUOTE.search(html, start)
    return match.end() if match else len(html)


def _quote(html: str, at: str) -> Payload:
    """Return a quoted message in the form of Microsoft Graph."""
    element = next(parse_html(html).elements(), Element(""))
    author = next((child for child in element.elements() if child.tag == "strong"), Element(""))
    children = [child for child in element.children if child is not author]
    preview = " ".join(child if isinstance(child, str) else child.text() for child in children)
    data: Json = {
        "messageId": element.attributes.get("itemid", ""),
        "messagePreview": " ".join(preview.split()),
        "messageSender": {"user": {"displayName": " ".join(author.text().split())}},
    }
    return Payload(schemas.QUOTED, data, at)
