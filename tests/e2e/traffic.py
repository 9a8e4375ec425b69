"""People who write, answer, change and delete at random, and remember what they did."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from bridge.app.demo.reading import read
from bridge.sandbox.feed import LocalMessage
from tests.e2e.processes import NotThere, SandboxProcess, Spot

_TEXT = re.compile(r"^#(\d{5}) said here(?: v(\d+))?", re.MULTILINE)
_WORD = re.compile(r"\bw(\d{5})v\d+n\d{3}\b")
# Words of a long text: as many as people may write there. Those of Slack are more than Discord
# shows in one message, those of Teams more than Slack does.
_WORDS = {"slack": 270, "discord": 130, "teams": 430, "irc": 250}
_WITHOUT_CARDS = ("irc",)  # all is in the text, with the author and a quote in front
EMOJI = ("👍", "🎉", "👀")
SHARING = ("slack", "discord")  # Teams gives bots no files of channels
_REMEMBERED = 300  # newest posts that people still change
_ROOTS = 10  # newest messages of a channel that people answer


@dataclass(frozen=True)
class Change:
    """New words (their version), or None: deleted; `at` is seconds since 1970."""

    version: int | None
    at: float


@dataclass
class PersonPost:
    """A person's post: its number, where it was said, its native id, and what became of it."""

    number: int
    spot: Spot
    person: str
    native_id: str
    changes: list[Change] = field(default_factory=list[Change])
    reactions: set[str] = field(default_factory=set[str])  # of its author
    reacted: bool = False
    file: str = ""  # the name of what was shared with it

    @property
    def deleted(self) -> bool:
        return bool(self.changes) and self.changes[-1].version is None


def written(number: int, version: int, platform: str) -> str:
    """What a person there writes: which post it is, which version of it, and its words."""
    head = f"#{number:05d} said here" + (f" v{version}" if version else "")
    return " ".join((head, *words(number, version, platform)))


def words(number: int, version: int, platform: str) -> list[str]:
    """Each tells where it belongs. One text in seven is long; the others have none."""
    count = 0 if (5 * number + 3 * version) % 7 else _WORDS[platform]
    return [f"w{number:05d}v{version}n{place:03d}" for place in range(count)]


def read_words(text: str) -> Iterator[tuple[int, str]]:
    """Each word of the long text that this is, or goes on with, and the number of the post; none
    of texts that are quoted, or name a thread."""
    own = read_tag(text)
    tags = ((int(word[1]), word[0]) for word in _WORD.finditer(text))
    if own is None:
        return tags if _WORD.match(text) else iter(())
    return (message for message in tags if message[0] == own[0])


def text_of(message: LocalMessage) -> str:
    """What it says: in its card, of which the text may be the beginning alone, or in its text."""
    if message.platform in _WITHOUT_CARDS:
        return read(message).text
    blocks = message.raw.get("blocks") or []
    if all(block.get("type") == "rich_text" for block in blocks):
        blocks = []  # Slack makes them of the text
    card = [blocks, message.raw.get("components"), message.raw.get("attachments")]
    return "\n".join(_texts(card)) or message.text


def _texts(value: object) -> Iterator[str]:
    """All but quotes."""
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _texts(item)
    elif isinstance(value, dict):
        node = cast("dict[str, object]", value)
        if node.get("type") == "rich_text_quote":
            return
        for key, child in node.items():
            if isinstance(child, str) and key in ("content", "text"):
                yield child
            else:
                yield from _texts(child)


def read_tag(text: str) -> tuple[int, int] | None:
    """Number and version of the post that this text is of, or shows under its author's name; None
    for what no person said, though it may quote one."""
    match = _TEXT.search(text)
    return None if match is None else (int(match[1]), int(match[2] or 0))


@dataclass(frozen=True)
class Mix:
    """How often each thing is done; what is left are posts."""

    answers: float = 0.2
    edits: float = 0.25
    deletions: float = 0.12
    reactions: float = 0.12
    files: float = 0.08  # of the posts of those who share any
    # Teams tells bots of reactions to their own messages alone.
    reacting: tuple[str, ...] = ("slack", "discord")


class Traffic:
    """Of every `room`, people in all its channels."""

    def __init__(
        self,
        sandbox: SandboxProcess,
        rooms: Sequence[Sequence[Spot]],
        chance: random.Random,
        mix: Mix,
    ) -> None:
        self.sandbox = sandbox
        self.rooms = rooms
        self.posts: list[PersonPost] = []
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
        text = written(post.number, version, post.spot.platform)
        await self.sandbox.edit(post.spot, post.person, post.native_id, text)

    async def _delete(self) -> None:
        post = self._one_of_the_newest()
        post.changes.append(Change(None, time.time()))
        await self.sandbox.delete(post.spot, post.person, post.native_id)

    async def _react(self) -> None:
        """An emoji of the author's own, put or taken back."""
        post = self._one_of_the_newest(self._mix.reacting)
        emoji = self._random.choice(EMOJI)
        taken_back = emoji in post.reactions
        post.reactions ^= {emoji}
        post.reacted = True
        await self.sandbox.react(
            post.spot, post.person, post.native_id, emoji, taken_back=taken_back
        )

    def _one_of_the_newest(self, platforms: Sequence[str] = ()) -> PersonPost:
        standing = [
            message
            for message in self.posts
            if not message.deleted and (not platforms or message.spot.platform in platforms)
        ]
        return self._random.choice(standing[-_REMEMBERED:])

    async def _root(self, spot: Spot) -> str | None:
        """A message of this channel to answer: somebody's here, or our copy of another's."""
        roots = [
            message
            for message in await self.sandbox.standing(spot)
            if message.thread in (None, message.id) and read_tag(text_of(message))
        ]
        return self._random.choice(roots[-_ROOTS:]).id if roots else None

    async def _say(self, spot: Spot, thread: str | None) -> None:
        number = len(self.posts)
        person = self._random.choice(spot.people)
        text = written(number, 0, spot.platform)
        file = ""
        if spot.platform in SHARING and self._random.random() < self._mix.files:
            file = f"f{number:05d}.txt"
        try:
            message = await self.sandbox.say(spot, person, text, thread, file)
        except NotThere:
            if thread is None:
                raise
            # The bridge deleted its copy after the person had seen it.
            message = await self.sandbox.say(spot, person, text, None, file)
        self.posts.append(PersonPost(number, spot, person, message.id, file=file))
