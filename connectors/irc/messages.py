"""Messages of people, and echoes of our own posts."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.ports.clock import Clock
from connectors.irc import ids
from connectors.irc.inbox_writer import InboxWriter
from connectors.irc.login import Login
from connectors.irc.presses import Presses
from connectors.irc.puppets import Puppets
from connectors.irc.raws import nicks_in
from connectors.irc.session import Session
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

_CTCP_S = 10.0  # between two answers to CTCP


class Messages:
    """Takes each PRIVMSG and NOTICE of the bot's connection."""

    def __init__(
        self,
        session: Session,
        writer: InboxWriter,
        presses: Presses,
        puppets: Puppets,
        login: Login,
        clock: Clock,
    ) -> None:
        self._session = session
        self._writer = writer
        self._presses = presses
        self._puppets = puppets
        self._login = login
        self._clock = clock
        self._ctcp_at = -_CTCP_S

    async def receive(self, speaker: Speaker, line: Line, label: str) -> None:
        """Write a message or a press to the inbox, answer CTCP, or settle the call of an echo."""
        state = speaker.link.state
        if line.is_from_server:
            return  # notices of the server are for its users, not for rooms
        if state.is_us(line.nick):
            await self._settle(speaker, line, label)
            return
        if self._puppets.is_ours(line.nick):
            return
        line = line.with_account(state.account_of(line.nick))
        target = state.support.without_status(line.param(0))
        if not state.support.is_channel(target) and self._login.is_services(line.nick):
            return
        if line.last.startswith("\x01") and not line.last.upper().startswith("\x01ACTION "):
            self._answer_ctcp(speaker, line)
            return
        channel = self._session.channel_of(line, target)
        if not await self._presses.receive(line, channel, state.account_of(line.nick)):
            people = _addressed_people(speaker, line, target)
            await self._writer.message(line, channel, us=state.nick, people=people)

    async def _settle(self, speaker: Speaker, line: Line, label: str) -> None:
        """Settle the call whose echo the line is."""
        state = speaker.link.state
        waiting = speaker.posts.echoed(line, label, state.support.fold)
        if waiting is None:
            return
        raw = await self._writer.message(
            line, waiting.call.channel, us=state.nick, sent=waiting.sent
        )
        waiting.settle(raw.echo.receipt.native_id if raw.echo and raw.echo.receipt else "")

    def _answer_ctcp(self, speaker: Speaker, line: Line) -> None:
        """Answer VERSION and PING alone, by NOTICE, and seldom: requests may come in floods."""
        now = self._clock.monotonic()
        if line.command != "PRIVMSG" or now - self._ctcp_at < _CTCP_S:
            return
        command, _, argument = line.last.strip("\x01").partition(" ")
        answers = {"VERSION": "VERSION uacs-bridge", "PING": f"PING {argument[:64]}"}
        if answer := answers.get(command.upper()):
            self._ctcp_at = now
            speaker.link.put([formatted("NOTICE", line.nick, f"\x01{answer}\x01")])


def _addressed_people(speaker: Speaker, line: Line, target: str) -> Mapping[str, str]:
    """Return the native actors of the nicks that the text may address."""
    state = speaker.link.state
    members = {**state.members(target), state.support.fold(state.nick): state.nick}
    return {
        nick: ids.native_actor(nick, state.account_of(nick))
        for nick in nicks_in(line.last, members, state.support.fold)
    }
