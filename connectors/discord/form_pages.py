"""A form with more inputs than a Discord modal may have -> several pages. Pure.

Discord does not open a modal in answer to a modal, so each page is answered with a private message
whose button opens the next page. That message holds the values entered so far; Discord sends it
with each press and each modal opened from it, so the bridge stores nothing between pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import FileInput, Form, Input, Node, TextInput
from connectors.discord.cards import limits, token_of, write_form
from connectors.discord.cards.read_words import BLANK
from connectors.discord.cards.schemas import ACTION_ROW, BUTTON, TEXT_INPUT
from connectors.discord.cards.write_inputs import with_room

Json = dict[str, Any]

_ROOM = 5000  # characters carried between pages, of the 6,000 that a message's embeds may have
_VALUES_IN_EMBED = 25  # an embed has at most 25 fields
_ON, _OFF = "☑", "☐"
_PLACE = "https://discord.com/#"  # an embed without a title does not show its address
_TEXT, _LIST, _BOX = "t", "l", "b"
_STEP = re.compile(r"([^#]*)#(form|next)(\d)-(\d):(\d{1,20})")
_TOO_MUCH = "That is more than fits between the pages of this form. Please open it again."


@dataclass(frozen=True, slots=True)
class Step:
    """One page of a form, as encoded in the custom id of a modal or of the button that opens it."""

    token: str
    page: int
    pages: int
    target: str
    opens: bool

    @property
    def custom_id(self) -> str:
        does = "next" if self.opens else "form"
        return f"{self.token}#{does}{self.page}-{self.pages}:{self.target}"

    @property
    def is_last(self) -> bool:
        return not self.opens and self.page == self.pages


def step_of(custom_id: str) -> Step | None:
    """Return the page that a custom id encodes; None if it belongs to no form of several pages."""
    match = _STEP.fullmatch(custom_id)
    if match is None:
        return None
    token, does, page, pages, target = match.groups()
    return Step(token, int(page), int(pages), target, does == "next")


# --- pages ----------------------------------------------------------------------------------


def form_pages(
    nodes: Sequence[Node], title: str, token: str, target: str, of: Callable[[str], str]
) -> list[Json]:
    """Return the modals of a form, one for each page.

    Texts stand above the inputs. Long texts and files come last, because pages do not carry them
    on. With more inputs than the pages can hold, required inputs take precedence. `of` returns the
    token of a path.
    """
    pages = _written(sorted(nodes, key=_comes_last), title, of)
    last = Step(token, limits.FORM_PAGES, limits.FORM_PAGES, target, opens=False)
    max_pages = limits.FORM_PAGES if len(last.custom_id) <= limits.CUSTOM_ID and target else 1
    if len(pages) > max_pages:
        inputs = [node for node in nodes if isinstance(node, Input)]
        pages = _written(sorted(with_room(inputs, max_pages), key=_comes_last), title, of)[
            :max_pages
        ]
    if len(pages) == 1:
        return [{**pages[0], "custom_id": token}]
    for page in pages[:-1]:
        _limit(page, _ROOM // (limits.MODAL * (len(pages) - 1)))
    steps = (Step(token, n, len(pages), target, opens=False) for n in range(1, len(pages) + 1))
    return [{**page, "custom_id": step.custom_id} for page, step in zip(pages, steps, strict=True)]


def _comes_last(node: Node) -> bool:
    return isinstance(node, FileInput) or (
        isinstance(node, TextInput) and (node.multiline or len(node.value) > limits.FIELD_NAME)
    )


def _written(nodes: Sequence[Node], title: str, of: Callable[[str], str]) -> list[Json]:
    written = write_form(Form(title, tuple(nodes)), Rendering(token=of))
    return [dict(message.body) for message in written.messages]


def _limit(page: Json, room: int) -> None:
    """Limit the length of the page's text inputs: the next pages carry their values."""
    for component in _input_components(page):
        if component["type"] == TEXT_INPUT:
            longest = min(component.get("max_length", room), room, limits.FIELD_VALUE)
            component["max_length"] = longest
            if "min_length" in component:
                component["min_length"] = min(component["min_length"], longest)
            if "value" in component:
                component["value"] = component["value"][:longest]


def _input_components(page: Json) -> Iterator[Json]:
    """Yield the page's inputs; its other components are texts."""
    return (component["component"] for component in page["components"] if "component" in component)


# --- between pages --------------------------------------------------------------------------


def after_page(step: Step, data: Json, pages: Sequence[Json]) -> Json:
    """Return the private message after a submitted page: the values so far and a button."""
    labels = {
        token_of(str(label["component"]["custom_id"])): str(label["label"])
        for page in pages
        for label in page["components"]
        if "component" in label
    }
    entries = [*_carried_entries(data), *_entries(filled_in(data))]
    fields = [
        {"name": labels.get(token, BLANK), "value": text or BLANK} for _, token, text in entries
    ]
    size = sum(len(field["name"]) + len(field["value"]) for field in fields)
    if size > limits.EMBED_TOTAL - 100 or len(fields) > limits.FIELDS * limits.EMBEDS:
        return {"content": _TOO_MUCH, "embeds": [], "components": []}
    runs = [
        range(at, min(at + _VALUES_IN_EMBED, len(fields)))
        for at in range(0, len(fields), _VALUES_IN_EMBED)
    ]
    embeds = [
        {"url": _PLACE + ".".join("".join(entries[n][:2]) for n in run),
         "fields": [fields[n] for n in run]}
        for run in runs
    ]  # fmt: skip
    number = step.page + 1
    button = Step(step.token, number, step.pages, step.target, opens=True)
    row = {
        "type": BUTTON, "style": 1, "label": f"Next ({number}/{step.pages})",
        "custom_id": button.custom_id,
    }  # fmt: skip
    return {
        "content": f"Page {step.page} of {step.pages} is filled in.",
        "embeds": embeds,
        "components": [{"type": ACTION_ROW, "components": [row]}],
    }


def filled_in(data: Json) -> dict[str, JsonValue]:
    """Return the values of a submitted form by input token; menus with one token are merged."""
    values: dict[str, JsonValue] = {}
    for token, value in _answers(_object(data.get("data")).get("components")):
        earlier = values.get(token)
        if isinstance(earlier, list) and isinstance(value, list):
            values[token] = [*earlier, *value]
        else:
            values[token] = value
    return values


def carried_values(data: Json) -> dict[str, JsonValue]:
    """Return the values of the pages before this one, by input token."""
    values: dict[str, JsonValue] = {}
    for kind, token, text in _carried_entries(data):
        if kind == _LIST:
            earlier = values.get(token)
            lines: list[JsonValue] = list(text.split("\n")) if text else []
            values[token] = [*(earlier if isinstance(earlier, list) else ()), *lines]
        else:
            values[token] = text == _ON if kind == _BOX else text
    return values


def _entries(values: dict[str, JsonValue]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, token and text of each value; long lists take several entries."""
    for token, value in values.items():
        if isinstance(value, bool):
            yield _BOX, token, _ON if value else _OFF
        elif isinstance(value, list):
            chunk = ""
            for item in map(str, value):
                if chunk and len(chunk) + len(item) + 1 > limits.FIELD_VALUE:
                    yield _LIST, token, chunk
                    chunk = ""
                chunk += "\n" * bool(chunk) + item
            yield _LIST, token, chunk
        else:
            yield _TEXT, token, str(value).strip()


def _carried_entries(data: Json) -> Iterator[tuple[str, str, str]]:
    """Yield the entries in the private message from which the form was opened."""
    step = step_of(str(_object(data.get("data")).get("custom_id")))
    embeds = _object(data.get("message")).get("embeds")
    if step is None or step.page == 1 or not isinstance(embeds, list):
        return
    for embed in map(_object, embeds):
        names = str(embed.get("url") or "").removeprefix(_PLACE).split(".")
        fields = embed.get("fields")
        for name, field in zip(names, fields if isinstance(fields, list) else (), strict=False):
            value = str(_object(field).get("value") or "")
            yield name[:1], name[1:], "" if value == BLANK else value


def _answers(components: object) -> Iterator[tuple[str, JsonValue]]:
    stack: list[object] = [components]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, dict):
            if "custom_id" in item and ("value" in item or "values" in item):
                value = item["values"] if "values" in item else item["value"]
                yield token_of(str(item["custom_id"])), _plain(value)
            stack.extend(item.get(name) for name in ("component", "components"))


def _plain(value: object) -> JsonValue:
    if isinstance(value, list):
        return [str(item) for item in value]
    if value is None:  # no option is chosen
        return ""
    return value if isinstance(value, bool | str) else str(value)


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
