"""Slack's refusals of a message with blocks, by its documented limits and independent of our
writer.

Sources: docs.slack.dev "Blocks", "Block elements", "Composition objects" and the catalog of their
surfaces; npm @slack/types 3.2.0 (2026-08).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Json = dict[str, Any]
Faults = Iterator[str]
Check = Callable[[Any, str], Faults]

MAX_CHARACTERS = 13_200
ELEMENTS_IN_ROW = frozenset(
    (
        *("button", "checkboxes", "datepicker", "datetimepicker", "overflow", "radio_buttons"),
        *("timepicker", "workflow_button", "static_select", "external_select", "users_select"),
        *("conversations_select", "channels_select", "multi_static_select"),
        *("multi_external_select", "multi_users_select", "multi_conversations_select"),
        "multi_channels_select",
    )
)
BESIDE_SECTION = (ELEMENTS_IN_ROW - {"datetimepicker"}) | {"image"}
IN_INPUT = (ELEMENTS_IN_ROW - {"button", "overflow", "workflow_button"}) | {"plain_text_input"}
IN_CONTAINER = frozenset(
    (
        *("actions", "context", "divider", "file", "header", "image", "input", "rich_text"),
        *("section", "table", "video"),
    )
)
TABLES = ("table", "data_table")


def units(text: str) -> int:
    """The length by the stricter of Slack's possible ways to count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def faults(body: Any) -> list[str]:
    """All faults for which Slack would refuse a chat.postMessage body, each with its pointer."""
    return list(_message(body))


def _message(body: Any) -> Faults:
    if not isinstance(body, dict) or not set(body) <= {"text", "blocks", "attachments"}:
        yield "/: is no body of a message"
        return
    text, blocks = body.get("text"), body.get("blocks", [])
    attachments = body.get("attachments", [])
    if not isinstance(text, str) or units(text) > (150 if blocks or attachments else 4_000):
        yield "/text: is missing or too long"
    if not blocks and not attachments and not str(text).strip():
        yield "/: no_text"
    if ("blocks" in body and not blocks) or ("attachments" in body and not attachments):
        yield "/: an empty list"
    yield from _blocks(blocks, "/blocks", _IN_MESSAGE)
    yield from _attachments(attachments, "/attachments")
    yield from _whole(body, blocks, attachments)


def _whole(body: Json, blocks: list[Json], attachments: list[Json]) -> Faults:
    all_blocks = [
        *blocks,
        *(inner_block for a in attachments for inner_block in a.get("blocks", [])),
    ]
    if len(all_blocks) > 50:
        yield f"/blocks: {len(all_blocks)} blocks"
    inner = [
        *all_blocks,
        *(inner_block for b in all_blocks for inner_block in b.get("child_blocks", [])),
    ]
    kinds = Counter(inner_block.get("type") for inner_block in inner)
    if sum(kinds[kind] for kind in TABLES) > 1:
        yield "/blocks: only_one_table_allowed"
    if kinds["data_visualization"] > 2 or kinds["plan"] > 1:
        yield "/blocks: too many charts or plans"
    if (total := sum(map(units, _texts(all_blocks)))) > MAX_CHARACTERS:
        yield f"/blocks: msg_blocks_too_long ({total})"
    for key in ("action_id", "block_id", "task_id"):
        ids = Counter(_values(body, key))
        yield from (f"/: {key} {value!r} is there twice" for value, n in ids.items() if n > 1)
        yield from (
            f"/: {key} {value!r} is too long" for value in ids if not 0 < units(value) <= 255
        )


def _texts(value: object) -> Iterator[str]:
    """The readable texts of blocks."""
    if isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, str):
                if key in ("text", "title", "alt_text", "label", "name", "fallback"):
                    yield member
            else:
                yield from _texts(member)


def _values(value: object, key: str) -> Iterator[str]:
    if isinstance(value, list):
        for member in value:
            yield from _values(member, key)
    elif isinstance(value, dict):
        if isinstance(text := value.get(key), str):
            yield text
        for member in value.values():
            yield from _values(member, key)


def _attachments(attachments: Any, at: str) -> Faults:
    if not isinstance(attachments, list) or len(attachments) > 100:
        yield f"{at}: is no list of at most 100"
        return
    for index, attachment in enumerate(attachments):
        place = f"{at}/{index}"
        yield from _keys(attachment, place, {"blocks"}, {"color", "fallback"})
        color = attachment.get("color", "good")
        if not re.fullmatch(r"good|warning|danger|#[0-9A-Fa-f]{6}", color):
            yield f"{place}/color: {color!r}"
        if not attachment.get("blocks"):
            yield f"{place}/blocks: is empty"
        yield from _blocks(attachment.get("blocks", []), f"{place}/blocks", _IN_ATTACHMENT)


def _blocks(blocks: Any, at: str, allowed: frozenset[str]) -> Faults:
    if not isinstance(blocks, list):
        yield f"{at}: is no list"
        return
    for index, block in enumerate(blocks):
        place = f"{at}/{index}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in allowed:
            yield f"{place}: no {kind!r} may stand here"
        else:
            yield from _BLOCKS[kind](block, place)


# --- small checks ---------------------------------------------------------------------------


def _keys(value: Any, at: str, needed: set[str], allowed: set[str]) -> Faults:
    if not isinstance(value, dict):
        yield f"{at}: is no object"
        return
    yield from (f"{at}/{key}: is missing" for key in sorted(needed - set(value)))
    unknown = set(value) - needed - allowed - {"type", "block_id"}
    yield from (f"{at}/{key}: is unknown" for key in sorted(unknown))


def _string(value: Any, at: str, maximum: int, minimum: int = 1) -> Faults:
    if not isinstance(value, str) or not minimum <= units(value) <= maximum:
        yield f"{at}: no text of {minimum} to {maximum}: {str(value)[:40]!r}"
    elif minimum and not value.strip():
        yield f"{at}: says nothing"
    else:
        yield from _sound(value, at)


def _sound(value: str, at: str) -> Faults:
    if any("\ud800" <= char <= "\udfff" or char == "\x00" for char in value):
        yield f"{at}: is no sound text"


def _text(value: Any, at: str, maximum: int = 3_000, *, kinds: str = "plain_text mrkdwn") -> Faults:
    if not isinstance(value, dict) or value.get("type") not in kinds.split():
        yield f"{at}: is no text object ({kinds})"
        return
    allowed = {"emoji"} if value["type"] == "plain_text" else {"verbatim"}
    yield from _keys(value, at, {"text"}, allowed)
    yield from _string(value.get("text"), f"{at}/text", maximum)
    if value["type"] == "mrkdwn":
        yield from _no_ping(value.get("text", ""), at)
        if re.search(r"[@#]", value.get("text", "")) and value.get("verbatim") is not True:
            yield f"{at}: Slack would look for names in it"


def _no_ping(text: str, at: str) -> Faults:
    if re.search(r"<(?:@|#|!(?!date\^))", text):
        yield f"{at}: notifies somebody: {text[:60]!r}"


def _plain(value: Any, at: str, maximum: int = 3_000) -> Faults:
    yield from _text(value, at, maximum, kinds="plain_text")


def _url(value: Any, at: str, maximum: int = 3_000, schemes: str = "https?|mailto") -> Faults:
    yield from _string(value, at, maximum)
    if not re.match(rf"(?:{schemes}):[^\s<>]+$", str(value), re.IGNORECASE):
        yield f"{at}: is no address: {str(value)[:60]!r}"


def _list(value: Any, at: str, maximum: int, minimum: int = 1) -> Faults:
    if not isinstance(value, list) or not minimum <= len(value) <= maximum:
        yield f"{at}: is no list of {minimum} to {maximum}"


def _each(value: Any, at: str, check: Check) -> Faults:
    for index, item in enumerate(value if isinstance(value, list) else []):
        yield from check(item, f"{at}/{index}")


def _if(value: Json, key: str, at: str, check: Check) -> Faults:
    if key in value:
        yield from check(value[key], f"{at}/{key}")


# --- blocks ---------------------------------------------------------------------------------


def _section(block: Json, at: str) -> Faults:
    yield from _keys(block, at, set(), {"text", "fields", "accessory", "expand"})
    if "text" not in block and "fields" not in block:
        yield f"{at}: says nothing"
    yield from _if(block, "text", at, _text)
    if "fields" in block:
        yield from _list(block["fields"], f"{at}/fields", 10)
        yield from _each(block["fields"], f"{at}/fields", lambda v, p: _text(v, p, 2_000))
    yield from _if(block, "accessory", at, lambda v, p: _element(v, p, BESIDE_SECTION))


def _header(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"text"}, set())
    yield from _plain(block.get("text"), f"{at}/text", 150)


def _divider(block: Json, at: str) -> Faults:
    yield from _keys(block, at, set(), set())


def _image(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"alt_text"}, {"image_url", "slack_file", "title"})
    if ("image_url" in block) is ("slack_file" in block):
        yield f"{at}: needs one source"
    yield from _if(block, "image_url", at, lambda v, p: _url(v, p, schemes="https?"))
    yield from _if(block, "slack_file", at, lambda v, p: _one_key(v, p, ("id", "url")))
    yield from _string(block.get("alt_text"), f"{at}/alt_text", 2_000)
    yield from _if(block, "title", at, lambda v, p: _plain(v, p, 2_000))


def _one_key(value: Any, at: str, keys: tuple[str, ...]) -> Faults:
    if not isinstance(value, dict) or len(value) != 1 or not set(value) <= set(keys):
        yield f"{at}: needs one of {keys}"


def _context(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"elements"}, set())
    yield from _list(block.get("elements"), f"{at}/elements", 10)
    yield from _each(block.get("elements"), f"{at}/elements", _in_context)


def _in_context(value: Any, at: str) -> Faults:
    is_image = isinstance(value, dict) and value.get("type") == "image"
    yield from _picture(value, at) if is_image else _text(value, at)


def _picture(value: Any, at: str) -> Faults:
    if not isinstance(value, dict) or value.get("type") != "image" or "title" in value:
        yield f"{at}: is no image element"
    else:
        yield from _image(value, at)


def _actions(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"elements"}, set())
    yield from _list(block.get("elements"), f"{at}/elements", 25)
    yield from _each(
        block.get("elements"), f"{at}/elements", lambda v, p: _element(v, p, ELEMENTS_IN_ROW)
    )


def _context_actions(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"elements"}, set())
    yield from _list(block.get("elements"), f"{at}/elements", 5)


def _input(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"label", "element"}, {"hint", "optional", "dispatch_action"})
    yield from _plain(block.get("label"), f"{at}/label", 2_000)
    yield from _if(block, "hint", at, lambda v, p: _plain(v, p, 2_000))
    yield from _element(block.get("element"), f"{at}/element", IN_INPUT)


def _markdown(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"text"}, set())
    yield from _string(block.get("text"), f"{at}/text", 12_000)


def _container(block: Json, at: str) -> Faults:
    members = {"title", "rich_text_title", "subtitle", "width", "icon", "is_collapsible"}
    yield from _keys(
        block, at, {"child_blocks"}, members | {"default_collapsed", "has_header_divider"}
    )
    if "title" not in block and "rich_text_title" not in block:
        yield f"{at}: needs a title"
    yield from _if(block, "title", at, lambda v, p: _plain(v, p, 150))
    yield from _if(block, "rich_text_title", at, _rich_text)
    yield from _if(block, "subtitle", at, lambda v, p: _text(v, p, 150))
    yield from _if(block, "icon", at, _picture)
    if block.get("default_collapsed") and not block.get("is_collapsible"):
        yield f"{at}: cannot be folded"
    yield from _list(block.get("child_blocks"), f"{at}/child_blocks", 10)
    yield from _blocks(block.get("child_blocks"), f"{at}/child_blocks", IN_CONTAINER)


def _card(block: Json, at: str) -> Faults:
    limits = {"title": 150, "subtitle": 150, "body": 200}
    yield from _keys(block, at, set(), {*limits, "hero_image", "icon", "actions"})
    if not {"hero_image", "title", "body", "actions"} & set(block):
        yield f"{at}: says nothing"
    for key, maximum in limits.items():
        yield from _if(
            block, key, at, lambda v, p, maximum=maximum: _text(v, p, maximum, kinds="mrkdwn")
        )
    for key in ("hero_image", "icon"):
        yield from _if(block, key, at, _picture)
    if "actions" in block:
        yield from _list(block["actions"], f"{at}/actions", 3)
        only = frozenset(("button",))
        yield from _each(block["actions"], f"{at}/actions", lambda v, p: _element(v, p, only))


def _carousel(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"elements"}, set())
    yield from _list(block.get("elements"), f"{at}/elements", 10)
    yield from _blocks(block.get("elements"), f"{at}/elements", frozenset(("card",)))


def _task_card(block: Json, at: str) -> Faults:
    yield from _task(block, at, ("in_progress", "complete", "error"))


def _task(task: Any, at: str, statuses: tuple[str, ...]) -> Faults:
    yield from _keys(task, at, {"task_id", "title", "status"}, {"details", "output", "sources"})
    yield from _string(task.get("title"), f"{at}/title", 256)
    if task.get("status") not in statuses:
        yield f"{at}/status: {task.get('status')!r}"
    for key in ("details", "output"):
        yield from _if(task, key, at, _rich_text)
    yield from _each(task.get("sources", []), f"{at}/sources", _source)


def _source(value: Any, at: str) -> Faults:
    yield from _keys(value, at, {"url", "text"}, set())
    yield from _url(value.get("url"), f"{at}/url")
    yield from _string(value.get("text"), f"{at}/text", 3_000)


def _plan(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"title"}, {"tasks"})
    yield from _string(block.get("title"), f"{at}/title", 256)
    statuses = ("pending", "in_progress", "complete", "error")
    yield from _if(block, "tasks", at, lambda v, p: _list(v, p, 50))
    yield from _each(block.get("tasks"), f"{at}/tasks", lambda v, p: _task(v, p, statuses))


# --- tables and charts ----------------------------------------------------------------------


def _table(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"rows"}, {"column_settings"})
    rows = block.get("rows")
    yield from _list(rows, f"{at}/rows", 100)
    for index, row in enumerate(rows or []):
        yield from _list(row, f"{at}/rows/{index}", 20)
        yield from _each(row, f"{at}/rows/{index}", _cell)
    if (total := sum(map(units, _texts(rows)))) > 10_000:
        yield f"{at}: {total} characters in a table"
    settings = block.get("column_settings", [])
    yield from _list(settings, f"{at}/column_settings", 20, 0)
    for index, setting in enumerate(settings):
        yield from _keys(setting, f"{at}/column_settings/{index}", set(), {"align", "is_wrapped"})


def _cell(cell: Any, at: str) -> Faults:
    match cell:
        case {"type": "raw_text", "text": str(text)}:
            yield from [] if text else [f"{at}: is empty"]
            yield from _sound(text, at)
        case {"type": "raw_number", "value": int() | float(), "text": str()}:
            yield from _keys(cell, at, {"value", "text"}, set())
        case {"type": "rich_text"}:
            yield from _rich_text(cell, at)
        case _:
            yield f"{at}: is no cell"


def _chart(block: Json, at: str) -> Faults:
    yield from _keys(block, at, {"title", "chart"}, set())
    yield from _string(block.get("title"), f"{at}/title", 50)
    match block.get("chart"):
        case {"type": "pie", "segments": list(segments)} if 1 <= len(segments) <= 12:
            yield from _points(segments, f"{at}/chart/segments")
            if any(segment["value"] <= 0 for segment in segments):
                yield f"{at}/chart: a piece of nothing"
        case {"type": "line" | "bar" | "area", "series": list(series), "axis_config": dict(axes)}:
            yield from _axes(series, axes, f"{at}/chart")
        case _:
            yield f"{at}/chart: is no chart"


def _axes(series: list[Any], axes: Json, at: str) -> Faults:
    labels = axes.get("categories")
    yield from _list(labels, f"{at}/categories", 20)
    yield from _list(series, f"{at}/series", 12)
    for key in ("x_label", "y_label"):
        yield from _if(axes, key, at, lambda v, p: _string(v, p, 50))
    names = [line.get("name") for line in series]
    if len(set(names)) != len(names) or len(set(labels or ())) != len(labels or ()):
        yield f"{at}: two of the same name"
    for index, line in enumerate(series):
        yield from _string(line.get("name"), f"{at}/series/{index}/name", 20)
        yield from _points(line.get("data"), f"{at}/series/{index}/data")
        if [point["label"] for point in line["data"]] != labels:
            yield f"{at}/series/{index}: not a value for each label"


def _points(points: Any, at: str) -> Faults:
    for index, point in enumerate(points):
        yield from _string(point.get("label"), f"{at}/{index}/label", 20)
        value = point.get("value")
        if not isinstance(value, int | float) or not math.isfinite(value):
            yield f"{at}/{index}/value: {value!r}"


# --- rich text ------------------------------------------------------------------------------

_STYLES = {"bold", "italic", "strike", "underline", "code"}
_INLINE: Mapping[str, tuple[set[str], set[str]]] = {
    "text": ({"text"}, set()),
    "link": ({"url"}, {"text"}),
    "emoji": ({"name"}, set()),
    "date": ({"timestamp", "format"}, {"fallback", "url"}),
}


def _rich_text(block: Any, at: str) -> Faults:
    yield from _keys(block, at, {"elements"}, set())
    yield from _list(block.get("elements"), f"{at}/elements", 10**6)
    yield from _each(block.get("elements"), f"{at}/elements", _rich_element)


def _rich_element(element: Any, at: str) -> Faults:
    elements = f"{at}/elements"
    match element:
        case {"type": "rich_text_section"}:
            yield from _keys(element, at, {"elements"}, set())
            yield from _each(element["elements"], elements, _inline)
        case {"type": "rich_text_quote"}:
            yield from _keys(element, at, {"elements"}, {"border"})
            yield from _each(element["elements"], elements, _inline)
        case {"type": "rich_text_preformatted"}:
            yield from _keys(element, at, {"elements"}, {"border", "language"})
            yield from _each(element["elements"], elements, _inline)
        case {"type": "rich_text_list", "style": "bullet" | "ordered"}:
            yield from _keys(element, at, {"elements", "style"}, {"indent", "offset", "border"})
            if not 0 <= element.get("indent", 0) <= 8 or element.get("offset", 1) < 0:
                yield f"{at}: stands in too far"
            yield from _each(element["elements"], elements, _item)
        case _:
            yield f"{at}: is no element of rich text"
    yield from _list(element.get("elements"), elements, 10**6)


def _item(element: Any, at: str) -> Faults:
    if element.get("type") != "rich_text_section":
        yield f"{at}: is no section"
    yield from _rich_element(element, at)


def _inline(element: Any, at: str) -> Faults:
    kind = element.get("type")
    if kind not in _INLINE:
        yield f"{at}: no {kind!r} here"
        return
    needed, allowed = _INLINE[kind]
    yield from _keys(element, at, needed, allowed | {"style"})
    if not set(element.get("style", {})) <= _STYLES:
        yield f"{at}/style: {element['style']}"
    if "text" in element and not element["text"]:
        yield f"{at}/text: is empty"
    yield from _sound(str(element.get("text", "")), at)
    yield from _if(element, "url", at, _url)


# --- elements -------------------------------------------------------------------------------


def _element(element: Any, at: str, allowed: frozenset[str]) -> Faults:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in allowed:
        yield f"{at}: no {kind!r} may stand here"
        return
    if kind == "image":
        yield from _picture(element, at)
        return
    yield from _if(element, "placeholder", at, lambda v, p: _plain(v, p, 150))
    yield from _if(element, "confirm", at, _confirm)
    yield from _ELEMENTS[kind](element, at)


_COMMON = {"action_id", "confirm"}
_MENU = _COMMON | {"placeholder"}


def _button(element: Json, at: str) -> Faults:
    yield from _keys(
        element, at, {"text"}, _COMMON | {"url", "value", "style", "accessibility_label"}
    )
    yield from _plain(element.get("text"), f"{at}/text", 75)
    yield from _if(element, "url", at, _url)
    yield from _if(element, "value", at, lambda v, p: _string(v, p, 2_000))
    yield from _if(element, "accessibility_label", at, lambda v, p: _string(v, p, 75))
    if element.get("style", "primary") not in ("primary", "danger"):
        yield f"{at}/style: {element['style']!r}"


def _confirm(value: Any, at: str) -> Faults:
    yield from _keys(value, at, {"title", "text", "confirm", "deny"}, {"style"})
    yield from _plain(value.get("title"), f"{at}/title", 100)
    yield from _text(value.get("text"), f"{at}/text", 300)
    yield from _plain(value.get("confirm"), f"{at}/confirm", 30)
    yield from _plain(value.get("deny"), f"{at}/deny", 30)


def _option(value: Any, at: str, extra: frozenset[str] = frozenset()) -> Faults:
    yield from _keys(value, at, {"text", "value"}, {"description", *extra})
    yield from _text(value.get("text"), f"{at}/text", 75)
    yield from _string(value.get("value"), f"{at}/value", 150)
    yield from _if(value, "description", at, lambda v, p: _plain(v, p, 75))
    yield from _if(value, "url", at, _url)


def _boxes(element: Json, at: str) -> Faults:
    chosen = "initial_options" if element["type"] == "checkboxes" else "initial_option"
    yield from _keys(element, at, {"options"}, _COMMON | {chosen})
    yield from _list(element.get("options"), f"{at}/options", 10)
    yield from _offered(element, element["options"], at)


def _overflow(element: Json, at: str) -> Faults:
    yield from _keys(element, at, {"options"}, _COMMON)
    yield from _list(element.get("options"), f"{at}/options", 5)
    url = frozenset(("url",))
    yield from _each(element["options"], f"{at}/options", lambda v, p: _option(v, p, url))


def _menu(element: Json, at: str) -> Faults:
    many = {"initial_options", "max_selected_items"}
    chosen = many if element["type"].startswith("multi") else {"initial_option"}
    yield from _keys(element, at, set(), _MENU | chosen | {"options", "option_groups"})
    if ("options" in element) is ("option_groups" in element):
        yield f"{at}: needs options or groups"
    options = element.get("options", [])
    yield from _if(element, "options", at, lambda v, p: _list(v, p, 100))
    groups = element.get("option_groups", [])
    yield from _if(element, "option_groups", at, lambda v, p: _list(v, p, 100))
    for index, group in enumerate(groups):
        place = f"{at}/option_groups/{index}"
        yield from _keys(group, place, {"label", "options"}, set())
        yield from _plain(group.get("label"), f"{place}/label", 75)
        yield from _list(group.get("options"), f"{place}/options", 100)
    all_options = [*options, *(option for group in groups for option in group.get("options", []))]
    yield from _offered(element, all_options, at)
    maximum = element.get("max_selected_items", 100)
    if maximum < max(1, len(element.get("initial_options", []))):
        yield f"{at}: more are chosen than may be"


def _offered(element: Json, options: list[Any], at: str) -> Faults:
    yield from _each(options, f"{at}/options", _option)
    values = [option.get("value") for option in options]
    if len(set(values)) != len(values):
        yield f"{at}: two options of the same value"
    chosen = element.get("initial_options", [element.get("initial_option")])
    if not chosen or any(option is not None and option not in options for option in chosen):
        yield f"{at}: what is chosen is not offered"


def _external(element: Json, at: str) -> Faults:
    many = {"initial_options", "max_selected_items"}
    chosen = many if element["type"].startswith("multi") else {"initial_option"}
    yield from _keys(element, at, set(), _MENU | chosen | {"min_query_length"})
    yield from _each(element.get("initial_options", []), at, _option)
    yield from _if(element, "initial_option", at, _option)


def _picker(element: Json, at: str) -> Faults:
    name = element["type"].removeprefix("multi_").removesuffix("s_select")
    chosen = {f"initial_{name}s", "max_selected_items"}
    single = {f"initial_{name}"}
    members = _MENU | (chosen if element["type"].startswith("multi") else single)
    if name == "conversation":
        members |= {"default_to_current_conversation", "filter"}
        yield from _if(element, "filter", at, _filter)
    yield from _keys(element, at, set(), members)
    values = element.get(f"initial_{name}s", [element.get(f"initial_{name}", "U000000")])
    if not values or not all(re.fullmatch(r"[A-Z][A-Z0-9]{5,}", value) for value in values):
        yield f"{at}: ids of Slack alone"


def _filter(value: Any, at: str) -> Faults:
    kinds = value.get("include", ["im"])
    flags = {"exclude_bot_users", "exclude_external_shared_channels"}
    yield from _keys(value, at, set(), {"include", *flags})
    if not value or not kinds or not set(kinds) <= {"im", "mpim", "private", "public"}:
        yield f"{at}: {value}"


def _date(element: Json, at: str) -> Faults:
    key, form = {
        "datepicker": ("initial_date", r"\d{4}-\d\d-\d\d"),
        "timepicker": ("initial_time", r"[0-2]\d:[0-5]\d"),
        "datetimepicker": ("initial_date_time", r"\d{10}"),
    }[element["type"]]
    placeholder = set[str]() if element["type"] == "datetimepicker" else {"placeholder"}
    yield from _keys(element, at, set(), _COMMON | placeholder | {key})
    if key in element and not re.fullmatch(form, str(element[key])):
        yield f"{at}/{key}: {element[key]!r}"
    if element["type"] == "datetimepicker" and not isinstance(element.get(key, 1), int):
        yield f"{at}/{key}: is no number"


def _written(element: Json, at: str) -> Faults:
    members = {"action_id", "placeholder", "initial_value", "multiline", "min_length", "max_length"}
    yield from _keys(element, at, set(), members | {"dispatch_action_config"})
    minimum, maximum = element.get("min_length", 0), element.get("max_length", 3_000)
    if not 0 <= minimum <= maximum <= 3_000 or maximum < 1:
        yield f"{at}: {minimum} to {maximum} characters"
    yield from _if(element, "initial_value", at, lambda v, p: _string(v, p, maximum))


_ELEMENTS: Mapping[str, Callable[[Json, str], Faults]] = {
    "button": _button,
    "overflow": _overflow,
    "checkboxes": _boxes,
    "radio_buttons": _boxes,
    "static_select": _menu,
    "multi_static_select": _menu,
    "external_select": _external,
    "multi_external_select": _external,
    **{
        f"{many}{name}s_select": _picker
        for many in ("", "multi_")
        for name in ("user", "conversation", "channel")
    },
    "datepicker": _date,
    "timepicker": _date,
    "datetimepicker": _date,
    "plain_text_input": _written,
}
_BLOCKS: Mapping[str, Callable[[Json, str], Faults]] = {
    "section": _section,
    "header": _header,
    "divider": _divider,
    "image": _image,
    "context": _context,
    "context_actions": _context_actions,
    "actions": _actions,
    "input": _input,
    "rich_text": _rich_text,
    "markdown": _markdown,
    "container": _container,
    "card": _card,
    "carousel": _carousel,
    "task_card": _task_card,
    "plan": _plan,
    "table": _table,
    "data_visualization": _chart,
}
_IN_MESSAGE = frozenset(_BLOCKS)
_IN_ATTACHMENT = IN_CONTAINER - {"file", "video"}
