"""Elements -> as many cards as needed, each within the size limit.

It divides between elements, then between items, rows and facts, and texts between paragraphs, lines
and sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import orjson

from bridge.content.text.graphemes import cluster_start
from bridge.content.text.split import split_text, utf16_length
from connectors.teams.cards.write_presses import action_set
from connectors.teams.cards.write_runs import escape
from connectors.teams.cards.write_state import Element, Writing
from connectors.teams.cards.write_text import code_block, text_block, without_header

_SHELL = 200  # bytes; an upper bound for the JSON around divided items
_MIN_BOX_ROOM = 16_000  # bytes; a box with less room for its items is removed


def weigh(value: object) -> int:
    """Return the bytes of the JSON in UTF-16, as the service counts."""
    return _weight(orjson.dumps(value))


def _weight(data: bytes) -> int:
    return 2 * (len(data) if data.isascii() else utf16_length(data.decode()))


def with_weight(elements: list[Element]) -> tuple[list[Element], int]:
    """Return valid elements and their size; lone surrogates and too large numbers are replaced."""
    try:
        return elements, weigh(elements)
    except TypeError:
        elements = [_repair(element) for element in elements]
        return elements, weigh(elements)


def _repair(value: object) -> Element:
    text = _sound_value(value)
    return text if isinstance(text, dict) else {}


def _sound_value(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_sound_value(key): _sound_value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sound_value(inner) for inner in value]
    if isinstance(value, int) and abs(value) >= 2**63:
        return float(value) if abs(value) < 2**1000 else 0
    return value


# --- pages --------------------------------------------------------------------------------------


def paginate(writing: Writing, elements: Sequence[Element], room: int) -> list[list[Element]]:
    """Return bodies of cards of at most `room` bytes, in order; related elements stay together."""
    weights = [weigh(element) + 2 for element in elements]
    pages = _Pages(room)
    index = 0
    for end in _ends_of_groups(elements, weights, room):
        if sum(weights[index:end]) <= room:
            pages.add(elements[index:end], sum(weights[index:end]))
        else:
            for piece in divide(writing, elements[index], room):
                pages.add([piece], weigh(piece) + 2)
        index = end
    return pages.full


class _Pages:
    def __init__(self, room: int) -> None:
        self._room = room
        self._left = 0
        self.full: list[list[Element]] = []

    def add(self, several: Sequence[Element], weight: int) -> None:
        if weight > self._left:
            self.full.append([])
            self._left = self._room
        self.full[-1] += several
        self._left -= weight


def _ends_of_groups(
    elements: Sequence[Element], weights: Sequence[int], room: int
) -> Iterator[int]:
    """Yield the ends of groups. Elements that refer to each other (a button and its target, inputs
    and their button) are one group if it fits a card."""
    last_of = _spans(elements)
    index = 0
    while index < len(elements):
        end = stop = index
        weight = 0
        while end <= stop and weight <= room:
            weight += weights[end]
            stop = max(stop, last_of.get(end, end))
            end += 1
        index = end if weight <= room else index + 1
        yield index


def _spans(elements: Sequence[Element]) -> dict[int, int]:
    """Return for the first element of each relation the index of the last one."""
    first_of: dict[str, int] = {}
    last_of: dict[int, int] = {}
    for index, element in enumerate(elements):
        for key in _keys(element):
            first = first_of.setdefault(key, index)
            last_of[first] = max(index, last_of.get(first, first))
    return last_of


def _keys(element: Element) -> set[str]:
    """Return relation keys: `form` for inputs and their buttons, `#id` for targets."""
    ids: set[str] = set()
    for inner in objects_in(element):
        kind = str(inner.get("type"))
        if kind.startswith("Input.") or (
            kind == "Action.Execute" and inner.get("associatedInputs") != "none"
        ):
            ids.add("form")
        if kind == "Action.ToggleVisibility":
            ids.update(f"#{target_id(target)}" for target in inner["targetElements"])
        elif "id" in inner and not kind.startswith("Input."):
            ids.add(f"#{inner['id']}")
    return ids


def target_id(target: str | Element) -> str:
    return target if isinstance(target, str) else target["elementId"]


def objects_in(value: object, *, fallbacks: bool = False) -> Iterator[Element]:
    """Yield every object, without fallbacks or with them."""
    stack: list[object] = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            inner = part.items()
            stack += [value for name, value in inner if fallbacks or name != "fallback"][::-1]
        elif isinstance(part, list):
            stack += part[::-1]


# --- dividing -----------------------------------------------------------------------------------


def divide(writing: Writing, element: Element, room: int) -> list[Element]:
    """Return elements of at most `room` bytes with the same content, in order."""
    if weigh(element) <= room:
        return [element]
    divider = _DIVIDERS.get(element["type"])
    if divider is not None:
        return _with_line(element, divider(writing, element, room))
    if isinstance(fallback := element.get("fallback"), dict):
        writing.lose("", "element_too_large", element["type"], "elements that say the same")
        return _with_line(element, divide(writing, fallback, room))
    return _shorten(writing, element, room)


def _with_line(element: Element, pieces: list[Element]) -> list[Element]:
    for name in ("separator", "spacing"):
        if pieces and name in element:
            pieces[0] = {**pieces[0], name: element[name]}
    return pieces


def _pack(
    writing: Writing, items: Sequence[Element], room: int, *, divided: bool = True
) -> list[list[Element]]:
    """Return groups of items that fit; too large items are divided first."""
    groups: list[list[Element]] = []
    remaining = -1
    for item in items:
        for piece in divide(writing, item, room) if divided else [item]:
            weight = weigh(piece) + 2
            if weight > remaining:
                groups.append([])
                remaining = room
            groups[-1].append(piece)
            remaining -= weight
    return groups


def _container(writing: Writing, element: Element, room: int) -> list[Element]:
    """Divide a box; a too large hidden box becomes visible."""
    frame = {name: value for name, value in element.items() if name not in ("items", "separator")}
    if frame.pop("isVisible", True) is False:
        writing.lose("", "hidden_shown", element.get("id", ""), "what was hidden")
    inner = room - weigh(frame) - _SHELL
    if inner < _MIN_BOX_ROOM:
        writing.lose("", "box_opened", element["type"], "what it holds")
        return [piece for element in element["items"] for piece in divide(writing, element, room)]
    groups = _pack(writing, element["items"], inner)
    later_frame = {name: value for name, value in frame.items() if name != "id"}
    return [
        {**(later_frame if index else frame), "items": group} for index, group in enumerate(groups)
    ]


def _column_set(writing: Writing, element: Element, room: int) -> list[Element]:
    """Stack columns that do not fit side by side."""
    boxes: list[Element] = []
    for column in element["columns"]:
        box: Element = {"type": "Container", "items": column["items"]}
        for name in ("style", "selectAction"):
            if name in column:
                box[name] = column[name]
        boxes += divide(writing, box, room) if box["items"] else []
    writing.lose("", "columns_stacked", f"{len(element['columns'])} columns", "one column")
    return boxes


def _rows(writing: Writing, element: Element, room: int) -> list[Element]:
    frame = {name: value for name, value in element.items() if name not in ("rows", "separator")}
    inner = room - weigh(frame) - _SHELL
    pieces: list[Element] = []
    rows: list[Element] = []
    remaining = inner
    for row in element["rows"]:
        weight = weigh(row) + 2
        if rows and weight > remaining:
            pieces.append({**frame, "rows": rows})
            rows, remaining = [], inner
        if weight > inner:
            writing.lose("", "row_stacked", f"{len(row['cells'])} cells", "one below the other")
            pieces += [element for cell in row["cells"] for item in cell["items"]
                       for element in divide(writing, item, room)]  # fmt: skip
            continue
        rows.append(row)
        remaining -= weight
    pieces += [{**frame, "rows": rows}] if rows else []
    for piece in pieces[1:]:
        if piece["type"] == "Table":
            without_header(piece)
    return pieces


def _facts(writing: Writing, element: Element, room: int) -> list[Element]:
    pieces: list[Element] = []
    for group in _pack_facts(element["facts"], room):
        if len(group) == 1 and weigh(group[0]) > room - _SHELL:
            for text, look in ((group[0]["title"], {"weight": "bolder"}), (group[0]["value"], {})):
                pieces += divide(writing, text_block(text, look), room) if text else []
        else:
            pieces.append({"type": "FactSet", "facts": group})
    return pieces


def _pack_facts(facts: Sequence[Element], room: int) -> list[list[Element]]:
    groups: list[list[Element]] = []
    remaining = -1
    for fact in facts:
        weight = weigh(fact) + 2
        if weight > remaining:
            groups.append([])
            remaining = room - _SHELL
        groups[-1].append(fact)
        remaining -= weight
    return groups


def _images(writing: Writing, element: Element, room: int) -> list[Element]:
    frame = {name: value for name, value in element.items() if name not in ("images", "separator")}
    groups = _pack(writing, element["images"], room - weigh(frame) - _SHELL, divided=False)
    return [{**frame, "images": group} for group in groups]


def _actions(writing: Writing, element: Element, room: int) -> list[Element]:
    """Divide rows of buttons; a too large inner card is written open."""
    pieces: list[Element] = []
    for group in _pack(writing, element["actions"], room - _SHELL, divided=False):
        action = group[0]
        if len(group) == 1 and weigh(action) > room - _SHELL and "card" in action:
            writing.lose("", "reveal_opened", action["title"], "what it would show")
            if "tooltip" in action:
                writing.lose("", "hint_dropped", action["tooltip"])
            title = text_block(escape(action["title"], starts=True))
            for text in (title, *action["card"]["body"]):
                pieces += divide(writing, text, room)
        elif len(group) == 1 and weigh(action) > room - _SHELL and "fallback" in action:
            pieces += divide(writing, action_set([_without_fallback(action)]), room)
        else:
            pieces.append({**element, "actions": group})
    return [{k: v for k, v in piece.items() if k != "separator"} for piece in pieces]


def _without_fallback(action: Element) -> Element:
    return {name: value for name, value in action.items() if name != "fallback"}


# --- texts --------------------------------------------------------------------------------------


def _text(writing: Writing, element: Element, room: int) -> list[Element]:
    """Divide a text at paragraphs, lines, sentences or words; styles are closed and reopened."""
    frame = {name: value for name, value in element.items() if name not in ("text", "separator")}
    limit = max((room - weigh(frame) - 40) // 2, 20)
    texts = split_text(element["text"], limit, _written_length)
    return [{**frame, "text": text} for text in texts if text.strip()]


def _written_length(text: str) -> int:
    """Return the UTF-16 units of a string in JSON."""
    if text.isascii() and text.isprintable():
        return len(text) + text.count('"') + text.count("\\")
    return weigh(text) // 2


def _runs(writing: Writing, element: Element, room: int) -> list[Element]:
    frame = {name: value for name, value in element.items() if name not in ("inlines", "separator")}
    inner = room - weigh(frame) - _SHELL
    inlines = [piece for run in element["inlines"] for piece in _run(run, inner)]
    groups = _pack(writing, inlines, inner, divided=False)
    return [{**frame, "inlines": group} for group in groups]


def _run(run: Element, room: int) -> Iterator[Element]:
    frame = {name: value for name, value in run.items() if name != "text"}
    limit = max((room - weigh(frame) - 40) // 2, 20)
    return ({**frame, "text": text} for text in _plain_pieces(run["text"], limit))


def _plain_pieces(text: str, limit: int) -> Iterator[str]:
    """Yield pieces of a text without markup; joined they give the text."""
    start = 0
    while start < len(text):
        end = min(start + limit, len(text))
        while end > start + 1 and _written_length(text[start:end]) > limit:
            end = start + max(1, (end - start) * 2 // 3)
        if end < len(text):
            end = _good_end(text, start, end)
        yield text[start:end]
        start = end


def _good_end(text: str, start: int, end: int) -> int:
    lowest = start + (end - start) // 2
    for sign in ("\n", " "):
        if (position := text.rfind(sign, lowest, end)) >= 0:
            return position + 1
    return max(cluster_start(text, end, start), start + 1)


def _code(writing: Writing, element: Element, room: int) -> list[Element]:
    """Divide code at lines and continue the line numbers; the fallback repeats the code."""
    language, line = element["language"], element.get("startLineNumber", 1)
    limit = max((room - 700) // 4, 20)
    pieces: list[Element] = []
    for text in _plain_pieces(element["codeSnippet"], limit):
        for part in _fitting_code(text, language, line, room):
            pieces.append(part)
            line += part["codeSnippet"].count("\n") + 1
    return pieces


def _fitting_code(text: str, language: str, line: int, room: int) -> Iterator[Element]:
    stack = [text]
    while stack:
        part = stack.pop()
        block = code_block(part.removesuffix("\n"), language, line)
        if weigh(block) <= room or len(part) < 20:
            yield block
        else:
            middle = _good_end(part, 0, len(part) // 2)
            stack += [part[middle:], part[:middle]]


# --- shortening ---------------------------------------------------------------------------------


def _shorten(writing: Writing, element: Element, room: int) -> list[Element]:
    """Cut the longest texts of an indivisible element, which is a Loss."""
    for limit in (2000, 1000, 300, 100, 30):
        lost: list[str] = []
        element = _cut(element, limit, lost)
        for text in lost:
            writing.lose("", "text_cut", text, "its beginning")
        if weigh(element) <= room:
            return [element]
    lost = []
    _cut(element, 0, lost)
    writing.lose("", "element_dropped", " / ".join(lost))
    return []


def _cut(value: Element, limit: int, lost: list[str]) -> Element:
    return {name: _cut_value(inner, limit, lost) for name, inner in value.items()}


def _cut_value(value: object, limit: int, lost: list[str]) -> object:
    if isinstance(value, str) and len(value) > limit:
        lost.append(value[limit:])
        return value[:limit]
    if isinstance(value, dict):
        return _cut(value, limit, lost)
    return [_cut_value(inner, limit, lost) for inner in value] if isinstance(value, list) else value


_DIVIDERS: dict[str, Callable[[Writing, Element, int], list[Element]]] = {
    "Container": _container,
    "ColumnSet": _column_set,
    "Table": _rows,
    "FactSet": _facts,
    "ImageSet": _images,
    "ActionSet": _actions,
    "TextBlock": _text,
    "RichTextBlock": _runs,
    "CodeBlock": _code,
}
