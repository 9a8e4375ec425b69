"""What a Discord message shows: content, embeds, components of both kinds, polls, files
(discord-api-docs, 2026-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.corpus import plain
from tests.corpus.seen import Act, Seen, When, each, is_web, of, string

_NAMES = {
    1: "action_row", 2: "button", 3: "string_select", 4: "text_input", 5: "user_select",
    6: "role_select", 7: "mentionable_select", 8: "channel_select", 9: "section",
    10: "text_display", 11: "thumbnail", 12: "media_gallery", 13: "file", 14: "separator",
    17: "container", 18: "label", 19: "file_upload", 21: "radio_group", 22: "checkbox_group",
    23: "checkbox",
}  # fmt: skip
_WITH_OPTIONS = (3, 21, 22)
_LINK_STYLE, _PREMIUM_STYLE = 5, 6


def see(native: Any) -> Seen:
    """A message or a modal."""
    seen = Seen()
    if isinstance(native, list):
        is_component = bool(native) and isinstance(of(native[0], "type"), int)
        native = {"components" if is_component else "embeds": native}
    _message(native, "", seen)
    return seen


def _message(native: Any, at: str, seen: Seen) -> None:
    _say(native, "title", at, seen)
    if text := string(native, "content"):
        seen.add("content", f"{at}/content")
        seen.say(plain.discord(text), f"{at}/content")
    for file, place in each(native, "attachments", at):
        _file(file, place, seen)
    for embed, place in each(native, "embeds", at):
        _embed(embed, place, seen)
    for one, place in each(native, "sticker_items", at):
        seen.add("sticker", place)
        seen.say(of(one, "name"), place, "hidden")
    if isinstance(poll := of(native, "poll"), dict):
        _poll(poll, f"{at}/poll", seen)
    for one, place in each(native, "components", at):
        _component(one, place, seen)
    for one, place in each(native, "message_snapshots", at):
        _message(of(one, "message"), f"{place}/message", seen)


def _say(value: Any, key: str, at: str, seen: Seen, when: When = "shown") -> None:
    seen.say(plain.discord(string(value, key)), f"{at}/{key}", when)


def _file(file: Any, at: str, seen: Seen) -> None:
    pictured = string(file, "content_type").startswith(("image/", "video/"))
    seen.add("attachment", at)
    name = string(file, "title") or string(file, "filename")
    if not pictured and not of(file, "width"):
        seen.say(name, f"{at}/filename")
    seen.say(of(file, "description"), f"{at}/description", "hidden")


def _embed(embed: Any, at: str, seen: Seen) -> None:
    seen.add("embed", at)
    for key, inner in (("provider", "name"), ("author", "name"), ("title", ""),
                       ("description", "")):  # fmt: skip
        text = string(of(embed, key), inner) if inner else string(embed, key)
        if text:
            seen.add(f"embed.{key}", f"{at}/{key}")
            seen.say(plain.discord(text), f"{at}/{key}")
    for one, place in each(embed, "fields", at):
        seen.add("embed.field", place)
        _say(one, "name", place, seen)
        _say(one, "value", place, seen)
    for key in ("image", "thumbnail", "video"):
        if string(of(embed, key), "url"):
            seen.add(f"embed.{key}", f"{at}/{key}")
    if text := string(of(embed, "footer"), "text"):
        seen.add("embed.footer", f"{at}/footer")
        seen.say(plain.discord(text), f"{at}/footer/text")


def _poll(poll: Any, at: str, seen: Seen) -> None:
    seen.add("poll", at)
    _say(of(poll, "question"), "text", f"{at}/question", seen)
    for one, place in each(poll, "answers", at):
        _say(of(one, "poll_media"), "text", f"{place}/poll_media", seen)


def _component(one: Any, at: str, seen: Seen, label: str = "") -> None:
    kind = of(one, "type")
    name = _NAMES.get(kind) if isinstance(kind, int) else None
    if name is None:
        return
    seen.add(name, at)
    if name in _READERS:
        _READERS[name](one, at, seen)
    elif name != "separator":
        _asked(one, at, seen, label)


def _inner(one: Any, at: str, seen: Seen) -> None:
    for inner, place in each(one, "components", at):
        _component(inner, place, seen)
    if isinstance(of(one, "accessory"), dict):
        _component(of(one, "accessory"), f"{at}/accessory", seen)


def _text_display(one: Any, at: str, seen: Seen) -> None:
    _say(one, "content", at, seen)


def _thumbnail(one: Any, at: str, seen: Seen) -> None:
    _say(one, "description", at, seen, "hidden")


def _gallery(one: Any, at: str, seen: Seen) -> None:
    for item, place in each(one, "items", at):
        _say(item, "description", place, seen, "hidden")


def _file_component(one: Any, at: str, seen: Seen) -> None:
    seen.say(of(one, "name"), f"{at}/name")


def _button(one: Any, at: str, seen: Seen) -> None:
    url, label = string(one, "url"), string(one, "label")
    seen.say(label, f"{at}/label")
    if of(one, "style") == _PREMIUM_STYLE:
        return
    link = of(one, "style") == _LINK_STYLE
    if of(one, "disabled") is True or (link and not is_web(url)):
        return
    seen.acts.append(Act(at, "link" if link else "press", label, url if link else ""))


def _label(one: Any, at: str, seen: Seen) -> None:
    _say(one, "label", at, seen)
    _say(one, "description", at, seen)
    inner = of(one, "component")
    if isinstance(inner, dict):
        _component(inner, f"{at}/component", seen, string(one, "label"))


def _asked(one: Any, at: str, seen: Seen, label: str) -> None:
    _say(one, "label", at, seen)
    if string(one, "value"):
        seen.say(string(one, "value"), f"{at}/value")
    else:
        _say(one, "placeholder", at, seen)
    options = list(each(one, "options", at)) if of(one, "type") in _WITH_OPTIONS else []
    for option, place in options:
        seen.say(of(option, "label"), f"{place}/label")
        seen.say(of(option, "description"), f"{place}/description")
    first = string(options[0][0], "label") if options else ""
    if of(one, "disabled") is True:
        return
    told = label or string(one, "label") or string(one, "placeholder") or first
    seen.acts.append(Act(at, "input", told))


_READERS: dict[str, Callable[[Any, str, Seen], None]] = {
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
