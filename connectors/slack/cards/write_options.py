"""Options of a choice -> Slack options in menus, boxes and groups, within their limits."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

from bridge.content.cards.tree import Choice, Option
from bridge.content.text.tree import Inline, Text
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import (
    BOXES,
    OPTION_GROUPS,
    OPTION_TEXT,
    OPTION_VALUE,
    OPTIONS,
    OVERFLOW,
    URL,
)
from connectors.slack.cards.write_pieces import Json, Writing
from connectors.slack.cards.write_size import is_small, size_of
from connectors.slack.cards.write_texts import (
    labelled,
    length,
    one_line,
    plain,
    shortened,
    words,
)

Line = tuple[Inline, ...]

_MENU_CHARACTERS = 5_000
_NAMELESS = "…"


class Written(NamedTuple):
    """An option, its group, and whether it is preselected."""

    option: Json
    group: str
    chosen: bool


def option_values(options: Sequence[Option]) -> list[str]:
    """The value that Slack returns for each option: its own, or a digest for a value that Slack
    refuses (too long, empty, duplicate).

    Equal options always give equal values.
    """
    used_values: set[str] = set()
    values: list[str] = []
    for index, option in enumerate(options):
        value = option.value
        if value in used_values or not _is_taken(value):
            digest = sha256(f"{index}\0{value}".encode("utf-8", "replace")).digest()
            value = f"#{urlsafe_b64encode(digest[:15]).decode()}"
        used_values.add(value)
        values.append(value)
    return values


def _is_taken(value: str) -> bool:
    return bool(value.strip()) and length(value) <= OPTION_VALUE and value.isprintable()


def menus(writing: Writing, node: Choice) -> list[Json]:
    """The element without its action_id; several when one cannot have all options. Only menus have
    groups."""
    written = _options(writing, node)
    if _is_overflow(node):
        return [{"type": "overflow", "options": [option.option for option in written]}]
    for option in written:
        if url := option.option.pop("url", ""):
            writing.lose(node.at, "link", url, "its words")
    if node.external:
        return [_external(writing, node, written)]
    if node.form == "list" and _is_plain(node) and len(written) <= BOXES:
        return [_boxes(writing, node, written)]
    parts = list(_parts(written))
    if len(parts) > 1:
        lost_text = f"one menu of {len(written)} options"
        writing.lose(node.at, "options_split", lost_text, f"{len(parts)} menus")
    return [_menu(node, part) for part in parts]


def _is_plain(node: Choice) -> bool:
    return not node.external and not any(
        option.group and one_line(option.group) for option in node.options
    )


def _is_overflow(node: Choice) -> bool:
    return node.form == "overflow" and _is_plain(node) and len(node.options) <= OVERFLOW


# --- options --------------------------------------------------------------------------------


def _options(writing: Writing, node: Choice) -> list[Written]:
    chosen, values = _chosen_ones(writing, node), option_values(node.options)
    return [
        Written(
            _option(writing, option, value, node.at),
            _group_name(writing, option, node.at),
            index in chosen,
        )
        for index, (option, value) in enumerate(zip(node.options, values, strict=True))
    ]


def _group_name(writing: Writing, option: Option, at: str) -> str:
    if not option.group:
        return ""
    name = one_line(option.group)
    return shortened(writing, name, OPTION_TEXT, option.at or at, "long_text")


def _chosen_ones(writing: Writing, node: Choice) -> set[int]:
    """The indexes of the preselected options, as many as Slack allows."""
    if not node.values:
        return set()
    values = set(node.values)
    chosen_indexes = [index for index, option in enumerate(node.options) if option.value in values]
    maximum = _max_chosen(node)
    for index in chosen_indexes[maximum:]:
        option = node.options[index]
        label = words(option.label) or one_line(option.value)
        writing.lose(option.at or node.at, "chosen", label, "an option that is not chosen")
    return set(chosen_indexes[:maximum])


def _max_chosen(node: Choice) -> int:
    if _is_overflow(node):
        return 0
    if not node.many:
        return 1
    return node.max if node.max is not None and node.max > 0 else len(node.options)


def _option(writing: Writing, option: Option, value: str, at: str) -> Json:
    at = option.at or at
    line: Line = (Text(f"{option.emoji} "), *option.label) if option.emoji else option.label
    text = labelled(writing, line, OPTION_TEXT, at, "long_text")
    body: Json = {"text": text or plain(_NAMELESS), "value": value}
    if description := labelled(writing, option.description, OPTION_TEXT, at, "long_text"):
        body["description"] = description
    if option.url:
        url = safe_url(option.url)
        if url and len(url) <= URL:
            body["url"] = url
        else:
            writing.lose(at, "long_url" if url else "unsafe_url", option.url, "its words")
    return body


# --- elements -------------------------------------------------------------------------------


def _external(writing: Writing, node: Choice, written: Sequence[Written]) -> Json:
    """An external menu: its author supplies the options, so only the preselected ones
    are written."""
    for option, written_option in zip(node.options, written, strict=True):
        texts = (
            [option.group]
            if written_option.chosen
            else [option.group, words(option.label), words(option.description)]
        )
        if any(texts):
            writing.lose(option.at or node.at, "option", "\n".join(text for text in texts if text))
    kind = "multi_external_select" if node.many else "external_select"
    element: Json = {"type": kind, "min_query_length": 1}
    return element | _chosen(written, many=node.many) | _maximum(node)


def _boxes(writing: Writing, node: Choice, written: Sequence[Written]) -> Json:
    if (maximum := _maximum(node).get("max_selected_items", len(written))) < len(written):
        writing.lose(node.at, "input_rule", f"at most {maximum}")
    kind = "checkboxes" if node.many else "radio_buttons"
    options = [option.option for option in written]
    return {"type": kind, "options": options, **_chosen(written, many=node.many)}


def _menu(node: Choice, written: Sequence[Written]) -> Json:
    kind = "multi_static_select" if node.many else "static_select"
    body: Json = (
        {"option_groups": [_group(name, members) for name, members in _groups(written)]}
        if _is_grouped(written)
        else {"options": [option.option for option in written]}
    )
    return {"type": kind, **body, **_chosen(written, many=node.many), **_maximum(node)}


def _maximum(node: Choice) -> Json:
    fits = node.many and node.max is not None and node.max > 0
    return {"max_selected_items": node.max} if fits else {}


def _chosen(written: Iterable[Written], *, many: bool) -> Json:
    chosen = [option.option for option in written if option.chosen]
    if not chosen:
        return {}
    return {"initial_options": chosen} if many else {"initial_option": chosen[0]}


# --- groups ---------------------------------------------------------------------------------


def _is_grouped(written: Sequence[Written]) -> bool:
    return len(written) > OPTIONS or any(option.group for option in written)


def _groups(written: Sequence[Written]) -> Iterator[tuple[str, list[Written]]]:
    """Adjacent options of a group, a hundred at most; unnamed groups get numbers."""
    first = 1
    for name, members in groupby(written, lambda option: option.group):
        several = list(members)
        for start in range(0, len(several), OPTIONS):
            part = several[start : start + OPTIONS]
            label = name if name and start == 0 else f"{first}–{first + len(part) - 1}"
            yield label, part
            first += len(part)


def _group(name: str, members: Sequence[Written]) -> Json:
    return {"label": plain(name), "options": [member.option for member in members]}


def _parts(written: Sequence[Written]) -> Iterator[list[Written]]:
    """Parts of as many options as one menu can have."""
    if len(written) <= OPTIONS and is_small(
        [option.option for option in written], _MENU_CHARACTERS
    ):
        yield list(written)
        return
    part: list[Written] = []
    used = groups = 0
    for option in written:
        size = size_of(option.option) + 10
        is_new = not part or part[-1].group != option.group or len(part) % OPTIONS == 0
        if part and (used + size > _MENU_CHARACTERS or groups + is_new > OPTION_GROUPS):
            yield part
            part, used, groups = [], 0, 0
            is_new = True
        part.append(option)
        used += size
        groups += is_new
    if part:
        yield part
