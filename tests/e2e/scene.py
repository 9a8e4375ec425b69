"""One event of the matrix: where it is done, and what stands in each destination then."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.installed import local_platform_types
from tests.e2e.local_sandbox import PLATFORMS, Sandbox

_TYPES = local_platform_types()
LABELS = {name: local.label for name, local in _TYPES.items()}
ROOMS = dict(zip(PLATFORMS, ("general", "random", "help", "ch-4", "ch-5", "ch-6"), strict=False))


@dataclass
class Scene:
    """One origin and, for each platform, a channel of another workspace in the same room."""

    local: Sandbox
    origin: str
    at: str = ""  # the room, where it is not the origin's own
    notes: dict[str, str] = field(default_factory=dict[str, str])  # what later steps need

    @property
    def room(self) -> str:
        """Each origin has a room of its own."""
        return self.at or ROOMS[self.origin]

    @property
    def home(self) -> tuple[str, str]:
        return self.local.place(self.origin, self.room, 0)

    @property
    def person(self) -> str:
        return self.local.person(self.origin, self.home[0])

    def there(self, platform: str) -> list[LocalMessage]:
        """All that stands in the destination on this platform."""
        return list(self.local.platforms[platform].messages(*away(self.local, platform, self.room)))

    def words(self, text: str) -> str:
        """As nobody says it from elsewhere."""
        return f"{text} from {self.origin}"

    def messages_with(self, platform: str, words: str) -> list[LocalMessage]:
        """Messages that say these words, in their text or in a card."""
        full_words = self.words(words)
        return [
            message
            for message in self.there(platform)
            if full_words in message.text or full_words in str(message.raw)
        ]

    async def say(self, text: str, thread: str | None = None) -> str:
        platform = self.local.platforms[self.origin]
        return (await platform.post_as(*self.home, self.person, self.words(text), thread)).id

    async def arrived(self, words: str) -> None:
        """Wait until these words stand on all platforms."""
        await self.local.until(lambda: all(self.messages_with(p, words) for p in PLATFORMS))


def away(local: Sandbox, platform: str, room: str) -> tuple[str, str]:
    return local.place(platform, room, 1)


Do = Callable[[Scene], Awaitable[None]]
Holds = Callable[[Scene, str], bool]
V = TypeVar("V")


@dataclass(frozen=True)
class Row:
    """`do` is done at the origin, then `holds` comes true in each destination. `lacks`: why a
    platform never tells of it; `cannot`: why one cannot show it at all; `shown_as`: its form where
    that is not the platform's own; `rooms`: where it is done, if not in the origin's own room.
    `does` and `checks` replace `do` and `holds` on a platform that has its own."""

    name: str
    do: Do
    holds: Holds
    lacks: Mapping[str, str] = field(default_factory=dict[str, str])
    cannot: Mapping[str, str] = field(default_factory=dict[str, str])
    shown_as: Mapping[str, str] = field(default_factory=dict[str, str])
    rooms: Mapping[str, str] = field(default_factory=dict[str, str])
    does: Mapping[str, Do] = field(default_factory=dict[str, Do])
    checks: Mapping[str, Holds] = field(default_factory=dict[str, Holds])

    def do_at(self, origin: str) -> Do:
        return self.does.get(origin, self.do)

    def holds_at(self, platform: str) -> Holds:
        return self.checks.get(platform, self.holds)


@dataclass(frozen=True)
class Column:
    """A platform's column, in the tests of its connector: by the row's name what `Row` has by the
    platform. A row that is not named is received and shown natively."""

    lacks: Mapping[str, str]
    cannot: Mapping[str, str]
    shown_as: Mapping[str, str]
    does: Mapping[str, Do]
    checks: Mapping[str, Holds]

    def added_to(self, row: Row, platform: str) -> Row:
        """The row with this column; what the row says of the platform itself is replaced."""

        def replaced(own: Mapping[str, V], column: Mapping[str, V]) -> dict[str, V]:
            others = {name: value for name, value in own.items() if name != platform}
            return others | ({platform: column[row.name]} if row.name in column else {})

        return replace(
            row,
            lacks=replaced(row.lacks, self.lacks),
            cannot=replaced(row.cannot, self.cannot),
            shown_as=replaced(row.shown_as, self.shown_as),
            does=replaced(row.does, self.does),
            checks=replaced(row.checks, self.checks),
        )


def columns() -> dict[str, Column]:
    """The columns that connectors bring: `COLUMN` of `tests/connectors/<platform>/matrix.py`."""
    found: dict[str, Column] = {}
    for platform in PLATFORMS:
        name = f"tests.connectors.{platform}.matrix"
        if importlib.util.find_spec(name) is not None:
            found[platform] = importlib.import_module(name).COLUMN
    return found
