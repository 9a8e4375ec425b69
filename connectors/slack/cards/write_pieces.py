"""What the node writers share: blocks with their frames, and the state of one card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bridge.content.cards.forms import texts_that_name
from bridge.content.cards.tree import Asset, Button, Container, Node, Prose
from bridge.content.cards.walk import walk
from bridge.content.cards.writing import CardWriting
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import URL

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A bar beside blocks; each panel has its own. `color` may be empty.

    A `soft` frame, of a mere group, is dropped when plain blocks follow: everything after a bar
    would also have one.
    """

    color: str = ""
    soft: bool = False
    at: str = ""


@dataclass(slots=True)
class Piece:
    """One block and its frame; without a block, only attached files."""

    block: Json
    frame: Frame | None = None
    files: tuple[Asset, ...] = ()


Pieces = list[Piece]


@dataclass
class Writing(CardWriting[Piece]):
    """One card on its way to Slack.

    - `has_table`: whether a table block is written already.
    - `is_inside`: whether blocks are written for an attachment or a container. These take only the
      older kinds of blocks, and no containers.
    - `bar_color`: the colour of the bar beside the current attachment; None outside of one.
    - `folded`: the ids of containers that open.
    - `opened_by`: by `id(button)`, the ids of the containers in the one that the button titles.
    - `toggled`: all buttons that show or hide containers.
    - `last_fold`: the last of these buttons, and the last piece written for it.
    """

    has_table: bool = False
    is_inside: bool = False
    bar_color: str | None = None
    folded: set[str] = field(default_factory=set[str])
    opened_by: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    toggled: list[Button] = field(default_factory=list[Button])
    last_fold: tuple[int, Piece | None] = (0, None)

    def inside(self, nodes: Iterable[Node], bar_color: str | None = None) -> Pieces:
        """Write the nodes for the inside of an attachment (with its bar) or of a container."""
        before = self.is_inside, self.bar_color
        self.is_inside, self.bar_color = True, bar_color
        pieces = self.collect(nodes)
        self.is_inside, self.bar_color = before
        return pieces

    @cached_property
    def origin(self) -> str:
        """A link to the original, "" when there is none."""
        url = safe_url(self.rendering.origin) if self.rendering.origin else None
        return url if url and len(url) <= URL else ""

    @cached_property
    def names(self) -> Mapping[int, Prose]:
        """The texts that label inputs, by `id(input)`."""
        return texts_that_name(self.card.nodes)

    @cached_property
    def toggles(self) -> dict[str, list[Button]]:
        """The ids of containers that buttons show or hide, with these buttons."""
        nodes = list(walk(self.card.nodes))
        ids = {node.id for node in nodes if isinstance(node, Container) and node.id}
        buttons: dict[str, list[Button]] = {}
        for node in nodes:
            if isinstance(node, Button) and node.does == "toggle":
                for target in dict.fromkeys(node.targets):
                    if target in ids:
                        buttons.setdefault(target, []).append(node)
        return buttons


def is_http(url: str) -> bool:
    return url.lower().startswith(("https://", "http://"))
