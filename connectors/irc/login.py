"""Identifies the bot to the network's services (NickServ), and takes its nick back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bridge.errors import AuthFailed, Unavailable
from connectors.irc.settings import IrcSettings
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

_ANSWER_S = 20.0
_GRANTED = ("identified", "recognized", "recognised", "logged in", "accepted")
_DENIED = ("invalid", "incorrect", "denied", "isn't registered", "not registered")


class Login:
    """The login of the bot's connection. `password` returns an empty string if SASL logs it in."""

    def __init__(self, settings: IrcSettings, password: Callable[[], Awaitable[str]]) -> None:
        self._settings = settings
        self._password = password
        self._answer: asyncio.Future[None] | None = None

    def is_services(self, nick: str) -> bool:
        """Whether the nick is that of the services."""
        return nick.lower() == self._settings.nickserv.lower()

    async def identify(self, speaker: Speaker) -> None:
        """Log in if SASL has not. Raises AuthFailed if the services refuse the password, and
        Unavailable if they do not answer."""
        password = await self._password()
        if not password or speaker.link.logged_in:
            return
        self._answer = asyncio.get_running_loop().create_future()
        command = f"IDENTIFY {self._settings.account_name} {password}"
        speaker.link.put([formatted("PRIVMSG", self._settings.nickserv, command)])
        try:
            async with asyncio.timeout(_ANSWER_S):
                await self._answer
        except TimeoutError:
            raise Unavailable(
                f"{self._settings.nickserv} does not answer; nothing is joined"
            ) from None
        finally:
            self._answer = None
        speaker.link.logged_in = True
        self.reclaim_nick(speaker)

    def reclaim_nick(self, speaker: Speaker) -> None:
        """Ask for the configured nick if the bot has another one."""
        if speaker.link.state.is_us(self._settings.nick):
            return
        lines = [formatted("NICK", self._settings.nick)]
        if speaker.link.logged_in:
            command = f"REGAIN {self._settings.nick}"
            lines.insert(0, formatted("PRIVMSG", self._settings.nickserv, command))
        speaker.link.put(lines)

    def reclaim_nick_of(self, speaker: Speaker, line: Line) -> None:
        """Ask for the configured nick if this QUIT or NICK gives it up."""
        fold = speaker.link.state.support.fold
        if fold(line.nick) == fold(self._settings.nick):
            self.reclaim_nick(speaker)

    def receive(self, line: Line) -> None:
        """Take in a line, which may be the answer of the services."""
        answer = self._answer
        if answer is None or answer.done():
            return
        granted = line.command == "900" or (line.command == "MODE" and "r" in line.last)
        text = line.last.lower() if self.is_services(line.nick) else ""
        if granted or any(sign in text for sign in _GRANTED):
            answer.set_result(None)
        elif any(sign in text for sign in _DENIED):
            answer.set_exception(
                AuthFailed(f"{self._settings.nickserv} refuses the bot's password: {line.last}")
            )
