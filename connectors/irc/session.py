"""The bot's connection of the moment, and the channels that it should be in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from bridge.errors import AuthFailed, NotFound, PlatformError, Refused, Unavailable
from bridge.model import ChannelRef
from connectors.irc import caps, ids
from connectors.irc.isupport import Support
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted, words_within

_JOIN_S = 15.0
_JOIN_BYTES = 380
_JOINS = 10  # channels of one JOIN line
JOIN_REFUSED = {
    "403": "there is no such channel",
    "405": "the bot is in too many channels",
    "437": "services hold the channel",
    "448": "the server does not take its name",
    "471": "it is full",
    "473": "it takes invited people alone",
    "474": "the bot is banned",
    "475": "it has a key: set channel_keys",
    "476": "the server does not take its name",
    "477": "the bot must log in to an account",
    "489": "it takes encrypted connections alone",
}


class Session:
    """`speaker` is None while there is no connection."""

    def __init__(self, network: str) -> None:
        self.network = network
        self.speaker: Speaker | None = None
        self.began = False  # the bot has joined its channels, as far as the server lets it in
        self.support = Support()  # of the last connection, for names between two of them
        self._names: dict[str, str] = {}
        self._joins: dict[str, asyncio.Future[None]] = {}
        self.keys: Mapping[str, str] = {}
        self.problems: dict[str, str] = {}  # channel -> why we are not in it

    def require(self) -> Speaker:
        """Raises Unavailable while there is no connection."""
        if self.speaker is None:
            raise Unavailable("There is no connection to the IRC server now", code="disconnected")
        return self.speaker

    def takes_reaction(self, emoji: str) -> bool:
        """Unicode alone, where the server relays reactions."""
        if self.speaker is None or emoji.startswith(":"):
            return False
        state = self.speaker.link.state
        return state.has(caps.TAGS) and state.support.takes_client_tag("draft/react")

    # --- channels ---------------------------------------------------------------------------

    def add_channels(self, names: Iterable[str]) -> None:
        """Add channels that the bot joins, now if it is connected."""
        new = [name for name in names if ids.lower(name) not in self._names]
        for name in new:
            self._names[ids.lower(name)] = name
        if new and self.speaker is not None:
            self.join(new)

    @property
    def channels(self) -> list[str]:
        """The channels that the bot joins."""
        return list(self._names.values())

    @property
    def note(self) -> str:
        """Why the bot is not in all of them."""
        return "; ".join(sorted(self.problems.values()))[:500]

    def channel_of(self, line: Line, target: str) -> ChannelRef:
        """The channel `target`, or the direct messages of the line's author."""
        if self.support.is_channel(target):
            return self.ref(target)
        return ids.direct_ref(self.network, line.nick, line.tags.get("account", ""))

    def ref(self, target: str) -> ChannelRef:
        """The channel that a server calls so, by the spelling that we know it by."""
        fold = self.support.fold
        folded = fold(target)
        spelling = next((name for name in self._names.values() if fold(name) == folded), target)
        return ids.channel_ref(self.network, spelling)

    def join(self, names: Iterable[str]) -> None:
        speaker = self.require()
        plain = [name for name in names if ids.lower(name) not in self.keys]
        keyed = [name for name in names if ids.lower(name) in self.keys]
        lines = [formatted("JOIN", channels) for channels in _joined(plain)]
        lines += [formatted("JOIN", name, self.keys[ids.lower(name)]) for name in keyed]
        speaker.link.put(lines)

    async def ensure_joined(self, channel: ChannelRef) -> None:
        """Raises NotFound or Refused where the server does not let us in."""
        speaker = self.require()
        name = channel.channel
        if ids.is_direct(channel) or speaker.link.state.is_joined(name):
            return
        folded = speaker.link.state.support.fold(name)
        if folded not in self._joins:
            self._joins[folded] = asyncio.get_running_loop().create_future()
            self.join([name])
        try:
            async with asyncio.timeout(_JOIN_S):
                await asyncio.shield(self._joins[folded])
        except TimeoutError:
            raise Unavailable(f"The server does not let us into {name} yet") from None

    def joined(self, name: str) -> None:
        folded = self.support.fold(name)
        self.problems.pop(folded, None)
        waiting = self._joins.pop(folded, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def join_refused(self, line: Line) -> bool:
        """An error reply to a JOIN; False where it is to something else."""
        reason = JOIN_REFUSED.get(line.command)
        name = line.param(1)
        folded = self.support.fold(name)
        names = {self.support.fold(known_name) for known_name in self._names.values()}
        if reason is None or not (folded in self._joins or folded in names):
            return False
        if self.speaker is not None and self.speaker.link.state.is_joined(name):
            return False
        self.problems[folded] = f"{name}: {reason}"
        waiting = self._joins.pop(folded, None)
        if waiting is not None and not waiting.done():
            text = f"The bot cannot join {name}: {reason}"
            kind = AuthFailed if line.command == "477" else Refused
            error = NotFound(text, code="403") if line.command == "403" else kind(text)
            waiting.set_exception(error)
            waiting.exception()
        return True

    def lost(self, error: PlatformError) -> None:
        self.speaker = None
        self.began = False
        for waiting in self._joins.values():
            if not waiting.done():
                waiting.set_exception(error)
                waiting.exception()
        self._joins.clear()


def _joined(names: list[str]) -> Iterator[str]:
    """Names with commas between them, in as few strings as one JOIN line each takes."""
    for line in words_within(names, _JOIN_BYTES):
        words = line.split(" ")
        for at in range(0, len(words), _JOINS):
            yield ",".join(words[at : at + _JOINS])
