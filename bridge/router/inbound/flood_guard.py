"""Guards rooms against loops: copies that other bridges make of messages that a room has already,
and floods of any other cause.

A post that may be part of a loop is refused. The room is paused only where bots alone made the
loop: as long as people speak in between, a member could make a bot repeat itself and silence
everybody.

The guard remembers the texts of the last minute of each room, with author and channel. A minute is
counted by the platforms' times of the messages, so that catch-up is no flood.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field

from bridge.content.messages.parts import message_text
from bridge.content.text.emoji import emoji_of
from bridge.model import ActorId, MessagePosted, RoomId
from bridge.router.rooms.programs import is_outside
from bridge.router.rooms.rooms import Room
from bridge.router.signals import Signal
from bridge.uacs import TextPart

_WINDOW = 60.0  # seconds
_REMEMBERED = 2000  # posts of one room
_REPEATED = 30  # times that people say one text in two or more channels, and not by chance
_LONG = 20  # characters
PAUSE = 600.0  # seconds that a room is paused

# "[elsewhere] <Ann> hello", "Ann: hello": how bridges without names of their own say who speaks.
_SPEAKER = re.compile(r"^\s*(?:[\[(][^\])\n]{1,60}[\])]\s*)?\W{0,4}[^\n:>»]{1,80}[:>»]\W{0,4}\s*")
_SHORTEST = 8  # letters; "Ann: ok" may as well be a heading
_NO_WORD = re.compile(r"[\W_]+")
_SHORTCODE = re.compile(r":([a-z0-9_+-]+):")


@dataclass(frozen=True)
class _Post:
    time: float
    channel: str
    author: str
    text: str
    bot: bool


@dataclass
class _Memory:
    """The posts of a room in the last minute."""

    posts: deque[_Post] = field(default_factory=deque[_Post])
    texts: Counter[str] = field(default_factory=Counter[str])
    bots: int = 0
    bots_alone: int = 0  # the newest posts, as far as no person spoke

    def add(self, new: _Post) -> None:
        self.posts.append(new)
        self.texts[new.text] += 1
        self.bots += new.bot
        self.bots_alone = self.bots_alone + 1 if new.bot else 0
        while len(self.posts) > _REMEMBERED or self.posts[0].time < new.time - _WINDOW:
            old = self.posts.popleft()
            self.bots -= old.bot
            self.texts[old.text] -= 1
            if not self.texts[old.text]:
                del self.texts[old.text]
        self.bots_alone = min(self.bots_alone, len(self.posts))


@dataclass(frozen=True)
class Verdict:
    """Why a post is refused. `flood`: the whole room is to be paused; only bots make a flood."""

    reason: str
    flood: bool = False


class FloodGuard:
    """Judges posts by the other posts of their room in the last minute. It remembers them only
    while the process lives: a loop comes back at once."""

    def __init__(self, room_resumed: Signal[RoomId]) -> None:
        self._rooms: dict[RoomId, _Memory] = {}
        room_resumed.subscribe(self._room_resumed)

    def judge(self, event: MessagePosted, room: Room) -> Verdict | None:
        """Return why the post is refused; None for a post that may come in, which is remembered."""
        first = event.message.content[0]
        # Files alone are known by their names and sizes.
        text = first.text if isinstance(first, TextPart) else message_text(event.message)[0]
        memory = self._rooms.get(room.id) or self._rooms.setdefault(room.id, _Memory())
        bot = event.author.bot
        channel, author = event.place.channel, event.author.id
        if is_outside(channel):  # a program and those below it are one: they copy nobody
            author = ActorId(author.partition("/")[0])
        new = _Post(event.time.timestamp(), channel.key, author, text, bot)
        if bot and _is_copy(new, memory):
            return Verdict("a bot says what somebody said just now: another bridge's copy")
        memory.add(new)
        most = room.options.bots_per_minute
        if bot and most is not None and memory.bots > most:
            reason = f"bots said more than {most} things in a minute"
            return Verdict(reason, flood=memory.bots_alone > most)
        if not bot and memory.texts[text] >= _REPEATED and _goes_round(new, memory):
            return Verdict("people said the same again and again in several channels")
        return None

    async def _room_resumed(self, room: RoomId) -> None:
        self.forget(room)

    def forget(self, room: RoomId) -> None:
        """Forget the posts of a room that is resumed."""
        self._rooms.pop(room, None)


def _is_copy(new: _Post, memory: _Memory) -> bool:
    """Whether somebody else posted the same text in the room, whatever markup or name stands before
    it. A copy in its own channel counts, too: it comes back from one of our copies."""
    unnamed = _words(_SPEAKER.sub("", new.text, count=1))
    mine = {_words(new.text), unnamed if len(unnamed) >= _SHORTEST else ""} - {""}
    return any(
        (post.channel, post.author) != (new.channel, new.author)
        and abs(new.time - post.time) <= _WINDOW
        and _words(post.text) in mine
        for post in memory.posts
    )  # fmt: skip


def _words(text: str) -> str:
    """The letters and digits of the text, or all its signs where it has none: a lone 👍 is copied,
    too."""
    named = _SHORTCODE.sub(lambda code: emoji_of(code[1]) or code[0], text)
    return _NO_WORD.sub("", named).casefold() or "".join(named.split())


def _goes_round(new: _Post, memory: _Memory) -> bool:
    """Whether another bridge may carry the text round through people's own accounts. A bot's post
    with the text of another channel is refused as a copy."""
    if len(new.text) < _LONG:
        return False
    return len({post.channel for post in memory.posts if post.text == new.text}) > 1
