"""A local IRC server on loopback: programs connect to it, and tests act for people on it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from connectors.irc.sandbox.client import SERVER, Client
from connectors.irc.sandbox.protocol import format_line
from connectors.irc.sandbox.world import Fault, FaultKind, Message, World, fold

_LOOPBACK = ("127.0.0.1", "::1")
_MAX_CLIENTS = 200
MODERN: Mapping[str, str] = {
    "account-notify": "", "account-tag": "", "away-notify": "", "batch": "", "cap-notify": "",
    "chghost": "", "draft/chathistory": "", "draft/event-playback": "",
    "draft/message-redaction": "", "draft/multiline": "max-bytes=4096,max-lines=100",
    "echo-message": "", "extended-join": "", "labeled-response": "", "message-tags": "",
    "multi-prefix": "", "sasl": "PLAIN,EXTERNAL", "server-time": "", "setname": "",
    "standard-replies": "",
}  # fmt: skip
PLAIN: Mapping[str, str] = {}

MessageChange = Literal["posted", "deleted", "marked"]
OnChange = Callable[[MessageChange, Message], None]
NextFault = Callable[[bool, str, tuple[FaultKind, ...]], Fault | None]


class IrcServer:
    """A server with the capabilities `offers` (`MODERN`, `PLAIN` or some of them, with values).

    - `flood`: lines at once and per second, beyond which clients are closed; None: no limit.
    - `naks`: capabilities that are offered and refused. `certified`: the account whose
      certificate SASL EXTERNAL accepts.
    - `truncated`: the number of lines that were cut because they had more than 512 bytes.
    - `on_change` is called for every message that is posted, deleted or reacted to.
    - `next_fault` returns faults beside those of `world`; its arguments: whether a client sent it,
      its target, and the kinds that can happen.
    """

    def __init__(self, offers: Mapping[str, str] = MODERN) -> None:
        self.offers = dict(offers)
        self.world = World()
        self.flood: tuple[int, float] | None = None
        self.naks: set[str] = set()
        self.certified = ""
        self.services: list[str] = []
        self.services_silent = False
        self.multiline: tuple[int, int] = (4096, 100)  # bytes and lines of a message
        self.banned: set[str] = set()
        self.truncated = 0
        self.clients: list[Client] = []
        self.address = ("127.0.0.1", 0)
        self.on_change: OnChange | None = None
        self.next_fault: NextFault | None = None
        self._server: asyncio.Server | None = None

    # --- life -------------------------------------------------------------------------------

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        """Listen. Raises ValueError for an address that other machines could reach, OSError for a
        port that is taken."""
        if host not in _LOOPBACK:
            raise ValueError(
                f"{host!r} is not loopback; the local server serves this machine alone"
            )
        self._server = await asyncio.start_server(self._serve, host, port, limit=16_384, ssl=tls)
        self.address = self._server.sockets[0].getsockname()[:2]

    async def stop(self) -> None:
        """Stop listening and close every connection; it may be called again."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.disconnect()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(self, writer)
        if len(self.clients) >= _MAX_CLIENTS:
            client.close("Too many connections")
            return
        self.clients.append(client)
        try:
            await client.serve(reader)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            if client in self.clients:
                self.leave(client, "Connection reset by peer")
            writer.close()

    def app(self, nick: str = "bridge", *channels: str) -> dict[str, Any]:
        """What `sandbox_settings` of the connector needs."""
        host, port = self.address
        return {"host": host, "port": port, "nick": nick, "channels": channels}

    def disconnect(self, reason: str = "") -> None:
        """Break every connection, or close it with a reason."""
        for client in list(self.clients):
            if reason:
                client.close(reason)
            else:
                client.abort()
            self.leave(client, reason or "Connection reset by peer")

    # --- what tests read --------------------------------------------------------------------

    def messages(self, channel: str) -> Sequence[Message]:
        return list(self.world.channel(channel).history)

    def texts(self, channel: str) -> list[str]:
        return [message.text for message in self.messages(channel)]

    def members(self, channel: str) -> list[str]:
        return sorted(self.world.channel(channel).nicks.values())

    def fault(self, fault: Fault) -> None:
        self.world.faults.append(fault)

    def take_fault(self, target: str, *kinds: FaultKind, from_client: bool) -> Fault | None:
        """Removes and returns the next fault of these kinds in a message to `target`."""
        fault = self.world.take_fault(*kinds, from_client=from_client)
        if fault is None and self.next_fault is not None:
            return self.next_fault(from_client, target, kinds)
        return fault

    def is_taken(self, nick: str, besides: Client | None = None) -> bool:
        clients = (client for client in self.clients if client is not besides)
        return fold(nick) in self.world.people or any(
            fold(client.nick) == fold(nick) for client in clients
        )

    # --- people and clients -----------------------------------------------------------------

    def person(self, nick: str, account: str = "") -> None:
        """Add a person, who needs no connection."""
        self.world.people[fold(nick)] = nick
        if account:
            self.world.logged_in[fold(nick)] = account

    def join(self, nick: str, channel: str, *, client: Client | None = None) -> None:
        if client is None and fold(nick) not in self.world.people:
            self.person(nick)
        joined = self.world.channel(channel)
        if not joined.nicks:
            joined.operators.add(fold(nick))
        joined.nicks[fold(nick)] = nick
        account = self._account(nick)
        for member in self._clients_in(channel):
            extended = (account or "*", nick) if "extended-join" in member.caps else ()
            self._event(member, nick, "JOIN", joined.name, *extended)
        if client is not None:
            if joined.topic:
                client.send_reply("332", joined.name, joined.topic)
            client.names(channel)

    def part(self, nick: str, channel: str, reason: str = "") -> None:
        for member in self._clients_in(channel):
            self._event(member, nick, "PART", channel, reason)
        self.world.channel(channel).nicks.pop(fold(nick), None)

    def quit(self, nick: str, reason: str = "Quit: bye") -> None:
        """A person leaves the network."""
        self._announce_quit(nick, reason)
        self.world.people.pop(fold(nick), None)
        self.world.logged_in.pop(fold(nick), None)

    def leave(self, client: Client, reason: str) -> None:
        """A client is gone."""
        if client in self.clients:
            self.clients.remove(client)
            self._announce_quit(client.nick, reason)

    def _announce_quit(self, nick: str, reason: str) -> None:
        channels = [joined for joined in self.world.channels.values() if fold(nick) in joined.nicks]
        witnesses = {id(c): c for channel in channels for c in self._clients_in(channel.name)}
        for channel in channels:
            del channel.nicks[fold(nick)]
        for witness in witnesses.values():
            if fold(witness.nick) != fold(nick):
                self._event(witness, nick, "QUIT", reason)

    def netsplit(self, nicks: Iterable[str], servers: str = "hub.local leaf.local") -> None:
        """A server is lost: everybody on it quits with the names of two servers."""
        for nick in list(nicks):
            self.quit(nick, servers)

    def kick(self, by: str, channel: str, nick: str, reason: str = "") -> None:
        for member in self._clients_in(channel):
            self._event(member, by, "KICK", channel, nick, reason)
        self.world.channel(channel).nicks.pop(fold(nick), None)

    def rename(self, who: Client | str, nick: str) -> None:
        """A client or a person takes another nick."""
        before = who.nick if isinstance(who, Client) else who
        channels = self._channels_of(before)
        witnesses = {id(c): c for channel in channels for c in self._clients_in(channel)}
        for witness in witnesses.values():
            self._event(witness, before, "NICK", nick)
        for channel in self.world.channels.values():
            if channel.nicks.pop(fold(before), None):
                channel.nicks[fold(nick)] = nick
        if isinstance(who, Client):
            if not channels:
                self._event(who, before, "NICK", nick)
            who.nick = nick
        else:
            self.world.people.pop(fold(before), None)
            self.person(nick, self.world.logged_in.pop(fold(before), ""))

    def regain(self, client: Client, nick: str) -> None:
        """Services take a nick from a person and give it to its owner."""
        if fold(nick) in self.world.people:
            self.quit(nick, "Killed (services: regained)")
        self.rename(client, nick)

    def topic(self, by: str, channel: str, topic: str) -> None:
        self.world.channel(channel).topic = topic
        for member in self._clients_in(channel):
            self._event(member, by, "TOPIC", channel, topic)

    def mode(self, by: str, channel: str, modes: str) -> None:
        current = self.world.channel(channel).modes
        (current.update if modes.startswith("+") else current.difference_update)(modes[1:])
        for member in self._clients_in(channel):
            self._event(member, by, "MODE", channel, modes)

    # --- messages ---------------------------------------------------------------------------

    def say(
        self, nick: str, channel: str, text: str, *, reply: str = "", notice: bool = False
    ) -> Message:
        """A person writes a message; they join first if they must. `reply` is the msgid of the
        message that they answer."""
        if channel.startswith("#") and fold(nick) not in self.world.channel(channel).nicks:
            self.join(nick, channel)
        tags = {"+reply": reply} if reply else {}
        command = "NOTICE" if notice else "PRIVMSG"
        lines = [(line, False) for line in text.split("\n")] if "\n" in text else []
        return self.publish(nick, channel, text, command=command, tags=tags, lines=lines)

    def publish(
        self,
        nick: str,
        target: str,
        text: str,
        *,
        command: str = "PRIVMSG",
        tags: Mapping[str, str] | None = None,
        lines: list[tuple[str, bool]] | None = None,
        client: Client | None = None,
    ) -> Message:
        """Store a message of a person or of `client`, and deliver it to everybody in `target`."""
        account = client.account if client else self._account(nick)
        message = Message(
            self.world.new_id(), self.world.now(), nick, _mask(nick, client), account, command,
            target, text, dict(tags or {}), list(lines or ()),
        )  # fmt: skip
        twice = self.take_fault(target, "duplicate", from_client=client is not None)
        if target.startswith("#"):
            self.world.channel(target).history.append(message)
        for recipient in self._recipients(target, client):
            for _ in range(2 if twice else 1):
                recipient.deliver(message)
        self._changed("posted", message)
        return message

    def _recipients(self, target: str, author: Client | None) -> list[Client]:
        """The clients in `target`, and the author where it wants the echo."""
        if target.startswith("#"):
            clients = self._clients_in(target)
        else:
            clients = [client for client in self.clients if fold(client.nick) == fold(target)]
            clients += [author] if author is not None and author not in clients else []
        return [
            recipient
            for recipient in clients
            if recipient is not author or "echo-message" in recipient.caps
        ]

    def react(
        self, nick: str, channel: str, msgid: str, emoji: str, *, taken_back: bool = False
    ) -> None:
        """A person reacts to a message, or takes the reaction back."""
        tag = "+draft/unreact" if taken_back else "+draft/react"
        self.publish_tags(nick, channel, {tag: emoji, "+reply": msgid})

    def publish_tags(
        self, nick: str, target: str, tags: Mapping[str, str], client: Client | None = None
    ) -> None:
        """Deliver a TAGMSG, and count the reaction in it."""
        at, msgid = self.world.now(), self.world.new_id()
        for recipient in self._recipients(target, client):
            if "message-tags" in recipient.caps:
                all_tags = {**recipient.times(at), "msgid": msgid, **tags}
                recipient.write(format_line(_mask(nick, client), "TAGMSG", target, tags=all_tags))
        message = self.world.find(target, tags.get("+reply", ""))
        if message is None:
            return
        if emoji := tags.get("+draft/react"):
            message.reactions.setdefault(emoji, {})[nick] = None
            self._changed("marked", message)
        elif (emoji := tags.get("+draft/unreact")) and emoji in message.reactions:
            message.reactions[emoji].pop(nick, None)
            if not message.reactions[emoji]:
                del message.reactions[emoji]
            self._changed("marked", message)

    def redact(self, nick: str, target: str, msgid: str, client: Client | None = None) -> bool:
        """Remove a message of one's own, or any where one is an operator. Returns whether it was
        removed."""
        channel = self.world.channel(target)
        message = self.world.find(target, msgid)
        if message is None:
            if client:
                client.send_reply(
                    "FAIL", "REDACT", "UNKNOWN_MSGID", target, msgid, "No such message"
                )
            return False
        if fold(message.nick) != fold(nick) and fold(nick) not in channel.operators:
            if client:
                client.send_reply("FAIL", "REDACT", "REDACT_FORBIDDEN", target, msgid, "Not yours")
            return False
        channel.history.remove(message)
        mask = _mask(nick, client)
        for recipient in self._recipients(target, client):
            if "draft/message-redaction" in recipient.caps:
                tags = recipient.times(self.world.now())
                recipient.write(format_line(mask, "REDACT", target, msgid, tags=tags))
        self._changed("deleted", message)
        return True

    # --- small ------------------------------------------------------------------------------

    def _changed(self, change: MessageChange, message: Message) -> None:
        if self.on_change is not None and message.target.startswith("#"):
            self.on_change(change, message)

    def _account(self, nick: str) -> str:
        return self.world.logged_in.get(fold(nick), "")

    def _channels_of(self, nick: str) -> list[str]:
        return [
            channel.name for channel in self.world.channels.values() if fold(nick) in channel.nicks
        ]

    def _clients_in(self, channel: str) -> list[Client]:
        nicks = self.world.channel(channel).nicks
        return [
            client for client in self.clients if client.registered and fold(client.nick) in nicks
        ]

    def _event(self, recipient: Client, nick: str, command: str, *params: str) -> None:
        source = next((client for client in self.clients if fold(client.nick) == fold(nick)), None)
        tags = recipient.times(self.world.now())
        recipient.write(format_line(_mask(nick, source), command, *params, tags=tags))


def _mask(nick: str, client: Client | None) -> str:
    return client.mask if client else f"{nick}!~{nick.lower()}@people.local"


@asynccontextmanager
async def irc_server(offers: Mapping[str, str] = MODERN) -> AsyncGenerator[IrcServer, None]:
    """A server in this process, until the block ends."""
    server = IrcServer(offers)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


__all__ = ["MODERN", "PLAIN", "SERVER", "Fault", "IrcServer", "irc_server"]
