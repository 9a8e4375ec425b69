"""Connections of single authors, as many as the settings allow; idle ones are closed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from bridge.errors import PlatformError, Refused
from bridge.model import AccountId, ChannelRef
from bridge.ports.clock import Clock
from connectors.irc import caps, ids
from connectors.irc.batches import Batch, Batches
from connectors.irc.bylines import nick_from
from connectors.irc.link import Link
from connectors.irc.posts import Posts
from connectors.irc.session import JOIN_REFUSED
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

log = structlog.get_logger()

_JOIN_S = 10.0
_AGAIN_S = 300.0  # after a connection that the server refused
_LOOK_S = 30.0


@dataclass
class _Puppet:
    """One author's connection."""

    speaker: Speaker
    reading: asyncio.Task[None]
    used: float
    joined: dict[str, asyncio.Future[None]] = field(default_factory=dict[str, asyncio.Future[None]])


class Puppets:
    """`open_link` makes a connection for one of these nicks and a real name; None: puppets are
    off. `nick_length` returns the longest nick that the server accepts; `limit` is the greatest
    number of connections."""

    def __init__(
        self,
        account: AccountId,
        open_link: Callable[[Sequence[str], str], Link] | None,
        nick_length: Callable[[], int],
        clock: Clock,
        *,
        limit: int,
        suffix: str,
        idle: float,
        max_lines: int,
    ) -> None:
        self._account = account
        self._open_link = open_link
        self._nick_length = nick_length
        self._clock = clock
        self._limit = limit
        self._suffix = suffix
        self._idle = idle
        self._max_lines = max_lines
        self._puppets: OrderedDict[str, _Puppet] = OrderedDict()
        self._refused_until = 0.0
        self._opening = asyncio.Lock()

    def is_ours(self, nick: str) -> bool:
        """Whether one of our authors has this nick, now or before a restart."""
        if self._open_link is None:
            return False
        if any(puppet.speaker.link.state.is_us(nick) for puppet in self._puppets.values()):
            return True
        return bool(self._suffix) and nick.lower().endswith(self._suffix.lower())

    async def speaker(self, name: str, channel: ChannelRef) -> Speaker | None:
        """The author's own connection, in the channel; None where the bot itself must speak."""
        if self._open_link is None or self._clock.monotonic() < self._refused_until:
            return None
        try:
            async with self._opening:
                puppet = self._puppets.get(name) or await self._begin(name)
            puppet.used = self._clock.monotonic()
            self._puppets.move_to_end(name)
            await self._join(puppet, channel.channel)
        except (PlatformError, TimeoutError) as error:
            log.warning("puppet_refused", account=self._account, error=str(error))
            self._refused_until = self._clock.monotonic() + _AGAIN_S
            return None
        return puppet.speaker

    async def _begin(self, name: str) -> _Puppet:
        assert self._open_link is not None  # noqa: S101 - `speaker` checks it
        while len(self._puppets) >= self._limit:
            _, oldest = self._puppets.popitem(last=False)
            await _end(oldest)
        link = self._open_link(self._nicks(name), name)
        await link.open()
        speaker = Speaker(link, Posts(), max_lines=self._max_lines, quiet=False, is_puppet=True)
        puppet = _Puppet(speaker, asyncio.create_task(asyncio.sleep(0)), self._clock.monotonic())
        puppet.reading = asyncio.create_task(self._read(name, puppet), name="irc puppet")
        self._puppets[name] = puppet
        return puppet

    def _nicks(self, name: str) -> list[str]:
        """The nick of an author, and others with a number while somebody has it; all with the
        suffix, by which they are known for ours."""
        length = min(self._nick_length(), 30)
        room = max(1, length - len(self._suffix) - 1)
        first = nick_from(name, self._suffix, length)
        bare = first.removesuffix(self._suffix)[:room]
        return [first, *(f"{bare}{number}{self._suffix}" for number in range(2, 10))]

    async def _join(self, puppet: _Puppet, channel: str) -> None:
        state = puppet.speaker.link.state
        if state.is_joined(channel):
            return
        folded = state.support.fold(channel)
        waiting = puppet.joined.setdefault(folded, asyncio.get_running_loop().create_future())
        puppet.speaker.link.put([formatted("JOIN", channel)])
        async with asyncio.timeout(_JOIN_S):
            await asyncio.shield(waiting)

    async def _read(self, name: str, puppet: _Puppet) -> None:
        """Settle its posts by their echoes; the bot's own connection receives everything else."""
        speaker, batches = puppet.speaker, Batches()
        try:
            async for line in speaker.link.lines():
                item = batches.feed(line)
                if isinstance(item, Line):
                    self._receive(puppet, item, item.tags.get("label", ""))
                elif isinstance(item, Batch):
                    label = item.start.tags.get("label", "")
                    merged = item.merged() if item.kind == caps.MULTILINE else None
                    for received in [merged] if merged else item.lines():
                        self._receive(puppet, received, label)
        except PlatformError as error:
            log.info("puppet_lost", error=str(error))
        finally:
            speaker.posts.lost("The author's connection ended")
            if self._puppets.get(name) is puppet:
                del self._puppets[name]

    def _receive(self, puppet: _Puppet, line: Line, label: str) -> None:
        speaker = puppet.speaker
        state, fold = speaker.link.state, speaker.link.state.support.fold
        state.observe(line)
        if line.command == "JOIN" and state.is_us(line.nick):
            waiting = puppet.joined.pop(fold(line.param(0)), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
        elif line.command == "PRIVMSG" and state.is_us(line.nick):
            if (sent := speaker.posts.echoed(line, label, fold)) is not None:
                sent.settle(line.tags.get("msgid") or self._made_id(line.nick, line.last))
        elif line.command == "PONG":
            speaker.posts.fenced(line.last, lambda post: self._made_id(state.nick, post.text))
        elif line.command == "ACK":
            speaker.posts.acknowledged(label, lambda post: self._made_id(state.nick, post.text))
        elif line.command in JOIN_REFUSED and fold(line.param(1)) in puppet.joined:
            puppet.joined.pop(fold(line.param(1))).set_exception(
                Refused(f"{state.nick} cannot join {line.param(1)}: {line.last}")
            )
        else:
            speaker.posts.refused(line, label, fold)

    def _made_id(self, nick: str, text: str) -> str:
        return ids.made_id(int(self._clock.time() * 1000), nick, text)

    async def reap(self) -> None:
        """Until cancelled: close the connections of authors who have been silent."""
        while True:
            await self._clock.sleep(_LOOK_S)
            now = self._clock.monotonic()
            for name in [
                n for n, puppet in self._puppets.items() if now - puppet.used > self._idle
            ]:
                await _end(self._puppets.pop(name))

    async def close(self) -> None:
        while self._puppets:
            _, puppet = self._puppets.popitem()
            await _end(puppet)


async def _end(puppet: _Puppet) -> None:
    puppet.reading.cancel()
    await asyncio.gather(puppet.reading, return_exceptions=True)
    await puppet.speaker.link.close("idle")
