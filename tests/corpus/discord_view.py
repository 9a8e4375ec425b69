"""What a Discord message shows: content, embeds, components of both kinds, polls, files
(discord-api-docs, 2026-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.corpus import plain
from tests.corpus.view import Act, View, Visibility, is_web, items_of, of, string

_NAMES = {
    1: "action_row", 2: "button", 3: "string_select", 4: "text_input", 5: "user_select",
    6: "role_select", 7: "mentionable_select", 8: "channel_select", 9: "section",
    10: "text_display", 11: "thumbnail", 12: "media_gallery", 13: "file", 14: "separator",
    17: "container", 18: "label", 19: "file_upload", 21: "radio_group", 22: "checkbox_group",
    23: "checkbox",
}  # fmt: skip
_WITH_OPTIONS = (3, 21, 22)
_LINK_STYLE, _PREMIUM_STYLE = 5, 6


def see(native: Any) -> View:
    """A message or a modal."""
    view = View()
    if isinstance(native, list):
        is_component = bool(native) and isinstance(of(native[0], "type"), int)
        native = {"components" if is_component else "embeds": native}
    _message(native, "", view)
    return view


def _message(native: Any, at: str, view: View) -> None:
    _add_text(native, "title", at, view)
    if text := string(native, "content"):
        view.add("content", f"{at}/content")
        view.add_text(plain.discord(text), f"{at}/content")
    for file, place in items_of(native, "attachments", at):
        _file(file, place, view)
    for embed, place in items_of(native, "embeds", at):
        _embed(embed, place, view)
    for node, place in items_of(native, "sticker_items", at):
        view.add("sticker", place)
        view.add_text(of(node, "name"), place, "hidden")
    if isinstance(poll := of(native, "poll"), dict):
        _poll(poll, f"{at}/poll", view)
    for node, place in items_of(native, "components", at):
        _component(node, place, view)
    for node, place in items_of(native, "message_snapshots", at):
        _message(of(node, "message"), f"{place}/message", view)


def _add_text(value: Any, key: str, at: str, view: View, visibility: Visibility = "shown") -> None:
    view.add_text(plain.discord(string(value, key)), f"{at}/{key}", visibility)


def _file(file: Any, at: str, view: View) -> None:
    pictured = string(file, "content_type").startswith(("image/", "video/"))
    view.add("attachment", at)
    name = string(file, "title") or string(file, "filename")
    if not pictured and not of(file, "width"):
        view.add_text(name, f"{at}/filename")
    view.add_text(of(file, "description"), f"{at}/description", "hidden")


def _embed(embed: Any, at: str, view: View) -> None:
    view.add("embed", at)
    for key, inner in (("provider", "name"), ("author", "name"), ("title", ""),
                       ("description", "")):  # fmt: skip
        text = string(of(embed, key), inner) if inner else string(embed, key)
        if text:
            view.add(f"embed.{key}", f"{at}/{key}")
            view.add_text(plain.discord(text), f"{at}/{key}")
    for node, place in items_of(embed, "fields", at):
        view.add("embed.field", place)
        _add_text(node, "name", place, view)
        _add_text(node, "value", place, view)
    for key in ("image", "thumbnail", "video"):
        if string(of(embed, key), "url"):
            view.add(f"embed.{key}", f"{at}/{key}")
    if text := string(of(embed, "footer"), "text"):
        view.add("embed.footer", f"{at}/footer")
        view.add_text(plain.discord(text), f"{at}/footer/text")


def _poll(poll: Any, at: str, view: View) -> None:
    view.add("poll", at)
    _add_text(of(poll, "question"), "text", f"{at}/question", view)
    for node, place in items_of(poll, "answers", at):
        _add_text(of(node, "poll_media"), "text", f"{place}/poll_media", view)


def _component(node: Any, at: str, view: View, label: str = "") -> None:
    kind = of(node, "type")
    name = _NAMES.get(kind) if isinstance(kind, int) else None
    if name is None:
        return
    view.add(name, at)
    if name in _READERS:
        _READERS[name](node, at, view)
    elif name != "separator":
        _see_input(node, at, view, label)


def _inner(node: Any, at: str, view: View) -> None:
    for inner, place in items_of(node, "components", at):
        _component(inner, place, view)
    if isinstance(of(node, "accessory"), dict):
        _component(of(node, "accessory"), f"{at}/accessory", view)


def _text_display(node: Any, at: str, view: View) -> None:
    _add_text(node, "content", at, view)


def _thumbnail(node: Any, at: str, view: View) -> None:
    _add_text(node, "description", at, view, "hidden")


def _gallery(node: Any, at: str, view: View) -> None:
    for item, place in items_of(node, "items", at):
        _add_text(item, "description", place, view, "hidden")


def _file_component(node: Any, at: str, view: View) -> None:
    view.add_text(of(node, "name"), f"{at}/name")


def _button(node: Any, at: str, view: View) -> None:
    url, label = string(node, "url"), string(node, "label")
    view.add_text(label, f"{at}/label")
    if of(node, "style") == _PREMIUM_STYLE:
        return
    link = of(node, "style") == _LINK_STYLE
    if of(node, "disabled") is True or (link and not is_web(url)):
        return
    view.acts.append(Act(at, "link" if link else "press", label, url if link else ""))


def _label(node: Any, at: str, view: View) -> None:
    _add_text(node, "label", at, view)
    _add_text(node, "description", at, view)
    inner = of(node, "component")
    if isinstance(inner, dict):
        _component(inner, f"{at}/component", view, string(node, "label"))


def _see_input(node: Any, at: str, view: View, label: str) -> None:
    _add_text(node, "label", at, view)
    if string(node, "value"):
        view.add_text(string(node, "value"), f"{at}/value")
    else:
        _add_text(node, "placeholder", at, view)
    options = list(items_of(node, "options", at)) if of(node, "type") in _WITH_OPTIONS else []
    for option, place in options:
        view.add_text(of(option, "label"), f"{place}/label")
        view.add_text(of(option, "description"), f"{place}/description")
    first = string(options[0][0], "label") if options else ""
    if of(node, "disabled") is True:
        return
    words = label or string(node, "label") or string(node, "placeholder") or first
    view.acts.append(Act(at, "input", words))


_READERS: dict[str, Callable[[Any, str, View], None]] = {
    "action_row": _inner,
    "section": _inner,
    "container": _inner,
    "button": _button,
    "text_display": _text_display,
    "thumbnail": _thumbnail,
    "media_gallery": _gallery,
    "file": _file_component,
    "label": _label,
}
