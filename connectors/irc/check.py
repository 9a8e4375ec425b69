"""The account before the start: server, login, what the server can do, and each channel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from bridge.errors import AuthFailed, PlatformError
from bridge.model import ChannelRef
from bridge.ports.abilities.health import Health, Use
from bridge.ports.findings import Finding
from connectors.irc import caps, ids
from connectors.irc.link import Link
from connectors.irc.session import JOIN_REFUSED
from connectors.irc.state import State
from connectors.irc.wire import formatted

_LOGIN_TODO = (
    "Register the bot's account with the network's services, then set account, password and sasl."
)
_CHANNEL_S = 10.0


@dataclass(frozen=True)
class AccountHealth:
    """The health of one account; `receiving` returns the state of its connection, and `make_link`
    a new connection with the bot's identity."""

    make_link: Callable[[], Awaitable[Link]]
    receiving: Callable[[], Health]

    def current(self) -> Health:
        return self.receiving()

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """Connects once more, beside a bridge that may be running, and joins the channels."""
        try:
            link = await self.make_link()
            await link.open()
        except AuthFailed as error:
            return [Finding("error", str(error), _LOGIN_TODO)]
        except PlatformError as error:
            return [Finding("error", str(error), "Check host, port, tls and the network.")]
        try:
            findings = [*_of_server(link.state)]
            joinable = [channel for channel in channels if not ids.is_direct(channel)]
            return findings + await _of_channels(link, joinable)
        finally:
            await link.close("checked")


def _of_server(state: State) -> Iterator[Finding]:
    yield Finding("ok", f"The server lets {state.nick!r} in")
    if state.account:
        yield Finding("ok", f"Logged in as {state.account!r}")
    if caps.has_history(state.enabled):
        yield Finding("ok", "The bridge can read back the messages of a downtime")
    else:
        yield Finding(
            "warning",
            "The server keeps no history (draft/chathistory)",
            "Messages of a downtime are lost; the bridge announces the gap in the rooms.",
        )
    if caps.ECHO not in state.enabled:
        yield Finding(
            "warning",
            "The server does not echo messages (echo-message)",
            "A message that it drops in silence cannot be noticed.",
        )


async def _of_channels(link: Link, channels: Sequence[ChannelRef]) -> list[Finding]:
    findings: list[Finding] = []
    if not channels:
        return findings
    link.put([formatted("JOIN", channel.channel) for channel in channels])
    left = {link.state.support.fold(channel.channel): channel.channel for channel in channels}
    try:
        async with asyncio.timeout(_CHANNEL_S):
            async for line in link.lines():
                link.state.observe(line)
                fold = link.state.support.fold
                if line.command == "JOIN" and link.state.is_us(line.nick):
                    if (name := left.pop(fold(line.param(0)), None)) is not None:
                        findings.append(Finding("ok", f"The bot can join {name}"))
                elif (reason := JOIN_REFUSED.get(line.command)) and fold(line.param(1)) in left:
                    name = left.pop(fold(line.param(1)))
                    todo = f"Ask an operator of {name}, or set channel_keys."
                    findings.append(Finding("error", f"The bot cannot join {name}: {reason}", todo))
                if not left:
                    break
    except (TimeoutError, PlatformError):
        pass
    return findings + [
        Finding("error", f"The server does not answer to JOIN {name}", "Try again later.")
        for name in left.values()
    ]
