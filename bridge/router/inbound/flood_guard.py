"""What could go round and round: copies that other bridges made of what a room was told already,
and floods that nobody foresaw.

A post that may go round is refused. The room is paused only where bots alone made the loop: as long
as people speak in between, a member could make a bot repeat itself and silence everybody.

A room remembers for a minute of its own time (the platforms' times of what was said, so that
catch-up is no flood) who said what in which channel.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field

from bridge.content.messages.parts import message_text
from bridge.content.text.emoji import emoji_of
from bridge.model import MessagePosted, RoomId
from bridge.router.rooms.rooms import Room
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
class _Said:
    time: float
    channel: str
    author: str
    text: str
    bot: bool


@dataclass
class _Memory:
    """What was said in a room in the last minute."""

    said: deque[_Said] = field(default_factory=deque[_Said])
    texts: Counter[str] = field(default_factory=Counter[str])
    bots: int = 0
    bots_alone: int = 0  # the newest posts, as far as no person spoke

    def add(self, new: _Said) -> None:
        self.said.append(new)
        self.texts[new.text] += 1
        self.bots += new.bot
        self.bots_alone = self.bots_alone + 1 if new.bot else 0
        while len(self.said) > _REMEMBERED or self.said[0].time < new.time - _WINDOW:
            old = self.said.popleft()
            self.bots -= old.bot
            self.texts[old.text] -= 1
            if not self.texts[old.text]:
                del self.texts[old.text]
        self.bots_alone = min(self.bots_alone, len(self.said))


@dataclass(frozen=True)
class Verdict:
    """Why a post does not come in; `flood`: nor does anything else, until somebody looks. Only
    bots make a flood."""

    reason: str
    flood: bool = False


class FloodGuard:
    """One memory for each room, as long as the process lives: what goes round comes at once."""

    def __init__(self) -> None:
        self._rooms: dict[RoomId, _Memory] = {}

    def judge(self, event: MessagePosted, room: Room) -> Verdict | None:
        """None: it may come in, and is remembered."""
        first = event.message.content[0]
        # Files alone are known by their names and sizes.
        text = first.text if isinstance(first, TextPart) else message_text(event.message)[0]
        memory = self._rooms.get(room.id) or self._rooms.setdefault(room.id, _Memory())
        bot = event.author.bot
        channel, author = event.place.channel.key, event.author.id
        new = _Said(event.time.timestamp(), channel, author, text, bot)
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

    def forget(self, room: RoomId) -> None:
        """Begin anew, when a room is resumed."""
        self._rooms.pop(room, None)


def _is_copy(new: _Said, memory: _Memory) -> bool:
    """Whether somebody else said the same in the room, whatever markup or name is before it. In
    its own channel, too: there it comes back from one of our copies."""
    unnamed = _words(_SPEAKER.sub("", new.text, count=1))
    mine = {_words(new.text), unnamed if len(unnamed) >= _SHORTEST else ""} - {""}
    return any(
        (one.channel, one.author) != (new.channel, new.author)
        and abs(new.time - one.time) <= _WINDOW
        and _words(one.text) in mine
        for one in memory.said
    )  # fmt: skip


def _words(text: str) -> str:
    """Its letters and digits, or all its signs where it has none: 👍 comes round, too."""
    named = _SHORTCODE.sub(lambda code: emoji_of(code[1]) or code[0], text)
    return _NO_WORD.sub("", named).casefold() or "".join(named.split())


def _goes_round(new: _Said, memory: _Memory) -> bool:
    """Whether another bridge may carry it round through people's own accounts. A bot that says
    what was said in another channel is refused as a copy."""
    if len(new.text) < _LONG:
        return False
    same = [one for one in memory.said if one.text == new.text]
    return len({one.channel for one in same}) > 1
