"""The card tree: the content and inputs of a rich message, for any platform. Pure values.

In Python, text is the text tree; in JSON (`bridge.content.cards.json`) it is UACS Markdown. `at` is
the place of a node in its source, as a JSON pointer; losses and the paths of actions use it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue
from pydantic.json_schema import SkipJsonSchema

from bridge.content.cards.fields import MAX, MIN, PROSE_FROM_STRING, Line, Prosaic

Style = Literal["default", "accent", "good", "warning", "attention", "emphasis"]
Size = Literal["small", "normal", "large", "huge"]
Align = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Located:
    __pydantic_config__ = ConfigDict(extra="forbid")

    at: Annotated[SkipJsonSchema[str], Field(exclude=True)] = field(
        default="", compare=False, repr=False
    )


# --- values inside nodes --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A picture, video, sound or file. At most one of `url` and `file_id` (`blob:sha256-...`, or
    the platform's own id) locates the bytes; a `private` one needs a token, which the bridge never
    gives out. `page` is the address where permitted people can open it. `size` is in bytes, `width`
    and `height` are in pixels."""

    url: str = ""
    file_id: str = ""
    private: bool = False
    page: str = ""
    media_type: str = ""
    name: str = ""
    alt: str = ""
    size: int | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    spoiler: bool = False


@dataclass(frozen=True, slots=True)
class Credit(_Located):
    """The origin of a container: an author above it, a source below it."""

    text: Line
    icon: Asset | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Confirm:
    """The confirmation dialog of an action; its texts are plain."""

    title: str = ""
    text: Line = ()
    ok: str = ""
    cancel: str = ""
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Option(_Located):
    """`value` is sent to the author of the card; `group` is the heading above the option."""

    label: Line
    value: str
    description: Line = ()
    emoji: str = ""
    url: str = ""
    group: str = ""


# --- text -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prose(_Located):
    """Formatted text of any length: paragraphs, headings, lists, quotes, code, tables, rules."""

    text: Prosaic
    size: Size = field(default="normal", kw_only=True)
    style: Style = field(default="default", kw_only=True)
    subtle: bool = field(default=False, kw_only=True)
    align: Align | None = field(default=None, kw_only=True)
    type: Literal["prose"] = field(default="prose", kw_only=True)


@dataclass(frozen=True, slots=True)
class Table(_Located):
    """Rows of cells, each with any nodes; with `header` the first row is a header."""

    rows: tuple[tuple[Nodes, ...], ...]
    header: bool = field(default=True, kw_only=True)
    align: tuple[Align | None, ...] = field(default=(), kw_only=True)
    title: Line = field(default=(), kw_only=True)
    type: Literal["table"] = field(default="table", kw_only=True)


@dataclass(frozen=True, slots=True)
class Divider(_Located):
    """A line between nodes, or (with `line` false) only space."""

    line: bool = field(default=True, kw_only=True)
    large: bool = field(default=False, kw_only=True)
    type: Literal["divider"] = field(default="divider", kw_only=True)


@dataclass(frozen=True, slots=True)
class Context(_Located):
    """Small print: texts and small pictures in one line."""

    items: tuple[Annotated[Prose | Image, Field(discriminator="type"), PROSE_FROM_STRING], ...]
    type: Literal["context"] = field(default="context", kw_only=True)


@dataclass(frozen=True, slots=True)
class Fields(_Located):
    """Labels with values, two or three side by side if there is space."""

    items: tuple[LabelledValue, ...]
    type: Literal["fields"] = field(default="fields", kw_only=True)


@dataclass(frozen=True, slots=True)
class LabelledValue(_Located):
    """One of `Fields`; `short` ones can be side by side."""

    label: Line
    value: Prosaic
    short: bool = True


# --- pictures and files ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Image(_Located):
    """A picture. `asset.alt` describes it; `title` is shown beside it."""

    asset: Asset
    title: Line = field(default=(), kw_only=True)
    size: Literal["icon", "small", "medium", "large", "full"] = field(default="full", kw_only=True)
    round: bool = field(default=False, kw_only=True)
    link: str = field(default="", kw_only=True)
    type: Literal["image"] = field(default="image", kw_only=True)


@dataclass(frozen=True, slots=True)
class Player(_Located):
    """A video or sound; `link` is its page, `poster` its preview picture."""

    kind: Literal["video", "audio"]
    asset: Asset
    title: Line = field(default=(), kw_only=True)
    description: Line = field(default=(), kw_only=True)
    author: Line = field(default=(), kw_only=True)
    poster: Asset | None = field(default=None, kw_only=True)
    link: str = field(default="", kw_only=True)
    type: Literal["player"] = field(default="player", kw_only=True)


@dataclass(frozen=True, slots=True)
class Gallery(_Located):
    """Pictures and videos side by side."""

    items: tuple[Annotated[Image | Player, Field(discriminator="type")], ...]
    type: Literal["gallery"] = field(default="gallery", kw_only=True)


@dataclass(frozen=True, slots=True)
class File(_Located):
    """A file to open or download."""

    asset: Asset
    title: Line = field(default=(), kw_only=True)
    type: Literal["file"] = field(default="file", kw_only=True)


# --- structure ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section(_Located):
    """Nodes with one small element (a picture, a button, a menu) beside them; a `leading` one
    is before them."""

    nodes: Nodes
    accessory: Node
    leading: bool = field(default=False, kw_only=True)
    type: Literal["section"] = field(default="section", kw_only=True)


@dataclass(frozen=True, slots=True)
class Column(_Located):
    """`width`: as wide as needed, as wide as possible, or a share of the whole."""

    nodes: Nodes
    width: Literal["auto", "stretch"] | int = "stretch"
    style: Style = "default"
    link: str = ""


@dataclass(frozen=True, slots=True)
class Columns(_Located):
    """Nodes side by side."""

    columns: tuple[Column, ...]
    type: Literal["columns"] = field(default="columns", kw_only=True)


@dataclass(frozen=True, slots=True)
class Container(_Located):
    """Nodes that belong together, with an optional frame.

    `form`: a plain `group`, a `panel` (a box with a coloured bar at its side, beside the text of
    the message) or an independent `card`. `color` is 0xRRGGBB. `collapsed` is None if the container
    cannot be folded. A button that `toggles` its `id` shows a `hidden` one. `hero` is
    a picture above all nodes, `thumbnail` one beside the title; `time` is in Unix seconds.
    """

    nodes: Nodes
    form: Literal["group", "panel", "card"] = field(default="group", kw_only=True)
    style: Style = field(default="default", kw_only=True)
    color: int | None = field(default=None, kw_only=True)
    title: Line = field(default=(), kw_only=True)
    subtitle: Line = field(default=(), kw_only=True)
    link: str = field(default="", kw_only=True)
    author: Credit | None = field(default=None, kw_only=True)
    hero: Image | None = field(default=None, kw_only=True)
    thumbnail: Image | None = field(default=None, kw_only=True)
    footer: Credit | None = field(default=None, kw_only=True)
    time: int | None = field(default=None, kw_only=True)
    collapsed: bool | None = field(default=None, kw_only=True)
    spoiler: bool = field(default=False, kw_only=True)
    hidden: bool = field(default=False, kw_only=True)
    id: str = field(default="", kw_only=True)
    type: Literal["container"] = field(default="container", kw_only=True)


@dataclass(frozen=True, slots=True)
class Carousel(_Located):
    """Cards to page through."""

    cards: tuple[Container, ...]
    type: Literal["carousel"] = field(default="carousel", kw_only=True)


# --- special forms --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alert(_Located):
    """A highlighted message with a level."""

    level: Literal["info", "success", "warning", "error"]
    text: Prosaic
    type: Literal["alert"] = field(default="alert", kw_only=True)


@dataclass(frozen=True, slots=True)
class Badge(_Located):
    """A highlighted word or symbol; `icon` is the name of an icon in the platform's own
    set, `hint` the tooltip."""

    text: Line = ()
    icon: str = field(default="", kw_only=True)
    hint: Line = field(default=(), kw_only=True)
    style: Style = field(default="default", kw_only=True)
    type: Literal["badge"] = field(default="badge", kw_only=True)


@dataclass(frozen=True, slots=True)
class Progress(_Located):
    """A progress bar: `value` of `max`; None while the progress is unknown."""

    value: float | None
    max: Annotated[float, MAX] = field(default=100, kw_only=True)
    label: Line = field(default=(), kw_only=True)
    style: Style = field(default="default", kw_only=True)
    type: Literal["progress"] = field(default="progress", kw_only=True)


@dataclass(frozen=True, slots=True)
class Rating(_Located):
    """A rating: `value` of `max` stars, given by `count` people."""

    value: float
    max: Annotated[int, MAX] = field(default=5, kw_only=True)
    count: int | None = field(default=None, kw_only=True)
    type: Literal["rating"] = field(default="rating", kw_only=True)


@dataclass(frozen=True, slots=True)
class Task(_Located):
    """One step of `Tasks`, with its details, output and sources."""

    title: Line
    status: Literal["pending", "running", "done", "failed"] = "pending"
    details: Nodes = ()
    output: Nodes = ()
    sources: Line = ()


@dataclass(frozen=True, slots=True)
class Tasks(_Located):
    """The steps of an activity."""

    tasks: tuple[Task, ...]
    title: Line = field(default=(), kw_only=True)
    type: Literal["tasks"] = field(default="tasks", kw_only=True)


@dataclass(frozen=True, slots=True)
class Point:
    """`label` is on the first axis (a number or a date as text)."""

    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Series:
    """The named values of one series of a chart."""

    name: str
    points: tuple[Point, ...]
    color: str = ""


@dataclass(frozen=True, slots=True)
class Chart(_Located):
    """A chart. Pies and gauges have one series, whose points are their segments; a gauge also has
    a `value`."""

    kind: Literal[
        "pie", "donut", "bar", "stacked_bar", "row", "stacked_row", "line", "area", "gauge"
    ]
    series: tuple[Series, ...]
    title: str = field(default="", kw_only=True)
    x_title: str = field(default="", kw_only=True)
    y_title: str = field(default="", kw_only=True)
    value: float | None = field(default=None, kw_only=True)
    type: Literal["chart"] = field(default="chart", kw_only=True)


@dataclass(frozen=True, slots=True)
class PollAnswer(_Located):
    """One answer of a poll; `votes` is None while they are not known."""

    text: Line
    emoji: str = ""
    votes: int | None = None


@dataclass(frozen=True, slots=True)
class Poll(_Located):
    """A poll. `ends` is in Unix seconds; `closed` is true when the votes are counted."""

    question: Line
    answers: tuple[PollAnswer, ...]
    multiple: bool = field(default=False, kw_only=True)
    ends: int | None = field(default=None, kw_only=True)
    closed: bool = field(default=False, kw_only=True)
    type: Literal["poll"] = field(default="poll", kw_only=True)


@dataclass(frozen=True, slots=True)
class Native(_Located):
    """A platform's own payload that no node represents, and the closest equivalent in nodes."""

    schema_id: str
    payload: JsonValue
    fallback: Nodes = ()
    type: Literal["native"] = field(default="native", kw_only=True)


# --- actions and inputs ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Button(_Located):
    """A button. `does`: `press` and `submit` (with the inputs of its own card and of the cards
    around it) go to the author; `open` opens `url`; `reveal` shows `nodes` (which may contain
    inputs and a submit button); `toggle` shows or hides `targets`.

    `id` and `value` are the author's own: an action id and value, a verb and data, a custom id.
    """

    label: Line
    does: Literal["press", "submit", "open", "reveal", "toggle"] = field(
        default="press", kw_only=True
    )
    id: str = field(default="", kw_only=True)
    value: JsonValue = field(default=None, kw_only=True)
    url: str = field(default="", kw_only=True)
    nodes: Nodes = field(default=(), kw_only=True)
    targets: tuple[str, ...] = field(default=(), kw_only=True)
    style: Literal["default", "primary", "good", "danger"] = field(default="default", kw_only=True)
    emoji: str = field(default="", kw_only=True)
    icon: Asset | None = field(default=None, kw_only=True)
    hint: str = field(default="", kw_only=True)
    disabled: bool = field(default=False, kw_only=True)
    secondary: bool = field(default=False, kw_only=True)
    confirm: Confirm | None = field(default=None, kw_only=True)
    type: Literal["button"] = field(default="button", kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _InputBase(_Located):
    """The common fields of inputs; one that `dispatches` reports every change to its author."""

    id: str = ""
    label: Line = ()
    hint: Line = ()
    placeholder: str = ""
    required: bool = False
    dispatches: bool = False
    disabled: bool = False
    error: str = ""
    confirm: Confirm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInput(_InputBase):
    """A text field; the bounds are lengths, `pattern` is a regular expression."""

    value: str = ""
    multiline: bool = False
    format: Literal["text", "email", "url", "tel", "password", "rich"] = "text"
    min: Annotated[int | None, MIN] = None
    max: Annotated[int | None, MAX] = None
    pattern: str = ""
    type: Literal["text_input"] = "text_input"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberInput(_InputBase):
    """A number field, shown as stars if `stars` is set."""

    value: float | None = None
    min: Annotated[float | None, MIN] = None
    max: Annotated[float | None, MAX] = None
    decimals: bool = True
    stars: bool = False
    type: Literal["number_input"] = "number_input"


@dataclass(frozen=True, slots=True, kw_only=True)
class DateInput(_InputBase):
    """A date or time. `value`, `min`, `max`: `2026-11-21`, `17:30`, or Unix seconds, by `of`."""

    of: Literal["date", "time", "datetime"] = "date"
    value: str = ""
    min: Annotated[str, MIN] = ""
    max: Annotated[str, MAX] = ""
    type: Literal["date_input"] = "date_input"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toggle(_InputBase):
    """One checkbox; its author receives `on` or `off`."""

    title: Line = ()
    value: bool = False
    on: str = "true"
    off: str = "false"
    type: Literal["toggle"] = "toggle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(_InputBase):
    """A menu of options, or (`external`) of options that its author returns while a person types;
    `source` is the author's name for them.

    `values` are preselected; `many` allows a multiple choice. An `overflow` is a menu behind three
    dots.
    """

    options: tuple[Option, ...] = ()
    values: tuple[str, ...] = ()
    many: bool = False
    form: Literal["menu", "list", "overflow"] = "menu"
    external: bool = False
    source: str = ""
    min: Annotated[int | None, MIN] = None
    max: Annotated[int | None, MAX] = None
    type: Literal["choice"] = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picker(_InputBase):
    """A picker of people, channels or roles of the current workspace; `values` are native ids.

    `among` are the kinds of conversations that it offers (none: all), `without` the excluded ones;
    with `here` the channel that shows it is preselected.
    """

    of: Literal["people", "channels", "conversations", "roles", "mentionables"]
    values: tuple[str, ...] = ()
    among: tuple[Literal["people", "groups", "private", "public"], ...] = ()
    without: tuple[Literal["bots", "shared"], ...] = ()
    here: bool = False
    many: bool = False
    min: Annotated[int | None, MIN] = None
    max: Annotated[int | None, MAX] = None
    type: Literal["picker"] = "picker"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput(_InputBase):
    """A file upload. `kinds` are file name extensions without the dot."""

    min: Annotated[int | None, MIN] = None
    max: Annotated[int | None, MAX] = None
    kinds: tuple[str, ...] = ()
    type: Literal["file_input"] = "file_input"


Input = TextInput | NumberInput | DateInput | Toggle | Choice | Picker | FileInput
Action = Annotated[Button | Input, Field(discriminator="type")]


@dataclass(frozen=True, slots=True)
class Actions(_Located):
    """Buttons, menus and inputs in one row."""

    items: tuple[Action, ...]
    type: Literal["actions"] = field(default="actions", kw_only=True)


Node = Annotated[
    Prose
    | Table
    | Divider
    | Context
    | Fields
    | Image
    | Player
    | Gallery
    | File
    | Section
    | Columns
    | Container
    | Carousel
    | Alert
    | Badge
    | Progress
    | Rating
    | Tasks
    | Chart
    | Poll
    | Native
    | Actions
    | Button
    | Input,
    Field(discriminator="type"),
    PROSE_FROM_STRING,
]
Nodes = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Card(_Located):
    """A rich message. `summary` is the text of its notification; the message does not show it."""

    nodes: Nodes
    summary: str = field(default="", kw_only=True)
    type: Literal["card"] = field(default="card", kw_only=True)
    version: Literal[1] = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True)
class Form(_Located):
    """A card in a separate window, submitted as a whole; `id` is its author's name for it."""

    title: str
    nodes: Nodes
    id: str = field(default="", kw_only=True)
    submit: str = field(default="", kw_only=True)
    close: str = field(default="", kw_only=True)
