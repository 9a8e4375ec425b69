"""What a Discord message shows: content, embeds, components of both kinds, polls, files
(discord-api-docs, 2026-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.corpus import plain
from tests.corpus.view import Act, View, When, is_web, items_of, of, string

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
    _say(native, "title", at, view)
    if text := string(native, "content"):
        view.add("content", f"{at}/content")
        view.say(plain.discord(text), f"{at}/content")
    for file, place in items_of(native, "attachments", at):
        _file(file, place, view)
    for embed, place in items_of(native, "embeds", at):
        _embed(embed, place, view)
    for node, place in items_of(native, "sticker_items", at):
        view.add("sticker", place)
        view.say(of(node, "name"), place, "hidden")
    if isinstance(poll := of(native, "poll"), dict):
        _poll(poll, f"{at}/poll", view)
    for node, place in items_of(native, "components", at):
        _component(node, place, view)
    for node, place in items_of(native, "message_snapshots", at):
        _message(of(node, "message"), f"{place}/message", view)


def _say(value: Any, key: str, at: str, view: View, when: When = "shown") -> None:
    view.say(plain.discord(string(value, key)), f"{at}/{key}", when)


def _file(file: Any, at: str, view: View) -> None:
    pictured = string(file, "content_type").startswith(("image/", "video/"))
    view.add("attachment", at)
    name = string(file, "title") or string(file, "filename")
    if not pictured and not of(file, "width"):
        view.say(name, f"{at}/filename")
    view.say(of(file, "description"), f"{at}/description", "hidden")


def _embed(embed: Any, at: str, view: View) -> None:
    view.add("embed", at)
    for key, inner in (("provider", "name"), ("author", "name"), ("title", ""),
                       ("description", "")):  # fmt: skip
        text = string(of(embed, key), inner) if inner else string(embed, key)
        if text:
            view.add(f"embed.{key}", f"{at}/{key}")
            view.say(plain.discord(text), f"{at}/{key}")
    for node, place in items_of(embed, "fields", at):
        view.add("embed.field", place)
        _say(node, "name", place, view)
        _say(node, "value", place, view)
    for key in ("image", "thumbnail", "video"):
        if string(of(embed, key), "url"):
            view.add(f"embed.{key}", f"{at}/{key}")
    if text := string(of(embed, "footer"), "text"):
        view.add("embed.footer", f"{at}/footer")
        view.say(plain.discord(text), f"{at}/footer/text")


def _poll(poll: Any, at: str, view: View) -> None:
    view.add("poll", at)
    _say(of(poll, "question"), "text", f"{at}/question", view)
    for node, place in items_of(poll, "answers", at):
        _say(of(node, "poll_media"), "text", f"{place}/poll_media", view)


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
    _say(node, "content", at, view)


def _thumbnail(node: Any, at: str, view: View) -> None:
    _say(node, "description", at, view, "hidden")


def _gallery(node: Any, at: str, view: View) -> None:
    for item, place in items_of(node, "items", at):
        _say(item, "description", place, view, "hidden")


def _file_component(node: Any, at: str, view: View) -> None:
    view.say(of(node, "name"), f"{at}/name")


def _button(node: Any, at: str, view: View) -> None:
    url, label = string(node, "url"), string(node, "label")
    view.say(label, f"{at}/label")
    if of(node, "style") == _PREMIUM_STYLE:
        return
    link = of(node, "style") == _LINK_STYLE
    if of(node, "disabled") is True or (link and not is_web(url)):
        return
    view.acts.append(Act(at, "link" if link else "press", label, url if link else ""))


def _label(node: Any, at: str, view: View) -> None:
    _say(node, "label", at, view)
    _say(node, "description", at, view)
    inner = of(node, "component")
    if isinstance(inner, dict):
        _component(inner, f"{at}/component", view, string(node, "label"))


def _see_input(node: Any, at: str, view: View, label: str) -> None:
    _say(node, "label", at, view)
    if string(node, "value"):
        view.say(string(node, "value"), f"{at}/value")
    else:
        _say(node, "placeholder", at, view)
    options = list(items_of(node, "options", at)) if of(node, "type") in _WITH_OPTIONS else []
    for option, place in options:
        view.say(of(option, "label"), f"{place}/label")
        view.say(of(option, "description"), f"{place}/description")
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
