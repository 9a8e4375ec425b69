"""Buttons -> rows of five; buttons that Discord cannot show become text or links."""

from __future__ import annotations

from bridge.content.cards.tree import Button
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Inline, Link, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_inputs import confirm_words, is_emoji
from connectors.discord.cards.write_state import Json, Writing, http_url, sound
from connectors.discord.cards.write_text import plain, say, supported_line

Line = tuple[Inline, ...]

STYLES = {"primary": 1, "default": 2, "good": 3, "danger": 4}


class Row:
    """Writes buttons side by side, and the texts that replace buttons."""

    def __init__(self, w: Writing) -> None:
        self._w = w
        self._buttons: list[Json] = []
        self._texts: list[str] = []

    def add(self, button: Button) -> None:
        body = button_body(self._w, button)
        if body is None:
            self._end_buttons()
            self._texts.append(supported_line(self._w, button_line(self._w, button), button.at))
        else:
            self.add_body(body)

    def add_body(self, body: Json) -> None:
        self._end_texts()
        self._buttons.append(body)
        if len(self._buttons) == limits.BUTTONS:
            self._end_buttons()

    def end(self) -> None:
        self._end_buttons()
        self._end_texts()

    def _end_buttons(self) -> None:
        if self._buttons:
            body: Json = {"type": schemas.ACTION_ROW, "components": [*self._buttons]}
            self._w.add(body, count=1 + len(self._buttons))
            self._buttons = []

    def _end_texts(self) -> None:
        if self._texts:
            self._end_buttons()
            say(self._w, " · ".join(text for text in self._texts if text))
            self._texts = []


def button_body(w: Writing, node: Button) -> Json | None:
    """Return the button component; None for a button that can only be written as text."""
    if node.does == "open":
        url = http_url(node.url, limits.BUTTON_URL)
        return _link_button(w, node, url) if url else None
    custom_id = w.action_id(node.at)
    if custom_id is None:
        origin = http_url(w.rendering.origin, limits.BUTTON_URL)
        shown_as = origin or "text"
        w.lose(node.at, "foreign_action", plain(node.label) or node.hint or node.does, shown_as)
        return _link_button(w, node, origin) if origin else None
    if sku := _sku_of(node):
        lose_details(w, node)
        return {"type": schemas.BUTTON, "style": schemas.PREMIUM_STYLE, "sku_id": sku}
    body: Json = {"type": schemas.BUTTON, "style": STYLES[node.style], "custom_id": custom_id}
    return _with_face(w, node, body)


def _sku_of(node: Button) -> str:
    """Return the SKU id of a premium button; empty for all others."""
    if node.id or not isinstance(node.value, dict):
        return ""
    sku = node.value.get("sku_id")
    return sku if isinstance(sku, str) and sku.isascii() and sku.isdigit() else ""


def _link_button(w: Writing, node: Button, url: str) -> Json:
    body: Json = {"type": schemas.BUTTON, "style": schemas.LINK_STYLE, "url": url}
    return _with_face(w, node, body)


def _with_face(w: Writing, node: Button, body: Json) -> Json:
    """Return the button with its label and emoji; the parts that Discord lacks are losses."""
    if node.icon is not None or node.hint or node.confirm is not None:
        lose_details(w, node)
    label, sign = plain(node.label), node.emoji.strip()
    if sign and is_emoji(sign):
        body["emoji"] = {"name": sign}
    elif sign:
        label = f"{sound(sign)} {label}".strip()
    if label or not sign:
        body["label"] = w.cut(label or "…", limits.LABEL, node.at, "cut_label")
    if node.disabled:
        body["disabled"] = True
    return body


def lose_details(w: Writing, node: Button) -> None:
    """Record the parts that Discord's buttons lack."""
    if node.icon is not None:
        w.lose(node.at, "button_icon", node.icon.alt or node.icon.url or "picture")
    if node.hint:
        w.lose(node.at, "button_hint", node.hint)
    if node.confirm is not None:
        w.lose(node.at, "confirm_dialog", confirm_words(node.confirm) or "?", "asked when pressed")


def button_line(w: Writing, node: Button) -> Line:
    """Return the button as a line of text, linked if it opens a URL."""
    lose_details(w, node)
    label = node.label or (Text(node.hint or "…"),)
    sign: Line = (Text(f"{node.emoji} "),) if node.emoji else ()
    if node.does != "open":
        return (*sign, Strong(label))
    safe = safe_url(node.url) if node.url else None
    if safe is None:
        w.lose(node.at, "unsafe_link", node.url or "no address", "text")
        return (*sign, Strong(label))
    w.lose(node.at, "button_as_link", plain_inlines(label), "a link in the text")
    return (*sign, Link(safe, label))
