"""Validation of the attachments of an activity.

Kinds: msteams-docs, "Types of cards" and "Send and receive files". Adaptive Cards are checked
as Microsoft's .NET library checks them (AdaptiveCardConverter, AdaptiveTypedElementConverter), with
its error texts; it accepts unknown elements. 28 KB: msteams-docs, "Format cards".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import orjson

from connectors.teams.sandbox import refusals
from connectors.teams.sandbox.state import Json, Kind

ADAPTIVE = "application/vnd.microsoft.card.adaptive"
CONSENT = "application/vnd.microsoft.teams.card.file.consent"
FILE_INFO = "application/vnd.microsoft.teams.card.file.info"
DOWNLOAD_INFO = "application/vnd.microsoft.teams.file.download.info"
BUTTON_CARDS = frozenset({
    "application/vnd.microsoft.card.hero",
    "application/vnd.microsoft.card.thumbnail",
    "application/vnd.microsoft.card.receipt",
    "application/vnd.microsoft.card.signin",
    "application/vnd.microsoft.card.oauth",
    "application/vnd.microsoft.teams.card.list",
})  # fmt: skip
CONNECTOR_CARD = "application/vnd.microsoft.teams.card.o365connector"
_PERSONAL_ONLY = frozenset({CONSENT, FILE_INFO, DOWNLOAD_INFO})
_WITH_CONTENT = BUTTON_CARDS | {ADAPTIVE, CONNECTOR_CARD, CONSENT, FILE_INFO, DOWNLOAD_INFO}
MAX_ATTACHMENTS = 10
MAX_CARD_BYTES = 28 * 1024
_VERSION = re.compile(r"\d{1,9}(\.\d{1,9}){0,3}\Z")
_LISTS = ("body", "items", "columns", "rows", "cells", "actions", "images", "inlines", "facts")
_UNTYPED = frozenset({"columns", "rows", "cells", "images", "inlines", "facts"})
_NUMBERS = ("min", "max", "value")


def check_attachments(activity: Json, kind: Kind) -> None:
    """Raise the Refusal of the first invalid attachment for a conversation of this kind."""
    attachments = activity["attachments"]
    layout = activity.get("attachmentLayout")
    if layout is not None and not isinstance(layout, str):
        raise refusals.bad_syntax("Could not parse the payload: invalid activity")
    if len(attachments) > MAX_ATTACHMENTS:
        raise refusals.bad_syntax(f"Activity has more than {MAX_ATTACHMENTS} attachments")
    for attachment in attachments:
        _check_attachment(attachment, kind)


def without_data_uris(value: Any) -> Any:
    """Return the JSON with empty data URIs, which do not count to any size."""
    if isinstance(value, str):
        return "" if value.startswith("data:") else value
    if isinstance(value, list):
        return [without_data_uris(each) for each in value]
    if isinstance(value, dict):
        return {key: without_data_uris(each) for key, each in value.items()}
    return value


def check_card(card: Any) -> None:
    """Raise the Refusal of an invalid Adaptive Card."""
    if not isinstance(card, dict) or card.get("type") != "AdaptiveCard":
        raise refusals.bad_syntax("Property 'type' must be 'AdaptiveCard'")
    version = card.get("version")
    if version is None:
        raise refusals.bad_syntax("Required property 'version' not found on AdaptiveCard")
    if not isinstance(version, str) or not _VERSION.match(version):
        raise refusals.bad_syntax("The schema version is not valid")
    _check_children(card)


def _check_attachment(attachment: Any, kind: Kind) -> None:
    if not isinstance(attachment, dict):
        raise refusals.bad_syntax("Could not parse the payload: invalid activity")
    content_type = attachment.get("contentType")
    if content_type in ("image/png", "image/jpeg", "image/jpg", "image/gif"):
        _check_picture(attachment)
        return
    if content_type not in _WITH_CONTENT:
        raise refusals.bad_syntax("Unknown attachment type")
    content = attachment.get("content")
    if not isinstance(content, dict):
        raise refusals.bad_syntax("Attachment has no content")
    if _size(content) > MAX_CARD_BYTES:
        raise refusals.too_big()
    if content_type in _PERSONAL_ONLY:
        _check_file(attachment, content_type, content, kind)
    elif content_type == ADAPTIVE:
        check_card(content)
    else:
        _check_buttons(content)


def _size(content: Json) -> int:
    sent = orjson.dumps(content)
    return len(orjson.dumps(without_data_uris(content))) if b'"data:' in sent else len(sent)


def _check_picture(attachment: Json) -> None:
    url = attachment.get("contentUrl")
    if not isinstance(url, str) or not url.startswith(("https://", "http://", "data:image/")):
        raise refusals.bad_syntax("Attachment has no valid contentUrl")


def _check_file(attachment: Json, content_type: str, content: Json, kind: Kind) -> None:
    if kind != "personal":
        text = "File attachments are supported in personal chats only"
        raise refusals.bad_argument(text)
    if not isinstance(attachment.get("name"), str) or not attachment["name"]:
        raise refusals.bad_syntax("File attachment has no name")
    size = content.get("sizeInBytes")
    if content_type == CONSENT and (isinstance(size, bool) or not isinstance(size, int | float)):
        raise refusals.bad_syntax("File consent card has no sizeInBytes")


def _check_buttons(content: Json) -> None:
    for name in ("buttons", "images", "items"):
        entries = content.get(name) or []
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise refusals.bad_syntax("Could not parse the payload: invalid card")
    for button in content.get("buttons") or []:
        if not isinstance(button.get("type"), str):
            raise refusals.bad_syntax("Card action has no type")
    for image in content.get("images") or []:
        if "url" in image and not _is_address(image["url"]):
            raise refusals.bad_syntax("Could not parse the payload: invalid image url")


def _check_children(node: Json) -> None:
    for name in _LISTS:
        children = node.get(name)
        if children is None:
            continue
        if not isinstance(children, list):
            raise refusals.bad_syntax(f"Could not parse the card: '{name}' is not a list")
        for child in children:
            if name == "inlines" and isinstance(child, str):
                continue
            _check_element(child, typed=name not in _UNTYPED)
    for name in ("selectAction", "inlineAction"):
        if (child := node.get(name)) is not None:
            _check_element(child, typed=True)
    inner = node.get("card")
    if node.get("type") == "Action.ShowCard":
        if not isinstance(inner, dict) or inner.get("type") != "AdaptiveCard":
            raise refusals.bad_syntax("Property 'type' must be 'AdaptiveCard'")
        _check_children(inner)


def _check_element(element: Any, *, typed: bool) -> None:
    if not isinstance(element, dict):
        raise refusals.bad_syntax("Could not parse the card: an element is not an object")
    kind = element.get("type")
    if not isinstance(kind, str):
        if typed or kind is not None:
            text = "Required property 'type' not found on adaptive card element"
            raise refusals.bad_syntax(text)
        kind = ""
    if kind.startswith("Input.") and element.get("id") is None:
        raise refusals.bad_syntax(f"Required property 'id' not found on '{kind}'")
    for problem in _problems(kind, element):
        raise refusals.bad_syntax(problem)
    _check_children(element)


def _problems(kind: str, element: Json) -> Iterator[str]:
    """Yield the properties whose value has the wrong type."""
    if kind == "Input.Number":
        for name in _NUMBERS:
            if not _is_number(element.get(name, 0)):
                yield f"Could not convert '{name}' of Input.Number to a number"
    if kind in ("Image", "Action.OpenUrl") and not _is_address(element.get("url")):
        yield f"Required property 'url' not found on '{kind}'"
    if kind == "Input.ChoiceSet" and not isinstance(element.get("choices", []), list):
        yield "Could not parse the card: 'choices' is not a list"
    # An empty iconUrl makes the service answer 400 (BotFramework-Composer #9054).
    if kind.startswith("Action.") and "iconUrl" in element and not _is_address(element["iconUrl"]):
        yield f"Could not parse 'iconUrl' of '{kind}'"


def _is_number(value: Any) -> bool:
    if isinstance(value, str) and not value:
        return True
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError):
        return value is None


def _is_address(value: Any) -> bool:
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        return bool(urlsplit(value).scheme or urlsplit(value).path)
    except ValueError:
        return False
