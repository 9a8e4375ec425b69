"""What a local platform brings to the demo: how its pane looks, who speaks there, what is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bridge.sandbox.feed import LocalMessage

_MARKUP = re.compile(r"\\([^\w\s])|```(?:\w+\n)?|\*\*|__|~~|\|\||[*`]|^(?:> |-# )", re.MULTILINE)


@dataclass(frozen=True)
class DemoLine:
    """Something that a person of the platform says in a scene of the demo.

    `at` orders the lines of all platforms. A line replies in the thread of the line whose `at` is
    `thread`. `text` is the typed text, `reads` the displayed text (None: the same). `person` is a
    seeded name, or that of a person who joins for this line. `answered`: the line mentions an
    agent, which answers.
    """

    at: int
    person: str
    text: str
    reads: str | None = None
    thread: int | None = None
    answered: bool = False


def _no_complaints(_messages: Sequence[LocalMessage]) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class DemoSide:
    """How the demo shows a local platform.

    `static`: a folder that the page loads as `/platforms/<platform>/`. Its `draw.css` styles the
    pane, `.pane.<platform>`; its `draw.js` exports `render(native, ui)`, the DOM nodes of a message
    (`LocalMessage.raw`), `form(form, ui)`, the content of a form, and `client`, what differs from
    `CLIENT` in the page's `client.js`. Modules of the page are imported from `/static/`.
    `read`: a message -> its author and its bare words, as a person reads them. `scenes`: lines by
    the scene's name (`script`, `opening`, `card`, `scene`). `complaints`: what is wrong with the
    messages of a channel once the script was played.
    """

    static: Path
    writer: str  # the name of the person who writes unless another is chosen
    read: Callable[[LocalMessage], tuple[str, str]]
    channels: str = "Channels"  # the heading above the channels
    people: str = "People"  # the heading above the people
    placeholder: str = "Message"  # in the empty text box
    threads: bool = True  # whether a reply is shown in a thread
    streams: bool = True  # whether an agent's answer grows before it is whole
    scenes: Mapping[str, Sequence[DemoLine]] = field(default_factory=dict[str, Sequence[DemoLine]])
    complaints: Callable[[Sequence[LocalMessage]], Sequence[str]] = _no_complaints


def without_marks(text: str) -> str:
    """Markdown as clients show it: without its signs. Pure."""
    return _MARKUP.sub(lambda match: match[1] or "", text)
