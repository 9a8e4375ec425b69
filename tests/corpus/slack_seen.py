"""What a Slack message shows: Block Kit, legacy attachments, files (docs.slack.dev, 2026-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.corpus import plain
from tests.corpus.seen import Act, Seen, each, is_web, of, string

_PICKERS = frozenset({
    "users_select", "channels_select", "conversations_select", "external_select",
    "multi_users_select", "multi_channels_select", "multi_conversations_select",
    "multi_external_select",
})  # fmt: skip
_CHOICES = frozenset({"static_select", "multi_static_select", "checkboxes", "radio_buttons"})
_FIELDS = {
    "datepicker": "initial_date", "timepicker": "initial_time", "datetimepicker": "",
    "plain_text_input": "initial_value", "number_input": "initial_value",
    "email_text_input": "initial_value", "url_text_input": "initial_value", "file_input": "",
    "rich_text_input": "",
}  # fmt: skip


def see(native: Any) -> Seen:
    """A message, a view, a list of blocks or one block."""
    seen = Seen()
    if isinstance(native, list):
        native = {"blocks": native}
    if isinstance(of(native, "type"), str) and native["type"] in _BLOCKS:
        _block(native, "", seen)
        return seen
    if not list(each(native, "blocks", "")):
        seen.say(plain.slack(string(native, "text")), "/text")
    for block, at in each(native, "blocks", ""):
        _block(block, at, seen)
    for attachment, at in each(native, "attachments", ""):
        _attachment(attachment, at, seen)
    for file, at in each(native, "files", ""):
        _file(file, at, seen)
    return seen


def _block(block: Any, at: str, seen: Seen) -> None:
    kind = of(block, "type")
    reader = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        seen.add(str(kind), at)
        reader(block, at, seen)


def _text(value: Any, at: str, seen: Seen) -> None:
    """A text object, rich text, or a bare string."""
    match of(value, "type"):
        case "mrkdwn":
            seen.say(plain.slack(string(value, "text")), at)
        case "plain_text":
            seen.say(plain.slack_plain(string(value, "text")), at)
        case "raw_text":
            seen.say(of(value, "text"), at)
        case "raw_number":
            seen.say(of(value, "text") or of(value, "value"), at)
        case "rich_text":
            _rich_text(value, at, seen)
        case _:
            seen.say(value, at)


def _at_text(*keys: str) -> Callable[[Any, str, Seen], None]:
    def read(value: Any, at: str, seen: Seen) -> None:
        for key in keys:
            _text(of(value, key), f"{at}/{key}", seen)

    return read


# --- rich text ------------------------------------------------------------------------------


def _rich_text(value: Any, at: str, seen: Seen) -> None:
    for one, place in each(value, "elements", at):
        match of(one, "type"):
            case "rich_text_section" | "rich_text_quote" | "rich_text_preformatted" as kind:
                seen.add(kind, place)
                seen.say(_run(one), place)
            case "rich_text_list":
                seen.add("rich_text_list", place)
                for item, below in each(one, "elements", place):
                    seen.say(_run(item), below)
            case _:
                pass


def _run(section: Any) -> str:
    """Its texts joined; styles part no words."""
    said: list[str] = []
    for one, _ in each(section, "elements", ""):
        match of(one, "type"):
            case "text":
                said.append(string(one, "text"))
            case "link":
                said.append(string(one, "text") or string(one, "url").removeprefix("mailto:"))
            case "color":
                said.append(string(one, "value"))
            case _:
                said.append(" ")
    return "".join(said)


# --- blocks ---------------------------------------------------------------------------------


def _section(block: Any, at: str, seen: Seen) -> None:
    _text(of(block, "text"), f"{at}/text", seen)
    for one, place in each(block, "fields", at):
        seen.add("section.field", place)
        _text(one, place, seen)
    accessory = of(block, "accessory")
    if isinstance(accessory, dict):
        _element(accessory, f"{at}/accessory", seen)


def _image(block: Any, at: str, seen: Seen) -> None:
    _text(of(block, "title"), f"{at}/title", seen)
    seen.say(of(block, "alt_text"), f"{at}/alt_text", "hidden")


def _elements(block: Any, at: str, seen: Seen) -> None:
    for one, place in each(block, "elements", at):
        _element(one, place, seen)


def _context(block: Any, at: str, seen: Seen) -> None:
    for one, place in each(block, "elements", at):
        if of(one, "type") == "image":
            seen.add("context.image", place)
            _image(one, place, seen)
        else:
            _text(one, place, seen)


def _input(block: Any, at: str, seen: Seen) -> None:
    _text(of(block, "label"), f"{at}/label", seen)
    element = of(block, "element")
    label = string(of(block, "label"), "text")
    if isinstance(element, dict):
        _element(element, f"{at}/element", seen, label)
    _text(of(block, "hint"), f"{at}/hint", seen)


def _video(block: Any, at: str, seen: Seen) -> None:
    _at_text("title", "author_name", "provider_name", "description")(block, at, seen)
    seen.say(of(block, "alt_text"), f"{at}/alt_text", "hidden")


def _markdown(block: Any, at: str, seen: Seen) -> None:
    seen.say(plain.markdown(string(block, "text")), f"{at}/text")


def _table(block: Any, at: str, seen: Seen) -> None:
    seen.say(of(block, "caption"), f"{at}/caption")
    rows = of(block, "rows")
    for y, row in enumerate(rows if isinstance(rows, list) else ()):
        for x, cell in enumerate(row if isinstance(row, list) else ()):
            _text(cell, f"{at}/rows/{y}/{x}", seen)


def _chart(block: Any, at: str, seen: Seen) -> None:
    seen.say(of(block, "title"), f"{at}/title")
    chart = of(block, "chart")
    for one, place in each(chart, "segments", f"{at}/chart"):
        seen.say(of(one, "label"), f"{place}/label")
        seen.say(of(one, "value"), f"{place}/value")
    for one, place in each(chart, "series", f"{at}/chart"):
        seen.say(of(one, "name"), f"{place}/name")
        for point, below in each(one, "data", place):
            seen.say(of(point, "value"), f"{below}/value")
    axis = of(chart, "axis_config")
    for key in ("x_label", "y_label"):
        seen.say(of(axis, key), f"{at}/chart/axis_config/{key}")
    for one, place in each(axis, "categories", f"{at}/chart/axis_config"):
        seen.say(one, place)


def _card(block: Any, at: str, seen: Seen) -> None:
    for key in ("hero_image", "icon"):
        _image(of(block, key), f"{at}/{key}", seen)
    _at_text("title", "subtitle", "body", "subtext")(block, at, seen)
    for one, place in each(block, "actions", at):
        _element(one, place, seen)


def _carousel(block: Any, at: str, seen: Seen) -> None:
    for one, place in each(block, "elements", at):
        _block(one, place, seen)


def _container(block: Any, at: str, seen: Seen) -> None:
    _image(of(block, "icon"), f"{at}/icon", seen)
    title = "rich_text_title" if of(block, "rich_text_title") else "title"
    _at_text(title, "subtitle")(block, at, seen)
    for one, place in each(block, "child_blocks", at):
        _block(one, place, seen)


def _task(block: Any, at: str, seen: Seen) -> None:
    _at_text("title", "details", "output")(block, at, seen)
    for one, place in each(block, "sources", at):
        seen.say(of(one, "text") or of(one, "url"), place)


def _plan(block: Any, at: str, seen: Seen) -> None:
    _text(of(block, "title"), f"{at}/title", seen)
    for one, place in each(block, "tasks", at):
        _block(one, place, seen)


def _nothing(_block: Any, _at: str, _seen: Seen) -> None:
    return


_BLOCKS: dict[str, Callable[[Any, str, Seen], None]] = {
    "section": _section,
    "header": _at_text("text"),
    "divider": _nothing,
    "image": _image,
    "context": _context,
    "context_actions": _elements,
    "actions": _elements,
    "input": _input,
    "rich_text": _rich_text,
    "markdown": _markdown,
    "video": _video,
    "table": _table,
    "data_table": _table,
    "data_visualization": _chart,
    "card": _card,
    "carousel": _carousel,
    "container": _container,
    "alert": _at_text("text"),
    "task_card": _task,
    "plan": _plan,
}


# --- elements -------------------------------------------------------------------------------


def _element(element: Any, at: str, seen: Seen, label: str = "") -> None:
    kind = string(element, "type")
    match kind:
        case "button" | "workflow_button" | "icon_button":
            _button(element, at, seen, kind)
        case "feedback_buttons":
            for key in ("positive_button", "negative_button"):
                if isinstance(of(element, key), dict):
                    _button(of(element, key), f"{at}/{key}", seen, kind)
        case "overflow":
            _options(element, at, seen)
        case "image":
            seen.add("section.image", at)
            _image(element, at, seen)
            return
        case _ if kind in _CHOICES or kind in _PICKERS or kind in _FIELDS:
            _asked(element, at, seen, label)
        case _:
            return
    _confirm(of(element, "confirm"), f"{at}/confirm", seen)


def _button(element: Any, at: str, seen: Seen, kind: str) -> None:
    text = plain.slack_plain(string(of(element, "text"), "text"))
    url = string(element, "url")
    if kind == "workflow_button":
        url = string(of(of(element, "workflow"), "trigger"), "url")
    seen.add(kind, at)
    seen.say(text, f"{at}/text")
    seen.say(of(element, "accessibility_label"), f"{at}/accessibility_label", "hidden")
    does = "link" if is_web(url) else "press"
    seen.acts.append(Act(at, does, text, url if is_web(url) else ""))


def _options(element: Any, at: str, seen: Seen) -> None:
    kind = string(element, "type")
    seen.add(kind, at)
    options = list(each(element, "options", at))
    for group, place in each(element, "option_groups", at):
        _text(of(group, "label"), f"{place}/label", seen)
        options += each(group, "options", place)
        for one, below in each(group, "options", place):
            _at_text("text", "description")(one, below, seen)
    for one, place in each(element, "options", at):
        _at_text("text", "description")(one, place, seen)
    first = string(of(options[0][0], "text"), "text") if options else ""
    links = 0
    for one, place in options if kind == "overflow" else ():  # no other menu opens addresses
        if is_web(url := string(one, "url")):
            links += 1
            seen.acts.append(Act(place, "link", string(of(one, "text"), "text"), url))
    if not options or links < len(options):
        seen.acts.append(Act(at, "input", plain.slack(first)))


def _asked(element: Any, at: str, seen: Seen, label: str) -> None:
    kind = string(element, "type")
    value = string(element, _FIELDS.get(kind, ""))
    placeholder = string(of(element, "placeholder"), "text")
    if kind in _CHOICES:
        seen.say(plain.slack_plain(placeholder), f"{at}/placeholder")
        _options(element, at, seen)
        return
    seen.add(kind, at)
    if isinstance(of(element, "initial_value"), dict):
        _rich_text(of(element, "initial_value"), f"{at}/initial_value", Seen())
    if value:
        seen.say(value, f"{at}/initial")
    else:
        seen.say(plain.slack_plain(placeholder), f"{at}/placeholder")
    seen.acts.append(Act(at, "input", label or plain.slack_plain(placeholder)))


def _confirm(confirm: Any, at: str, seen: Seen) -> None:
    for key in ("title", "text", "confirm", "deny"):
        seen.say(plain.slack(string(of(confirm, key), "text")), f"{at}/{key}", "hidden")


# --- attachments and files ------------------------------------------------------------------


def _attachment(one: Any, at: str, seen: Seen) -> None:
    seen.add("attachment", at)
    begun = len(seen.said)
    for key in ("pretext", "author_name", "title", "text"):
        seen.say(plain.slack(string(one, key)), f"{at}/{key}")
        if key != "text" and string(one, key):
            seen.add(f"attachment.{key}", f"{at}/{key}")
    for field, place in each(one, "fields", at):
        seen.add("attachment.field", place)
        seen.say(plain.slack(string(field, "title")), f"{place}/title")
        seen.say(plain.slack(string(field, "value")), f"{place}/value")
    for block, place in each(one, "blocks", at):
        _block(block, place, seen)
    for action, place in each(one, "actions", at):
        _legacy_action(action, place, seen)
    seen.say(plain.slack(string(one, "footer")), f"{at}/footer")
    if len(seen.said) == begun and not string(one, "image_url"):
        seen.say(plain.slack(string(one, "fallback")), f"{at}/fallback")


def _legacy_action(action: Any, at: str, seen: Seen) -> None:
    text, url = plain.slack_plain(string(action, "text")), string(action, "url")
    if string(action, "type") not in ("button", "select"):
        return
    seen.add(f"legacy.{string(action, 'type')}", at)
    seen.say(text, f"{at}/text")
    for one, place in each(action, "options", at):
        seen.say(plain.slack_plain(string(one, "text")), f"{place}/text")
    if string(action, "type") == "select":
        seen.acts.append(Act(at, "input", text))
    else:
        seen.acts.append(Act(at, "link" if is_web(url) else "press", text, url))
    _confirm(of(action, "confirm"), f"{at}/confirm", seen)


def _file(file: Any, at: str, seen: Seen) -> None:
    seen.add("file", at)
    name = string(file, "title") or string(file, "name")
    if not string(file, "mimetype").startswith("image/"):
        seen.say(name, at)
