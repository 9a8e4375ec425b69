"""What a Slack message shows: Block Kit, legacy attachments, files (docs.slack.dev, 2026-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.corpus import plain
from tests.corpus.view import Act, View, is_web, items_of, of, string

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


def see(native: Any) -> View:
    """A message, a view, a list of blocks or one block."""
    view = View()
    if isinstance(native, list):
        native = {"blocks": native}
    if isinstance(of(native, "type"), str) and native["type"] in _BLOCKS:
        _block(native, "", view)
        return view
    if not list(items_of(native, "blocks", "")):
        view.add_text(plain.slack(string(native, "text")), "/text")
    for block, at in items_of(native, "blocks", ""):
        _block(block, at, view)
    for attachment, at in items_of(native, "attachments", ""):
        _attachment(attachment, at, view)
    for file, at in items_of(native, "files", ""):
        _file(file, at, view)
    return view


def _block(block: Any, at: str, view: View) -> None:
    kind = of(block, "type")
    reader = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        view.add(str(kind), at)
        reader(block, at, view)


def _text(value: Any, at: str, view: View) -> None:
    """A text object, rich text, or a bare string."""
    match of(value, "type"):
        case "mrkdwn":
            view.add_text(plain.slack(string(value, "text")), at)
        case "plain_text":
            view.add_text(plain.slack_plain(string(value, "text")), at)
        case "raw_text":
            view.add_text(of(value, "text"), at)
        case "raw_number":
            view.add_text(of(value, "text") or of(value, "value"), at)
        case "rich_text":
            _rich_text(value, at, view)
        case _:
            view.add_text(value, at)


def _at_text(*keys: str) -> Callable[[Any, str, View], None]:
    def read(value: Any, at: str, view: View) -> None:
        for key in keys:
            _text(of(value, key), f"{at}/{key}", view)

    return read


# --- rich text ------------------------------------------------------------------------------


def _rich_text(value: Any, at: str, view: View) -> None:
    for node, place in items_of(value, "elements", at):
        match of(node, "type"):
            case "rich_text_section" | "rich_text_quote" | "rich_text_preformatted" as kind:
                view.add(kind, place)
                view.add_text(_run(node), place)
            case "rich_text_list":
                view.add("rich_text_list", place)
                for item, below in items_of(node, "elements", place):
                    view.add_text(_run(item), below)
            case _:
                pass


def _run(section: Any) -> str:
    """Its texts joined; styles part no words."""
    pieces: list[str] = []
    for node, _ in items_of(section, "elements", ""):
        match of(node, "type"):
            case "text":
                pieces.append(string(node, "text"))
            case "link":
                pieces.append(string(node, "text") or string(node, "url").removeprefix("mailto:"))
            case "color":
                pieces.append(string(node, "value"))
            case _:
                pieces.append(" ")
    return "".join(pieces)


# --- blocks ---------------------------------------------------------------------------------


def _section(block: Any, at: str, view: View) -> None:
    _text(of(block, "text"), f"{at}/text", view)
    for node, place in items_of(block, "fields", at):
        view.add("section.field", place)
        _text(node, place, view)
    accessory = of(block, "accessory")
    if isinstance(accessory, dict):
        _element(accessory, f"{at}/accessory", view)


def _image(block: Any, at: str, view: View) -> None:
    _text(of(block, "title"), f"{at}/title", view)
    view.add_text(of(block, "alt_text"), f"{at}/alt_text", "hidden")


def _elements(block: Any, at: str, view: View) -> None:
    for node, place in items_of(block, "elements", at):
        _element(node, place, view)


def _context(block: Any, at: str, view: View) -> None:
    for node, place in items_of(block, "elements", at):
        if of(node, "type") == "image":
            view.add("context.image", place)
            _image(node, place, view)
        else:
            _text(node, place, view)


def _input(block: Any, at: str, view: View) -> None:
    _text(of(block, "label"), f"{at}/label", view)
    element = of(block, "element")
    label = string(of(block, "label"), "text")
    if isinstance(element, dict):
        _element(element, f"{at}/element", view, label)
    _text(of(block, "hint"), f"{at}/hint", view)


def _video(block: Any, at: str, view: View) -> None:
    _at_text("title", "author_name", "provider_name", "description")(block, at, view)
    view.add_text(of(block, "alt_text"), f"{at}/alt_text", "hidden")


def _markdown(block: Any, at: str, view: View) -> None:
    view.add_text(plain.markdown(string(block, "text")), f"{at}/text")


def _table(block: Any, at: str, view: View) -> None:
    view.add_text(of(block, "caption"), f"{at}/caption")
    rows = of(block, "rows")
    for y, row in enumerate(rows if isinstance(rows, list) else ()):
        for x, cell in enumerate(row if isinstance(row, list) else ()):
            _text(cell, f"{at}/rows/{y}/{x}", view)


def _chart(block: Any, at: str, view: View) -> None:
    view.add_text(of(block, "title"), f"{at}/title")
    chart = of(block, "chart")
    for node, place in items_of(chart, "segments", f"{at}/chart"):
        view.add_text(of(node, "label"), f"{place}/label")
        view.add_text(of(node, "value"), f"{place}/value")
    for node, place in items_of(chart, "series", f"{at}/chart"):
        view.add_text(of(node, "name"), f"{place}/name")
        for point, below in items_of(node, "data", place):
            view.add_text(of(point, "value"), f"{below}/value")
    axis = of(chart, "axis_config")
    for key in ("x_label", "y_label"):
        view.add_text(of(axis, key), f"{at}/chart/axis_config/{key}")
    for node, place in items_of(axis, "categories", f"{at}/chart/axis_config"):
        view.add_text(node, place)


def _card(block: Any, at: str, view: View) -> None:
    for key in ("hero_image", "icon"):
        _image(of(block, key), f"{at}/{key}", view)
    _at_text("title", "subtitle", "body", "subtext")(block, at, view)
    for node, place in items_of(block, "actions", at):
        _element(node, place, view)


def _carousel(block: Any, at: str, view: View) -> None:
    for node, place in items_of(block, "elements", at):
        _block(node, place, view)


def _container(block: Any, at: str, view: View) -> None:
    _image(of(block, "icon"), f"{at}/icon", view)
    title = "rich_text_title" if of(block, "rich_text_title") else "title"
    _at_text(title, "subtitle")(block, at, view)
    for node, place in items_of(block, "child_blocks", at):
        _block(node, place, view)


def _task(block: Any, at: str, view: View) -> None:
    _at_text("title", "details", "output")(block, at, view)
    for node, place in items_of(block, "sources", at):
        view.add_text(of(node, "text") or of(node, "url"), place)


def _plan(block: Any, at: str, view: View) -> None:
    _text(of(block, "title"), f"{at}/title", view)
    for node, place in items_of(block, "tasks", at):
        _block(node, place, view)


def _nothing(_block: Any, _at: str, _view: View) -> None:
    return


_BLOCKS: dict[str, Callable[[Any, str, View], None]] = {
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


def _element(element: Any, at: str, view: View, label: str = "") -> None:
    kind = string(element, "type")
    match kind:
        case "button" | "workflow_button" | "icon_button":
            _button(element, at, view, kind)
        case "feedback_buttons":
            for key in ("positive_button", "negative_button"):
                if isinstance(of(element, key), dict):
                    _button(of(element, key), f"{at}/{key}", view, kind)
        case "overflow":
            _options(element, at, view)
        case "image":
            view.add("section.image", at)
            _image(element, at, view)
            return
        case _ if kind in _CHOICES or kind in _PICKERS or kind in _FIELDS:
            _see_input(element, at, view, label)
        case _:
            return
    _confirm(of(element, "confirm"), f"{at}/confirm", view)


def _button(element: Any, at: str, view: View, kind: str) -> None:
    text = plain.slack_plain(string(of(element, "text"), "text"))
    url = string(element, "url")
    if kind == "workflow_button":
        url = string(of(of(element, "workflow"), "trigger"), "url")
    view.add(kind, at)
    view.add_text(text, f"{at}/text")
    view.add_text(of(element, "accessibility_label"), f"{at}/accessibility_label", "hidden")
    does = "link" if is_web(url) else "press"
    view.acts.append(Act(at, does, text, url if is_web(url) else ""))


def _options(element: Any, at: str, view: View) -> None:
    kind = string(element, "type")
    view.add(kind, at)
    options = list(items_of(element, "options", at))
    for group, place in items_of(element, "option_groups", at):
        _text(of(group, "label"), f"{place}/label", view)
        options += items_of(group, "options", place)
        for node, below in items_of(group, "options", place):
            _at_text("text", "description")(node, below, view)
    for node, place in items_of(element, "options", at):
        _at_text("text", "description")(node, place, view)
    first = string(of(options[0][0], "text"), "text") if options else ""
    links = 0
    for node, place in options if kind == "overflow" else ():  # no other menu opens addresses
        if is_web(url := string(node, "url")):
            links += 1
            view.acts.append(Act(place, "link", string(of(node, "text"), "text"), url))
    if not options or links < len(options):
        view.acts.append(Act(at, "input", plain.slack(first)))


def _see_input(element: Any, at: str, view: View, label: str) -> None:
    kind = string(element, "type")
    value = string(element, _FIELDS.get(kind, ""))
    placeholder = string(of(element, "placeholder"), "text")
    if kind in _CHOICES:
        view.add_text(plain.slack_plain(placeholder), f"{at}/placeholder")
        _options(element, at, view)
        return
    view.add(kind, at)
    if isinstance(of(element, "initial_value"), dict):
        _rich_text(of(element, "initial_value"), f"{at}/initial_value", View())
    if value:
        view.add_text(value, f"{at}/initial")
    else:
        view.add_text(plain.slack_plain(placeholder), f"{at}/placeholder")
    view.acts.append(Act(at, "input", label or plain.slack_plain(placeholder)))


def _confirm(confirm: Any, at: str, view: View) -> None:
    for key in ("title", "text", "confirm", "deny"):
        view.add_text(plain.slack(string(of(confirm, key), "text")), f"{at}/{key}", "hidden")


# --- attachments and files ------------------------------------------------------------------


def _attachment(node: Any, at: str, view: View) -> None:
    view.add("attachment", at)
    begun = len(view.texts)
    for key in ("pretext", "author_name", "title", "text"):
        view.add_text(plain.slack(string(node, key)), f"{at}/{key}")
        if key != "text" and string(node, key):
            view.add(f"attachment.{key}", f"{at}/{key}")
    for field, place in items_of(node, "fields", at):
        view.add("attachment.field", place)
        view.add_text(plain.slack(string(field, "title")), f"{place}/title")
        view.add_text(plain.slack(string(field, "value")), f"{place}/value")
    for block, place in items_of(node, "blocks", at):
        _block(block, place, view)
    for action, place in items_of(node, "actions", at):
        _legacy_action(action, place, view)
    view.add_text(plain.slack(string(node, "footer")), f"{at}/footer")
    if len(view.texts) == begun and not string(node, "image_url"):
        view.add_text(plain.slack(string(node, "fallback")), f"{at}/fallback")


def _legacy_action(action: Any, at: str, view: View) -> None:
    text, url = plain.slack_plain(string(action, "text")), string(action, "url")
    if string(action, "type") not in ("button", "select"):
        return
    view.add(f"legacy.{string(action, 'type')}", at)
    view.add_text(text, f"{at}/text")
    for node, place in items_of(action, "options", at):
        view.add_text(plain.slack_plain(string(node, "text")), f"{place}/text")
    if string(action, "type") == "select":
        view.acts.append(Act(at, "input", text))
    else:
        view.acts.append(Act(at, "link" if is_web(url) else "press", text, url))
    _confirm(of(action, "confirm"), f"{at}/confirm", view)


def _file(file: Any, at: str, view: View) -> None:
    view.add("file", at)
    name = string(file, "title") or string(file, "name")
    if not string(file, "mimetype").startswith("image/"):
        view.add_text(name, at)
