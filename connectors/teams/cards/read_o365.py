"""Office 365 connector cards (MessageCard) -> containers. Their text is Markdown with some HTML.

Format: learn.microsoft.com, "Legacy actionable message card reference" (2023-05).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypedDict

from pydantic import JsonValue

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Choice,
    Container,
    DateInput,
    Divider,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Option,
    Prose,
    Section,
    TextInput,
)
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Document, Heading, Inline, Paragraph, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.teams.cards.json_values import (
    Json,
    choice_of,
    flag,
    items,
    objects,
    string,
    whole,
)
from connectors.teams.cards.read_mentions import Mentions
from connectors.teams.cards.read_message_text import marked_message, plain_message

Line = tuple[Inline, ...]
_COLOR = re.compile(r"#?([0-9a-fA-F]{6})")
_SHORT = 60
_DEEPEST = 3  # levels of action cards


def read_connector_card(card: Json, at: str) -> list[Node]:
    """Return the card with its colour and its sections."""
    nodes = _text(card, "text", at)
    for index, section in enumerate(objects(card, "sections")):
        nodes += _section(section, f"{at}/sections/{index}", first=not nodes)
    nodes += _actions(card, at)
    title = _line(card, "title", at)
    color = _COLOR.fullmatch(string(card, "themeColor").strip())
    if not nodes and not title:
        return []
    return [
        Container(
            tuple(nodes),
            form="card",
            title=title,
            color=int(color[1], 16) if color else None,
            at=at,
        )
    ]


# --- sections -------------------------------------------------------------------------------


def _section(section: Json, at: str, *, first: bool) -> list[Node]:
    nodes: list[Node] = []
    if flag(section, "startGroup") and not first:
        nodes.append(Divider(at=f"{at}/startGroup"))
    if title := _line(section, "title", at):
        nodes.append(Prose((Heading(4, title),), at=f"{at}/title"))
    nodes += _picture(section.get("heroImage"), f"{at}/heroImage")
    nodes += _activity(section, at)
    nodes += _text(section, "text", at)
    nodes += _facts(section, at)
    pictures = [
        image
        for index, picture in enumerate(items(section, "images"))
        for image in _picture(picture, f"{at}/images/{index}")
    ]
    nodes += [Gallery(tuple(pictures), at=f"{at}/images")] if len(pictures) > 1 else pictures
    return nodes + _actions(section, at)


def _activity(section: Json, at: str) -> list[Node]:
    """Return an activity with its picture."""
    texts: list[Node] = []
    if title := _line(section, "activityTitle", at):
        texts.append(Prose((Paragraph((Strong(title),)),), at=f"{at}/activityTitle"))
    if subtitle := _line(section, "activitySubtitle", at):
        texts.append(Prose((Paragraph(subtitle),), subtle=True, at=f"{at}/activitySubtitle"))
    texts += _text(section, "activityText", at)
    url = string(section, "activityImage")
    if not url:
        return texts
    is_person = choice_of(section, "activityImageType") != "article"
    picture = Image(Asset(url=url), size="small", round=is_person, at=f"{at}/activityImage")
    if all(isinstance(node, Prose) for node in texts) and texts:
        return [Section(tuple(texts), picture, leading=True, at=at)]
    return [picture, *texts]


def _facts(section: Json, at: str) -> list[Node]:
    facts: list[LabelledValue] = []
    for index, fact in enumerate(objects(section, "facts")):
        place = f"{at}/facts/{index}"
        name = string(fact, "name") or string(fact, "title")
        label = blocks_as_line(_document(name, section, place))
        value = _document(string(fact, "value"), section, place)
        if label or value:
            is_short = len(string(fact, "value")) <= _SHORT
            facts.append(LabelledValue(label, value, is_short, at=place))
    return [Fields(tuple(facts), at=f"{at}/facts")] if facts else []


def _picture(value: JsonValue, at: str) -> list[Image]:
    if not isinstance(value, dict):
        return []
    url = string(value, "image") or string(value, "url")
    alt = string(value, "title") or string(value, "alt")
    return [Image(Asset(url=url, alt=alt), at=at)] if url or alt else []


def _text(holder: Json, key: str, at: str) -> list[Node]:
    text = string(holder, key)
    if not flag(holder, "markdown", default=True) and "<" not in text:
        return plain_message(text, Mentions(), f"{at}/{key}")
    return marked_message(text, Mentions(), f"{at}/{key}")


def _document(text: str, holder: Json, at: str) -> Document:
    nodes = _text({"markdown": holder.get("markdown"), "text": text}, "text", at)
    proses = (
        degrade.image_as_prose(node, "") if isinstance(node, Image) else node for node in nodes
    )
    return tuple(block for prose in proses if isinstance(prose, Prose) for block in prose.text)


def _line(holder: Json, key: str, at: str) -> Line:
    return blocks_as_line(_document(string(holder, key), holder, f"{at}/{key}"))


# --- actions --------------------------------------------------------------------------------


def _actions(holder: Json, at: str) -> list[Node]:
    return _row(items(holder, "potentialAction"), f"{at}/potentialAction", depth=0)


def _row(several: list[JsonValue], at: str, depth: int) -> list[Node]:
    buttons = [
        _button(action, f"{at}/{index}", depth)
        for index, action in enumerate(several)
        if isinstance(action, dict)
    ]
    return [Actions(tuple(buttons), at=at)] if buttons else []


def _button(action: Json, at: str, depth: int) -> Button:
    label: Line = (Text(name),) if (name := string(action, "name").strip()) else (Text("Open"),)
    own_id = string(action, "@id")
    match string(action, "@type"):
        case "OpenUri" | "ViewAction" if url := _target(action):
            return Button(label, does="open", id=own_id, url=url, at=at)
        case "ActionCard":
            nodes = _action_card(action, at, depth) if depth < _DEEPEST else list(_flat(action, at))
            return Button(label, does="reveal", id=own_id, nodes=tuple(nodes), at=at)
        case _:
            does: Literal["press", "submit"] = "submit" if depth else "press"
            return Button(label, does=does, id=own_id, value=_press_data(action), at=at)


def _action_card(action: Json, at: str, depth: int) -> list[Node]:
    """Return the inputs and actions of an action card."""
    inner = _row(items(action, "actions"), f"{at}/actions", depth + 1)
    return [*_inputs(action, at), *inner]


def _flat(action: Json, at: str) -> Iterator[Node]:
    """Yield the contents of deeply nested action cards in sequence, without recursion."""
    waiting = [action]
    while waiting:
        card = waiting.pop()
        yield from _inputs(card, at)
        inner = objects(card, "actions")
        yield from _row([{**each, "@type": "", "actions": None} for each in inner], at, 1)
        waiting += reversed(inner)


def _target(action: Json) -> str:
    """Return the first safe address, preferably for any system; otherwise the first address, which
    writers name in a loss."""
    targets = objects(action, "targets")
    chosen = [uri for uri in targets if choice_of(uri, "os") in ("default", "")]
    urls = [string(uri, "uri") for uri in (*chosen, *targets)]
    target = action.get("target")
    urls += [
        address
        for address in (target if isinstance(target, list) else [target])
        if isinstance(address, str)
    ]
    return next((safe for url in urls if (safe := safe_url(url))), next(filter(None, urls), ""))


def _press_data(action: Json) -> JsonValue:
    """Return the target and the body of a press."""
    unsent = ("name", "@context", "@id", "inputs", "actions")
    return {key: value for key, value in action.items() if key not in unsent}


# --- inputs ---------------------------------------------------------------------------------


class _Common(TypedDict):
    at: str
    id: str
    label: Line
    required: bool


def _inputs(action: Json, at: str) -> list[Node]:
    inputs: list[Node] = []
    for index, item in enumerate(objects(action, "inputs")):
        inputs.append(_input(item, f"{at}/inputs/{index}"))
    return inputs


def _input(item: Json, at: str) -> Node:
    title = string(item, "title").strip()
    common: _Common = {
        "at": at,
        "id": string(item, "id"),
        "label": (Text(title),) if title else (),
        "required": flag(item, "isRequired"),
    }
    value = string(item, "value")
    match string(item, "@type"):
        case "DateInput":
            of: Literal["date", "datetime"] = "datetime" if flag(item, "includeTime") else "date"
            return DateInput(**common, of=of, value=value)
        case "MultichoiceInput":
            many = flag(item, "isMultiSelect")
            form: Literal["menu", "list"] = (
                "list" if choice_of(item, "style") == "expanded" else "menu"
            )
            chosen = tuple(choice.strip() for choice in value.split(",")) if many else (value,)
            values = tuple(choice for choice in chosen if choice)
            return Choice(**common, options=_options(item, at), values=values, many=many, form=form)
        case _:
            lines = flag(item, "isMultiline")
            maximum = whole(item, "maxLength")
            return TextInput(**common, value=value, multiline=lines, max=maximum)


def _options(item: Json, at: str) -> tuple[Option, ...]:
    options: list[Option] = []
    for index, choice in enumerate(objects(item, "choices")):
        label, value = string(choice, "display") or string(choice, "name"), string(choice, "value")
        if label or value:
            place = f"{at}/choices/{index}"
            options.append(Option((Text(label or value),), value or label, at=place))
    return tuple(options)
