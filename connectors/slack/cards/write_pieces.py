"""What the writers of nodes share: the blocks that they make, what was lost, who hears a press."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bridge.content.cards.forms import texts_that_name
from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import Asset, Button, Card, Container, Node, Prose
from bridge.content.cards.walk import walk
from bridge.content.text.urls import safe_url
from bridge.model import Loss
from connectors.slack.capabilities import URL
from connectors.slack.cards.write_flat import flat

Json = dict[str, Any]
_DEEPEST = 12  # containers within one another; further ones are shown as what they hold


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A bar at the side of some blocks; each panel has its own. `color` may be empty.

    A `soft` one, of a mere group, is left out where plain blocks follow: all that comes after a
    bar has one at its side, too.
    """

    color: str = ""
    soft: bool = False
    at: str = ""


@dataclass(slots=True)
class Piece:
    """One block and the frame that it stands in; without a block only files that go along."""

    block: Json
    frame: Frame | None = None
    files: tuple[Asset, ...] = ()


Pieces = list[Piece]
Writer = Callable[["Writing", Any, Pieces], None]
Mark = tuple[int, dict[str, int]]


class Writing:
    """One card on its way: how it is to be shown, and what was lost so far.

    `is_inside` while blocks are written for an attachment or a container: these take only the
    older kinds of blocks, and no containers. `bar` is the colour at the side of what is written,
    None where there is none. `folded` are the ids of containers that open; `opened` has for each
    button (by identity) whose words stand on one the ids that are in it; `toggled` are all that
    were to show or hide something, `last_fold` is such a button and what was written of it last.
    """

    def __init__(
        self, card: Card, rendering: Rendering, writers: Mapping[type[Node], Writer]
    ) -> None:
        self.losses: list[Loss] = []
        self.travels = rendering.travels
        self.url_of = rendering.url_of
        self.has_table = False
        self.is_inside = False
        self.bar: str | None = None
        self.folded: set[str] = set()
        self.opened: dict[int, set[str]] = {}
        self.last_fold: tuple[int, Piece | None] = (0, None)
        self.toggled: list[Button] = []
        self._card = card
        self._token = rendering.token
        self._origin = rendering.origin
        self._writers = writers
        self._depth = 0
        self._tokens: dict[str, int] = {}

    def write(self, nodes: Iterable[Node], out: Pieces) -> None:
        """The blocks of these nodes, in order."""
        if self._depth >= _DEEPEST:
            nodes = flat(nodes)
        self._depth += 1
        for node in nodes:
            self._writers[type(node)](self, node, out)
        self._depth -= 1

    def inside(self, nodes: Iterable[Node], bar: str | None = None) -> Pieces:
        """Blocks that may stand in an attachment (with its bar) or a container."""
        before = self.is_inside, self.bar
        self.is_inside, self.bar = True, bar
        pieces: Pieces = []
        self.write(nodes, pieces)
        self.is_inside, self.bar = before
        return pieces

    # --- losses -----------------------------------------------------------------------------

    def lose(self, at: str, kind: str, what: str, shown_as: str = "") -> None:
        self.losses.append(Loss(path=at, kind=kind, what=what, shown_as=shown_as))

    def mark(self) -> Mark:
        """Where `back_to` returns when an attempt fails."""
        return len(self.losses), dict(self._tokens)

    def back_to(self, mark: Mark) -> None:
        del self.losses[mark[0] :]
        self._tokens = mark[1]

    # --- actions ----------------------------------------------------------------------------

    @property
    def is_heard(self) -> bool:
        """Whether somebody hears a press."""
        return self._token is not None

    @cached_property
    def origin(self) -> str:
        """A link to the original, empty where there is none."""
        url = safe_url(self._origin) if self._origin else None
        return url if url and len(url) <= URL else ""

    def token(self, at: str) -> str:
        return self._token(at) if self._token is not None else ""

    def action_id(self, token: str) -> str:
        """The token; a second element with the same one (a menu in two parts) has a number."""
        count = self._tokens.get(token, 0) + 1
        self._tokens[token] = count
        return token if count == 1 else f"{token}~{count}"

    @cached_property
    def names(self) -> Mapping[int, Prose]:
        """By `id(input)` the texts that name inputs without a label."""
        return texts_that_name(self._card.nodes)

    @cached_property
    def toggles(self) -> dict[str, list[Button]]:
        """The ids of containers that buttons show or hide, and these buttons."""
        nodes = list(walk(self._card.nodes))
        ids = {one.id for one in nodes if isinstance(one, Container) and one.id}
        found: dict[str, list[Button]] = {}
        for one in nodes:
            if isinstance(one, Button) and one.does == "toggle":
                for target in dict.fromkeys(one.targets):
                    if target in ids:
                        found.setdefault(target, []).append(one)
        return found


def is_http(url: str) -> bool:
    return url.lower().startswith(("https://", "http://"))
