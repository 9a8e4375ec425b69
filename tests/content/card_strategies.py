"""Cards of every kind for property tests: all nodes, nasty and huge texts, many items.

Every visible text holds marks (`mk17`), numbered in the order of reading, so that a test can see
what a writer dropped, said twice or moved. Nodes know where they stand (`at`).
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import count
from typing import Any, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bridge.content.cards import tree as card
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Badge,
    Button,
    Card,
    Carousel,
    Chart,
    Choice,
    Column,
    Columns,
    Confirm,
    Container,
    Context,
    Credit,
    DateInput,
    Divider,
    Fields,
    File,
    FileInput,
    Gallery,
    Image,
    LabelledValue,
    Native,
    NumberInput,
    Option,
    Picker,
    Player,
    Point,
    Poll,
    PollAnswer,
    Progress,
    Prose,
    Rating,
    Section,
    Series,
    Table,
    Task,
    Tasks,
    TextInput,
    Toggle,
)
from bridge.content.text import tree as text
from bridge.content.text.tree import (
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    GroupMention,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from bridge.content.text.tree import Table as TextTable
from bridge.model import ActorId

MARK = re.compile(r"mk\d+")
_UNNUMBERED = re.compile(r"\bmk\b")

NASTY = (
    "@everyone @here <!channel> <!here|x> <@U0ACME1> <@123456789012345678> <@&1> <#C1> <at>A</at>",
    "*a* **b** _c_ __d__ ~e~ ~~f~~ `g` ||h|| # i > j - k 1. l | m | \\n",
    "[x](javascript:alert(1)) <https://e.example|good> https://e.example/?a=1&b=<2>|3",
    "```code``` ``` ~~~ > > >>> -# ---",
    "&lt;b&gt; &amp;amp; <b onclick=x>y</b> </pre> {{z}} ${w} :tada: 10:30:45",
    "\u202enimda \u200b \u200d \ufeff é e\u0301 👩\u200d👩\u200d👧 🏳️\u200d🌈 漢字、かな。 שלום",
    "a\x00b\x1bc\ud800d\u2028e",
)

# --- text -----------------------------------------------------------------------------------

_LINE = (Text("mk"), Text(" word"))
_SMALL = Prose((Paragraph(_LINE),))
_PICTURE = Image(Asset(url="https://e.example/p.png", alt="mk"))


def _brief(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """The same strategy with a short repr: Hypothesis warns of long ones."""

    @st.composite
    def drawn(draw: st.DrawFn) -> Any:
        return draw(inner)

    return drawn()


def _few(inner: SearchStrategy[Any], maximum: int = 3, minimum: int = 1) -> SearchStrategy[Any]:
    return st.lists(inner, min_size=minimum, max_size=maximum).map(tuple)


def _many(
    inner: SearchStrategy[Any], small: object, maximum: int, usual: int = 4
) -> SearchStrategy[Any]:
    """Now and then a small one so often that no platform takes them all."""
    often = st.integers(usual, maximum).map(lambda n: (small,) * n)
    return st.one_of(*[_few(inner, usual)] * 6, often)


WORDS = st.one_of(
    st.just("mk"),
    st.integers(2, 12).map(lambda n: " ".join(["mk word"] * n)),
    st.sampled_from(NASTY).map(lambda nasty: f"mk {nasty} mk"),
    st.text(max_size=20).map(lambda any_: f"mk {' '.join(any_.split())} mk"),
)
LONG_WORDS = st.sampled_from((40, 40, 300, 1500)).map(
    lambda n: " ".join(["mk long-ish, words."] * n)
)
NO_SPACES = st.sampled_from((80, 500, 5000)).map(lambda n: "mk " + "x" * n)
TEXTS = _brief(st.one_of(*[WORDS] * 8, LONG_WORDS, NO_SPACES))
URLS = st.sampled_from((
    "https://e.example/a", "http://e.example/?a=1&b=2", "https://e.example/" + "u" * 600,
    "https://e.example/" + "u" * 4000, "https://e.example/<a b>|c", "mailto:a@e.example",
))  # fmt: skip
ANY_URL = st.one_of(URLS, st.sampled_from(("", "javascript:alert(1)", "not a url", "uacs:x")))

_OWN_NODES = st.one_of(
    st.builds(Mention, st.just(ActorId("slack:T1:U0ACME1")), WORDS),
    st.builds(GroupMention, st.just("slack:T1:S1"), WORDS),
    st.builds(Broadcast, st.sampled_from(("everyone", "channel", "here"))),
    st.builds(ChannelLink, st.just("discord:1:123456789012345678"), WORDS),
    st.builds(Emoji, st.just("wave"), st.just("👋")),
    st.builds(Emoji, st.sampled_from(("party_parrot", "a b<c>")), st.none(), st.none() | URLS),
    st.builds(
        Timestamp,
        st.sampled_from((0, 1_700_000_000, -5, 10**15)),
        st.sampled_from("tTdDfFR"),
        WORDS.map(lambda text: f"{text} 10:30"),  # words that say no time give way to UTC
    ),
)
_LEAVES = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Text, WORDS),
    st.builds(Text, WORDS),
    st.just(Break()),
    st.builds(Code, WORDS),
    _OWN_NODES,
)
_STYLES = (Strong, Emphasis, Strike, Underline, Spoiler)
INLINES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        *(st.builds(style, _few(inner)) for style in _STYLES),
        st.builds(Link, URLS, _few(st.builds(Text, WORDS), 1)),
    ),
    max_leaves=4,
)


def _spaced(run: tuple[Inline, ...]) -> tuple[Inline, ...]:
    """A space between neighbours, so that marks stay words."""
    return tuple(inline for node in run for inline in (Text(" "), node))[1:]


RUNS = _brief(_few(INLINES).map(_spaced))
SHORT_LINES = st.one_of(
    st.builds(lambda words: (Text(words),), WORDS), _few(st.builds(Text, WORDS), 1)
)
LINES = _brief(st.one_of(SHORT_LINES, SHORT_LINES, RUNS))
_MAYBE_LINE = st.one_of(st.just(()), LINES)

_CODE = st.builds(
    CodeBlock,
    st.one_of(WORDS, st.sampled_from((3, 400)).map(lambda n: "\n".join(["mk = `x` <b>"] * n))),
    st.sampled_from(("", "python", "c++")),
)
_SIMPLE = st.one_of(
    st.builds(Paragraph, RUNS), st.builds(Paragraph, RUNS, st.booleans()), _CODE, st.builds(Rule),
    st.builds(Heading, st.integers(1, 6), LINES),
)  # fmt: skip


def _text_table(cell: tuple[Inline, ...], rows: int, columns: int) -> TextTable:
    row = (cell,) * columns
    return TextTable(row, (row,) * rows, ("left", "center", "right", None)[:columns])


_TEXT_TABLES = st.builds(
    _text_table, st.one_of(st.just(()), LINES), st.sampled_from((0, 2, 30)), st.integers(1, 4)
)
BLOCKS = st.recursive(
    _brief(st.one_of(_SIMPLE, _SIMPLE, _SIMPLE, _TEXT_TABLES)),
    lambda inner: st.one_of(
        st.builds(Quote, _few(_brief(inner))),
        st.builds(
            List,
            _many(
                st.builds(ListItem, _few(_brief(inner)), st.sampled_from((None, True, False))),
                ListItem(_SMALL.text),
                400,
                3,
            ),
            st.sampled_from((None, None, 1, 7)),
        ),
    ),
    max_leaves=4,
)
DOCUMENTS: SearchStrategy[Document] = _brief(_few(BLOCKS, 4))
_PROSAIC = st.one_of(st.builds(lambda line: (Paragraph(line),), LINES), DOCUMENTS)

# --- values in nodes ------------------------------------------------------------------------

STYLES = st.sampled_from(("default", "accent", "good", "warning", "attention", "emphasis"))
_NUMBERS = st.sampled_from((0.0, 1.0, 4.25, 100.0, -3.5, 1e300))
_COUNTS = st.none() | st.integers(0, 200)


def _assets(media_type: str, *, named: bool) -> SearchStrategy[Asset]:
    names = {"name" if named else "alt": st.one_of(st.just(""), TEXTS)}
    flags = st.sampled_from((False, False, True))
    return st.one_of(
        st.builds(Asset, url=URLS, media_type=st.just(media_type), spoiler=flags, **names),
        st.builds(Asset, url=ANY_URL, private=flags, page=ANY_URL, **names),
        st.builds(Asset, file_id=st.just("blob:sha256-" + "a" * 64), page=ANY_URL, **names),
        st.builds(Asset, file_id=st.just("slack:F1"), private=st.just(True), **names),
    )


PICTURES = _assets("image/png", named=False)
IMAGES = _brief(
    st.builds(
        Image,
        PICTURES,
        title=_MAYBE_LINE,
        size=st.sampled_from(("icon", "small", "medium", "large", "full")),
        round=st.booleans(),
        link=st.one_of(st.just(""), ANY_URL),
    )
)
_PLAYERS = _brief(
    st.builds(
        Player,
        st.sampled_from(("video", "audio")),
        _assets("video/mp4", named=True),
        title=_MAYBE_LINE,
        description=_MAYBE_LINE,
        author=_MAYBE_LINE,
        poster=st.none() | PICTURES,
        link=ANY_URL,
    )
)
_CREDITS = _brief(st.builds(Credit, _MAYBE_LINE, st.none() | PICTURES, ANY_URL))
_CONFIRMS = _brief(
    st.none()
    | st.builds(
        Confirm, st.one_of(st.just(""), TEXTS), _MAYBE_LINE, WORDS, st.just(""), st.booleans()
    )
)


def _distinct(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """No value twice, but for the first two: authors err."""
    return tuple(
        replace(option, value=f"{option.value}{index}" if index > 1 else option.value)
        for index, option in enumerate(options)
    )


_OPTIONS = _brief(
    _many(
        st.builds(
            Option,
            LINES,
            st.sampled_from(("v", "", "long" * 60, "<!here>")),
            _MAYBE_LINE,
            st.sampled_from(("", "", "👍", ":custom:")),
            st.one_of(st.just(""), ANY_URL),
            st.sampled_from(("", "", "mk group")),
        ),
        Option(_LINE, "o"),
        250,
    ).map(_distinct)
)

# --- actions and inputs ---------------------------------------------------------------------

_INPUT_FIELDS: dict[str, SearchStrategy[Any]] = {
    "id": st.sampled_from(("", "field", "i" * 300)),
    "label": _MAYBE_LINE,
    "hint": _MAYBE_LINE,
    "placeholder": st.one_of(st.just(""), TEXTS),
    "required": st.booleans(),
    "dispatches": st.booleans(),
    "disabled": st.sampled_from((False, False, False, True)),
    "error": st.sampled_from(("", "", "mk wrong")),
    "confirm": _CONFIRMS,
}
_DATES = st.sampled_from(("", "2026-11-21", "17:30", "1700000000", "tomorrow", "2026-13-41"))
INPUTS = _brief(st.one_of(
    st.builds(
        TextInput,
        **_INPUT_FIELDS,
        value=st.one_of(st.just(""), TEXTS),
        multiline=st.booleans(),
        format=st.sampled_from(("text", "email", "url", "tel", "password", "rich")),
        min=_COUNTS,
        max=_COUNTS,
        pattern=st.sampled_from(("", "^[a-z]+$")),
    ),
    st.builds(
        NumberInput, **_INPUT_FIELDS, value=st.none() | _NUMBERS, min=st.none() | _NUMBERS,
        max=st.none() | _NUMBERS, decimals=st.booleans(), stars=st.booleans(),
    ),
    st.builds(
        DateInput, **_INPUT_FIELDS, of=st.sampled_from(("date", "time", "datetime")), value=_DATES,
        min=_DATES, max=_DATES,
    ),
    st.builds(
        Toggle, **_INPUT_FIELDS, title=_MAYBE_LINE, value=st.booleans(),
        on=st.sampled_from(("true", "", "o" * 200)),
    ),
    st.builds(
        Choice, **_INPUT_FIELDS, options=st.one_of(st.just(()), _OPTIONS, _OPTIONS),
        values=st.sampled_from(((), ("v",), ("v", "v2"), ("missing",))), many=st.booleans(),
        form=st.sampled_from(("menu", "list", "overflow")), external=st.booleans(),
        min=_COUNTS, max=_COUNTS,
    ),
    st.builds(
        Picker, **_INPUT_FIELDS,
        of=st.sampled_from(("people", "channels", "conversations", "roles", "mentionables")),
        values=st.sampled_from(((), ("U0ACME1",), ("123456789012345678",))), many=st.booleans(),
        min=_COUNTS, max=_COUNTS,
        among=st.sampled_from(((), ("people", "groups", "private", "public"))),
        without=st.sampled_from(((), ("bots",), ("bots", "shared"))), here=st.booleans(),
    ),
    st.builds(FileInput, **_INPUT_FIELDS, min=_COUNTS, max=_COUNTS, kinds=st.just(("pdf",))),
))  # fmt: skip


def _buttons(nodes: SearchStrategy[Any]) -> SearchStrategy[Button]:
    common: dict[str, Any] = {
        "id": st.sampled_from(("", "approve", "i" * 400)),
        "value": st.sampled_from((None, "v", 7, {"verb": "x", "data": [1, {"a": None}]})),
        "style": st.sampled_from(("default", "primary", "good", "danger")),
        "emoji": st.sampled_from(("", "", "👍", ":custom:")),
        "icon": st.sampled_from((None, None, Asset(url="https://e.example/i.png", alt="mk"))),
        "hint": st.sampled_from(("", "", "mk hint", "mk hint " * 20)),
        "disabled": st.sampled_from((False, False, False, True)),
        "secondary": st.booleans(),
        "confirm": _CONFIRMS,
    }
    pressed = st.builds(Button, LINES, does=st.sampled_from(("press", "submit")), **common)
    return _brief(st.one_of(
        pressed,
        pressed,
        pressed,
        st.builds(Button, _MAYBE_LINE, does=st.just("press"), **common),
        st.builds(Button, LINES, does=st.just("open"), url=ANY_URL, **common),
        st.builds(Button, LINES, does=st.just("reveal"), nodes=nodes, **common),
        st.builds(
            Button, LINES, does=st.just("toggle"), targets=st.sampled_from((("box",), ("no",))),
            **common,
        ),
    ))  # fmt: skip


# --- nodes ----------------------------------------------------------------------------------

_PROSES = _brief(st.builds(
    Prose, _PROSAIC, size=st.sampled_from(("small", "normal", "normal", "large", "huge")),
    style=STYLES, subtle=st.booleans(), align=st.sampled_from((None, "left", "center", "right")),
))  # fmt: skip
_LABELS = st.sampled_from(("mk", "Mon", "Tue", "Wed", "a label of more than twenty letters"))


def _series(names: tuple[str, ...], labels: tuple[str, ...], value: float) -> tuple[Series, ...]:
    return tuple(
        Series(f"{name} {index}", tuple(Point(label, value + index) for label in labels))
        for index, name in enumerate(names)
    )


def _charts() -> SearchStrategy[Chart]:
    kinds = ("pie", "donut", "bar", "stacked_bar", "row", "stacked_row", "line", "area", "gauge")
    series = st.builds(
        _series, _many(_LABELS, "mk", 14, 2), _many(_LABELS, "mk", 25), _NUMBERS
    )  # fmt: skip
    titles = st.sampled_from(("", "mk", "mk title " * 8))
    return st.builds(
        Chart, st.sampled_from(kinds), st.one_of(series, series, st.just(())), title=titles,
        x_title=titles, y_title=titles, value=st.none() | _NUMBERS,
    )  # fmt: skip


_PLAIN_NODES = _brief(st.one_of(
    _PROSES,
    _PROSES,
    st.builds(Divider, line=st.booleans(), large=st.booleans()),
    st.builds(Context, _many(st.one_of(_PROSES, IMAGES), _SMALL, 25)),
    st.builds(
        Fields,
        _many(
            st.builds(LabelledValue, _MAYBE_LINE, _PROSAIC, st.booleans()),
            LabelledValue(_LINE, _SMALL.text), 30,
        ),
    ),
    IMAGES,
    _PLAYERS,
    st.builds(Gallery, _many(st.one_of(IMAGES, _PLAYERS), _PICTURE, 14)),
    st.builds(File, _assets("application/pdf", named=True), title=_MAYBE_LINE),
    st.builds(Alert, st.sampled_from(("info", "success", "warning", "error")), _PROSAIC),
    st.builds(Badge, _MAYBE_LINE, icon=st.just(""), hint=_MAYBE_LINE, style=STYLES),
    st.builds(
        Progress, st.none() | _NUMBERS, max=_NUMBERS, label=_MAYBE_LINE, style=STYLES
    ),
    st.builds(Rating, _NUMBERS, max=st.integers(0, 20), count=st.none() | st.integers(0, 10**6)),
    _charts(),
    st.builds(
        Poll, LINES,
        _many(
            st.builds(PollAnswer, LINES, st.sampled_from(("", "🐶")), _COUNTS),
            PollAnswer(_LINE), 15,
        ),
        multiple=st.booleans(), ends=st.none() | st.just(1_700_000_000), closed=st.booleans(),
    ),
))  # fmt: skip


def _native(nodes: SearchStrategy[Any]) -> SearchStrategy[Native]:
    return st.builds(
        Native,
        st.sampled_from((
            "application/vnd.slack.blocks+json", "application/vnd.discord.components+json",
            "application/vnd.microsoft.card.adaptive+json", "application/vnd.acme.widget+json",
        )),
        st.sampled_from((None, "x", [], {}, {"type": "w"}, [{"type": "section"}], {"type": 7})),
        nodes,
    )  # fmt: skip


def _containers(nodes: SearchStrategy[Any]) -> SearchStrategy[Container]:
    return _brief(
        st.builds(
            Container,
            nodes,
            form=st.sampled_from(("group", "panel", "card")),
            style=STYLES,
            color=st.sampled_from((None, None, 0, 0x2EB67D, 0xFFFFFF)),
            title=_MAYBE_LINE,
            subtitle=_MAYBE_LINE,
            link=st.one_of(st.just(""), ANY_URL),
            author=st.none() | _CREDITS,
            hero=st.none() | IMAGES,
            thumbnail=st.none() | IMAGES,
            footer=st.none() | _CREDITS,
            time=st.sampled_from((None, None, 1_700_000_000, -1, 10**18)),
            collapsed=st.sampled_from((None, None, True, False)),
            spoiler=st.sampled_from((False, False, True)),
            hidden=st.sampled_from((False, False, True)),
            id=st.sampled_from(("", "box")),
        )
    )


def _structured(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    inner = _brief(inner)
    nodes = _few(inner, 4)
    actions = st.one_of(_buttons(_few(inner, 2)), _buttons(_few(inner, 2)), INPUTS)
    cells = st.one_of(st.just(()), _few(_PROSES, 1), _few(_PROSES, 1), _few(inner, 2))
    rows = _few(cells, 4)
    columns = st.builds(
        Column, nodes, st.sampled_from(("auto", "stretch", 2)), STYLES, st.one_of(st.just(""), URLS)
    )
    tasks = st.builds(
        Task, LINES, st.sampled_from(("pending", "running", "done", "failed")),
        st.one_of(st.just(()), _few(_PROSES, 2), nodes), st.one_of(st.just(()), nodes), _MAYBE_LINE,
    )  # fmt: skip
    return _brief(st.one_of(
        st.builds(
            Table,
            st.one_of(
                _many(rows, ((_SMALL,), (_SMALL,)), 130), _few(_many(cells, (_SMALL,), 24), 3)
            ),
            header=st.booleans(),
            align=st.sampled_from(((), ("left", "right"), (None, "center", None))),
            title=_MAYBE_LINE,
        ),
        st.builds(Section, nodes, st.one_of(IMAGES, actions, inner), leading=st.booleans()),
        st.builds(Columns, _many(columns, Column((_SMALL,)), 12, 3)),
        _containers(nodes),
        _containers(nodes),
        st.builds(Carousel, _many(_containers(nodes), Container((_SMALL,)), 12, 3)),
        st.builds(Tasks, _many(tasks, Task(_LINE), 60), title=_MAYBE_LINE),
        _native(st.one_of(st.just(()), nodes)),
        st.builds(Actions, _many(actions, Button(_LINE), 60)),
        actions,
    ))  # fmt: skip


NODES = st.recursive(st.one_of(_PLAIN_NODES, _structured(_PROSES)), _structured, max_leaves=5)


@st.composite
def cards(draw: st.DrawFn, maximum: int = 5) -> Card:
    """Cards of a few nodes of any kind, marked and located."""
    summary = draw(st.sampled_from(("", "", "what it is about", "s" * 400)))
    return marked(Card(draw(_few(NODES, maximum, 0)), summary=summary))


# --- marks ----------------------------------------------------------------------------------

_READ_FIRST: dict[type, tuple[str, ...]] = {
    Container: ("hero", "author", "title", "subtitle", "thumbnail", "nodes", "footer"),
    Table: ("title",),
    Tasks: ("title",),
    Player: ("poster", "title", "asset", "author", "description"),
    Image: ("asset",),
    Credit: ("icon",),
    Chart: ("title", "x_title", "y_title"),
    Button: ("emoji", "label", "icon", "hint", "confirm", "nodes"),
    Toggle: ("label", "title"),
    TextInput: ("label", "value", "placeholder"),
    Choice: ("label", "placeholder", "options"),
    Option: ("group", "emoji", "label", "description"),
}
_TREE_MODULES = (card.__name__, text.__name__)


def marked(written: Card) -> Card:
    """The card with its marks numbered in the order of reading and every `at` set."""
    return _marked(written, "", count(1))


def numbered(value: Any) -> Any:
    """Any part of a card, or text, with its marks numbered."""
    return _marked(value, "", count(1))


def _marked(value: Any, at: str, numbers: count[int]) -> Any:
    if isinstance(value, str):
        return _UNNUMBERED.sub(lambda _: f"mk{next(numbers)}", value) if "mk" in value else value
    if isinstance(value, tuple):
        return tuple(_marked(item, f"{at}/{index}", numbers) for index, item in enumerate(value))
    names = _in_order(type(value))
    if isinstance(value, Section) and value.leading:
        names = ("accessory", *(name for name in names if name != "accessory"))
    if not names:
        return value
    changed = {name: _marked(getattr(value, name), f"{at}/{name}", numbers) for name in names}
    if hasattr(value, "at"):
        changed["at"] = at
    return type(value)(**changed)


@cache
def _in_order(kind: type) -> tuple[str, ...]:
    """The fields of a node or value in the order in which they are read; of others none."""
    if not is_dataclass(kind) or kind.__module__ not in _TREE_MODULES:
        return ()
    first = _READ_FIRST.get(kind, ())
    rest = (field.name for field in fields(kind) if field.name != "at" and field.name not in first)
    return (*first, *rest)


def marks(text: str) -> list[str]:
    """The marks in a text, in order."""
    return MARK.findall(text)


def marks_of(value: object) -> list[str]:
    """All marks of a card or of any part of it, by number: that is the order of reading."""
    found_marks: list[str] = []
    stack: list[object] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found_marks += marks(item)
        elif isinstance(item, tuple):
            stack += item
        elif is_dataclass(item):
            stack += [getattr(item, field.name) for field in fields(item)]
    return sorted(set(found_marks), key=lambda mark: int(mark[2:]))


def node_types() -> set[str]:
    """The names of all node types."""
    kinds = get_args(get_args(card.Node)[0])
    return {str(f.default) for kind in kinds for f in fields(kind) if f.name == "type"}
