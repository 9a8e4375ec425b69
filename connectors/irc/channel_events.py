"""Events of channels: members who come and go, topics, modes, reactions, redactions, kicks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from bridge.ports.clock import Clock
from connectors.irc import ids
from connectors.irc.decode import NETJOIN, NETSPLIT
from connectors.irc.inbox_writer import InboxWriter
from connectors.irc.login import Login
from connectors.irc.presence import GATHER_S, Splits, is_split
from connectors.irc.puppets import Puppets
from connectors.irc.session import Session
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

EVENTS = ("JOIN", "PART", "QUIT", "KICK", "NICK", "TOPIC", "MODE", "TAGMSG", "REDACT")
_REJOIN_S, _MAX_REJOINS = 30.0, 3


class ChannelEvents:
    """Takes each line of the bot's connection whose command is one of `EVENTS`."""

    def __init__(
        self, session: Session, writer: InboxWriter, puppets: Puppets, login: Login, clock: Clock
    ) -> None:
        self._session = session
        self._writer = writer
        self._puppets = puppets
        self._login = login
        self._clock = clock
        self._splits = Splits()
        self._kicks: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def connection_lost(self) -> None:
        """Forget what was to be done later on the connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def receive(
        self, speaker: Speaker, line: Line, channels: Sequence[str], *, own: bool
    ) -> None:
        """Write the event to the inbox.

        Args:
            speaker: the bot's connection.
            line: the line.
            channels: the channels that the nick was in before a QUIT or NICK, folded.
            own: whether the bot itself did it.
        """
        if self._puppets.is_ours(line.nick):
            return
        match line.command:
            case "QUIT" | "NICK":
                await self._quit_or_renamed(speaker, line, channels, own=own)
            case "JOIN":
                await self._joined(speaker, line, own=own)
            case "KICK":
                await self._kicked(speaker, line, own=own)
            case "TAGMSG":
                if not own:
                    await self._tagged(speaker, line)
            case "MODE" if not speaker.link.state.support.is_channel(line.param(0)):
                return
            case _:
                await self._write(speaker, line, line.param(0), own=own)

    async def _quit_or_renamed(
        self, speaker: Speaker, line: Line, channels: Sequence[str], *, own: bool
    ) -> None:
        fold = speaker.link.state.support.fold
        if line.command == "QUIT" and not own and is_split(line.last):
            self._splits.quit(channels, fold(line.nick), line.last, self._clock.time())
            self._write_splits_later(speaker)
            return
        for channel in channels:
            await self._write(speaker, line, channel, own=own)
        if not own:
            self._login.reclaim_nick_of(speaker, line)

    async def _joined(self, speaker: Speaker, line: Line, *, own: bool) -> None:
        name, fold = line.param(0), speaker.link.state.support.fold
        if own:
            self._session.joined(name)
            if self._session.began:
                self._writer.session_began(self._session.ref(name))
        elif self._splits.joined(fold(name), fold(line.nick), self._clock.time()):
            self._write_splits_later(speaker)
        else:
            await self._write(speaker, line, name)

    async def _kicked(self, speaker: Speaker, line: Line, *, own: bool) -> None:
        state, (name, nick) = speaker.link.state, (line.param(0), line.param(1))
        if state.is_us(nick):
            await self._write(speaker, line, name, own=True)
            self._rejoin_later(speaker, name)
        else:
            await self._write(speaker, line, name, own=own, account=state.account_of(nick))

    async def _tagged(self, speaker: Speaker, line: Line) -> None:
        state = speaker.link.state
        account = state.account_of(line.nick)
        line = line.with_account(account)
        channel = self._session.channel_of(line, state.support.without_status(line.param(0)))
        typing = "+typing" in line.tags and "+draft/react" not in line.tags
        await self._writer.event(line, channel, volatile=typing, account=account)

    async def _write(
        self, speaker: Speaker, line: Line, target: str, *, own: bool = False, **details: Any
    ) -> None:
        details.setdefault("account", speaker.link.state.account_of(line.nick))
        await self._writer.event(line, self._session.ref(target), own=own, **details)

    # --- later ------------------------------------------------------------------------------

    def _rejoin_later(self, speaker: Speaker, name: str) -> None:
        folded = speaker.link.state.support.fold(name)
        self._kicks[folded] = self._kicks.get(folded, 0) + 1
        if self._kicks[folded] > _MAX_REJOINS:
            self._session.problems[folded] = f"{name}: the bot was kicked again and again"
        else:
            self._start(self._rejoin(speaker, name), "irc rejoin")

    async def _rejoin(self, speaker: Speaker, name: str) -> None:
        await self._clock.sleep(_REJOIN_S)
        speaker.link.put([formatted("JOIN", name)])

    def _write_splits_later(self, speaker: Speaker) -> None:
        if not any(task.get_name() == "irc splits" for task in self._tasks):
            self._start(self._write_splits(speaker), "irc splits")

    async def _write_splits(self, speaker: Speaker) -> None:
        await self._clock.sleep(GATHER_S)
        for kind, splits in (
            (NETSPLIT, self._splits.take_left()), (NETJOIN, self._splits.take_back()),
        ):  # fmt: skip
            for channel, split in splits:
                line = Line("QUIT", (split.servers,), ids.SERVER)
                await self._write(
                    speaker, line, channel, kind=kind, nicks=[*split.nicks], account="*"
                )

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
