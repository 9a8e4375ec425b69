"""People who write, answer, change and delete at random, and remember what they did."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.e2e.town import Spot, Town

_TEXT = re.compile(r"^#(\d{5}) said here(?: v(\d+))?", re.MULTILINE)
EMOJI = ("👍", "🎉", "👀")
_REMEMBERED = 300  # newest posts that people still change
_ROOTS = 10  # newest messages of a channel that people answer


@dataclass(frozen=True)
class Change:
    """New words (their version), or None: deleted; `at` is seconds since 1970."""

    version: int | None
    at: float


@dataclass
class Said:
    """A person's post: its number, where it was said, its native id, and what became of it."""

    number: int
    spot: Spot
    person: str
    native_id: str
    changes: list[Change] = field(default_factory=list[Change])
    reactions: set[str] = field(default_factory=set[str])  # of its author
    reacted: bool = False

    @property
    def deleted(self) -> bool:
        return bool(self.changes) and self.changes[-1].version is None

    @staticmethod
    def text(number: int, version: int = 0) -> str:
        return f"#{number:05d} said here" + (f" v{version}" if version else "")


def read_tag(text: str) -> tuple[int, int] | None:
    """Number and version of the post that this text is of, or shows under its author's name; None
    for what no person said, though it may quote one."""
    found = _TEXT.search(text)
    return None if found is None else (int(found[1]), int(found[2] or 0))


@dataclass(frozen=True)
class Mix:
    """How often each thing is done; what is left are posts."""

    answers: float = 0.2
    edits: float = 0.25
    deletions: float = 0.12
    reactions: float = 0.12
    # Teams tells bots of reactions to their own messages alone.
    reacting: tuple[str, ...] = ("slack", "discord")


class Crowd:
    """Of every `room`, people in all its channels."""

    def __init__(
        self, town: Town, rooms: Sequence[Sequence[Spot]], chance: random.Random, mix: Mix
    ) -> None:
        self.town = town
        self.rooms = rooms
        self.said: list[Said] = []
        self.events = 0
        self._random = chance
        self._mix = mix

    async def one_each(self) -> None:
        """A first post in every channel."""
        for room in self.rooms:
            for spot in room:
                await self._say(spot, None)
        self.events = 0

    async def act(self, count: int, pause: float) -> None:
        """That many events, with random pauses of `pause` seconds on average."""
        for _ in range(count):
            await self._act()
            self.events += 1
            await asyncio.sleep(self._random.expovariate(1 / pause))

    async def _act(self) -> None:
        choice, mix = self._random.random(), self._mix
        if choice < mix.edits:
            await self._edit()
        elif choice < mix.edits + mix.deletions:
            await self._delete()
        elif choice < mix.edits + mix.deletions + mix.reactions:
            await self._react()
        else:
            spot = self._random.choice(self._random.choice(self.rooms))
            answers = choice < mix.edits + mix.deletions + mix.reactions + mix.answers
            await self._say(spot, await self._root(spot) if answers else None)

    async def _edit(self) -> None:
        post = self._one_of_the_newest()
        version = 1 + max((change.version or 0 for change in post.changes), default=0)
        post.changes.append(Change(version, time.time()))
        text = Said.text(post.number, version)
        await self.town.edit(post.spot, post.person, post.native_id, text)

    async def _delete(self) -> None:
        post = self._one_of_the_newest()
        post.changes.append(Change(None, time.time()))
        await self.town.delete(post.spot, post.person, post.native_id)

    async def _react(self) -> None:
        """An emoji of the author's own, put or taken back."""
        post = self._one_of_the_newest(self._mix.reacting)
        emoji = self._random.choice(EMOJI)
        taken_back = emoji in post.reactions
        post.reactions ^= {emoji}
        post.reacted = True
        await self.town.react(post.spot, post.person, post.native_id, emoji, taken_back=taken_back)

    def _one_of_the_newest(self, platforms: Sequence[str] = ()) -> Said:
        standing = [
            one
            for one in self.said
            if not one.deleted and (not platforms or one.spot.platform in platforms)
        ]
        return self._random.choice(standing[-_REMEMBERED:])

    async def _root(self, spot: Spot) -> str | None:
        """A message of this channel to answer: somebody's here, or our copy of another's."""
        roots = [
            shown
            for shown in await self.town.standing(spot)
            if shown.thread in (None, shown.id) and read_tag(shown.text)
        ]
        return self._random.choice(roots[-_ROOTS:]).id if roots else None

    async def _say(self, spot: Spot, thread: str | None) -> None:
        number = len(self.said)
        person = self._random.choice(spot.people)
        shown = await self.town.say(spot, person, Said.text(number), thread)
        self.said.append(Said(number, spot, person, shown.id))
