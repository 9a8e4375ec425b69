"""A local IRC network on loopback: clients connect, and people of the API speak with them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from connectors.irc.sandbox.client import SERVER, Client
from connectors.irc.sandbox.protocol import written
from connectors.irc.sandbox.world import Fault, Said, World, fold

_LOOPBACK = ("127.0.0.1", "::1")
_MOST_CLIENTS = 200
_LIFETIME_S = 1800.0  # after which it stops by itself
MODERN: Mapping[str, str] = {
    "account-notify": "", "account-tag": "", "away-notify": "", "batch": "", "cap-notify": "",
    "chghost": "", "draft/chathistory": "", "draft/event-playback": "",
    "draft/message-redaction": "", "draft/multiline": "max-bytes=4096,max-lines=100",
    "echo-message": "", "extended-join": "", "labeled-response": "", "message-tags": "",
    "multi-prefix": "", "sasl": "PLAIN,EXTERNAL", "server-time": "", "setname": "",
    "standard-replies": "",
}  # fmt: skip
PLAIN: Mapping[str, str] = {}


class LocalIrc:
    """`offers` are its capabilities with their values: `MODERN`, `PLAIN`, or some of them.

    - `flood`: lines at once and in a second, beyond which clients are closed; None: no limit.
    - `naks`: capabilities that are offered and refused. `certified`: whose certificate is taken.
    - `truncated`: lines that were cut because they had more than 512 bytes.
    """

    def __init__(self, offers: Mapping[str, str] = MODERN) -> None:
        self.offers = dict(offers)
        self.world = World()
        self.flood: tuple[int, float] | None = None
        self.naks: set[str] = set()
        self.certified = ""
        self.services: list[str] = []
        self.services_silent = False
        self.multiline = (4096, 100)
        self.banned: set[str] = set()
        self.truncated = 0
        self.clients: list[Client] = []
        self.address = ("127.0.0.1", 0)
        self._server: asyncio.Server | None = None

    # --- life -------------------------------------------------------------------------------

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        """Raises ValueError for an address that others could reach."""
        if host not in _LOOPBACK:
            raise ValueError(
                f"{host!r} is not loopback; the local server serves this machine alone"
            )
        self._server = await asyncio.start_server(self._serve, host, port, limit=16_384, ssl=tls)
        self.address = self._server.sockets[0].getsockname()[:2]
        asyncio.get_running_loop().call_later(_LIFETIME_S, self._server.close)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self.disconnect()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(self, writer)
        if len(self.clients) >= _MOST_CLIENTS:
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
        """What `sandbox_settings` of the connector wants."""
        host, port = self.address
        return {"host": host, "port": port, "nick": nick, "channels": channels}

    def disconnect(self, reason: str = "") -> None:
        """Break every connection, or say why and close it."""
        for client in list(self.clients):
            if reason:
                client.close(reason)
            else:
                client.abort()
            self.leave(client, reason or "Connection reset by peer")

    # --- what tests ask ---------------------------------------------------------------------

    def messages(self, channel: str) -> Sequence[Said]:
        return list(self.world.room(channel).kept)

    def texts(self, channel: str) -> list[str]:
        return [said.text for said in self.messages(channel)]

    def members(self, channel: str) -> list[str]:
        return sorted(self.world.room(channel).nicks.values())

    def fault(self, fault: Fault) -> None:
        self.world.faults.append(fault)

    def is_taken(self, nick: str, besides: Client | None = None) -> bool:
        clients = (one for one in self.clients if one is not besides)
        return fold(nick) in self.world.people or any(
            fold(one.nick) == fold(nick) for one in clients
        )

    # --- people and clients -----------------------------------------------------------------

    def person(self, nick: str, account: str = "") -> None:
        """Somebody who is there, without a connection."""
        self.world.people[fold(nick)] = nick
        if account:
            self.world.logged_in[fold(nick)] = account

    def join(self, nick: str, channel: str, *, client: Client | None = None) -> None:
        if client is None and fold(nick) not in self.world.people:
            self.person(nick)
        room = self.world.room(channel)
        if not room.nicks:
            room.operators.add(fold(nick))
        room.nicks[fold(nick)] = nick
        account = self._account(nick)
        for one in self._clients_in(channel):
            more = (account or "*", nick) if "extended-join" in one.caps else ()
            self._event(one, nick, "JOIN", room.name, *more)
        if client is not None:
            if room.topic:
                client.tell("332", room.name, room.topic)
            client.names(channel)

    def part(self, nick: str, channel: str, reason: str = "") -> None:
        for one in self._clients_in(channel):
            self._event(one, nick, "PART", channel, reason)
        self.world.room(channel).nicks.pop(fold(nick), None)

    def quit(self, nick: str, reason: str = "Quit: bye") -> None:
        """A person of the API leaves the network."""
        self._gone(nick, reason)
        self.world.people.pop(fold(nick), None)
        self.world.logged_in.pop(fold(nick), None)

    def leave(self, client: Client, reason: str) -> None:
        if client in self.clients:
            self.clients.remove(client)
            self._gone(client.nick, reason)

    def _gone(self, nick: str, reason: str) -> None:
        rooms = [room for room in self.world.rooms.values() if fold(nick) in room.nicks]
        told = {id(one): one for room in rooms for one in self._clients_in(room.name)}
        for room in rooms:
            del room.nicks[fold(nick)]
        for one in told.values():
            if fold(one.nick) != fold(nick):
                self._event(one, nick, "QUIT", reason)

    def netsplit(self, nicks: Iterable[str], servers: str = "hub.local leaf.local") -> None:
        """A server is lost: everybody on it quits with the names of two servers."""
        for nick in list(nicks):
            self.quit(nick, servers)

    def kick(self, by: str, channel: str, nick: str, reason: str = "") -> None:
        for one in self._clients_in(channel):
            self._event(one, by, "KICK", channel, nick, reason)
        self.world.room(channel).nicks.pop(fold(nick), None)

    def rename(self, who: Client | str, nick: str) -> None:
        before = who.nick if isinstance(who, Client) else who
        for one in {
            id(c): c for room in self._rooms_of(before) for c in self._clients_in(room)
        }.values():
            self._event(one, before, "NICK", nick)
        for room in self.world.rooms.values():
            if room.nicks.pop(fold(before), None):
                room.nicks[fold(nick)] = nick
        if isinstance(who, Client):
            if not self._rooms_of(nick):
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
        self.world.room(channel).topic = topic
        for one in self._clients_in(channel):
            self._event(one, by, "TOPIC", channel, topic)

    def mode(self, by: str, channel: str, modes: str) -> None:
        signs = self.world.room(channel).modes
        (signs.update if modes.startswith("+") else signs.difference_update)(modes[1:])
        for one in self._clients_in(channel):
            self._event(one, by, "MODE", channel, modes)

    # --- what is said -----------------------------------------------------------------------

    def say(
        self, nick: str, channel: str, text: str, *, reply: str = "", notice: bool = False
    ) -> Said:
        """A person says something; they join first if they must."""
        if channel.startswith("#") and fold(nick) not in self.world.room(channel).nicks:
            self.join(nick, channel)
        tags = {"+reply": reply} if reply else {}
        command = "NOTICE" if notice else "PRIVMSG"
        lines = [(line, False) for line in text.split("\n")] if "\n" in text else []
        return self.said(nick, channel, text, command=command, tags=tags, lines=lines)

    def said(
        self,
        nick: str,
        target: str,
        text: str,
        *,
        command: str = "PRIVMSG",
        tags: Mapping[str, str] | None = None,
        lines: list[tuple[str, bool]] | None = None,
        client: Client | None = None,
    ) -> Said:
        mask = client.mask if client else f"{nick}!~{nick.lower()}@people.local"
        account = client.account if client else self._account(nick)
        said = Said(
            self.world.new_id(), self.world.now(), nick, mask, account, command, target, text,
            dict(tags or {}), list(lines or ()),
        )  # fmt: skip
        twice = self.world.take_fault("duplicate", from_client=client is not None)
        if target.startswith("#"):
            self.world.room(target).kept.append(said)
        for one in self._hearing(target, client):
            for _ in range(2 if twice else 1):
                one.deliver(said)
        return said

    def _hearing(self, target: str, speaker: Client | None) -> list[Client]:
        """Everybody there, and who says it where they want the echo."""
        if target.startswith("#"):
            there = self._clients_in(target)
        else:
            there = [one for one in self.clients if fold(one.nick) == fold(target)]
            there += [speaker] if speaker is not None and speaker not in there else []
        return [one for one in there if one is not speaker or "echo-message" in one.caps]

    def react(
        self, nick: str, channel: str, msgid: str, emoji: str, *, taken_back: bool = False
    ) -> None:
        tag = "+draft/unreact" if taken_back else "+draft/react"
        self.tagged(nick, channel, {tag: emoji, "+reply": msgid})

    def tagged(
        self, nick: str, target: str, tags: Mapping[str, str], client: Client | None = None
    ) -> None:
        mask = client.mask if client else f"{nick}!~{nick.lower()}@people.local"
        at, msgid = self.world.now(), self.world.new_id()
        for one in self._hearing(target, client):
            if "message-tags" in one.caps:
                all_tags = {**one.times(at), "msgid": msgid, **tags}
                one.write(written(mask, "TAGMSG", target, tags=all_tags))

    def redact(self, nick: str, target: str, msgid: str, client: Client | None = None) -> None:
        """One's own message, or any where one is an operator, is taken back."""
        room = self.world.room(target)
        said = self.world.find(target, msgid)
        if said is None:
            if client:
                client.tell("FAIL", "REDACT", "UNKNOWN_MSGID", target, msgid, "No such message")
            return
        if fold(said.nick) != fold(nick) and fold(nick) not in room.operators:
            if client:
                client.tell("FAIL", "REDACT", "REDACT_FORBIDDEN", target, msgid, "Not yours")
            return
        room.kept.remove(said)
        mask = client.mask if client else f"{nick}!~{nick.lower()}@people.local"
        for one in self._hearing(target, client):
            if "draft/message-redaction" in one.caps:
                one.write(written(mask, "REDACT", target, msgid, tags=one.times(self.world.now())))

    # --- small ------------------------------------------------------------------------------

    def _account(self, nick: str) -> str:
        return self.world.logged_in.get(fold(nick), "")

    def _rooms_of(self, nick: str) -> list[str]:
        return [room.name for room in self.world.rooms.values() if fold(nick) in room.nicks]

    def _clients_in(self, channel: str) -> list[Client]:
        nicks = self.world.room(channel).nicks
        return [one for one in self.clients if one.registered and fold(one.nick) in nicks]

    def _event(self, client: Client, nick: str, command: str, *params: str) -> None:
        own = next((one for one in self.clients if fold(one.nick) == fold(nick)), None)
        mask = own.mask if own else f"{nick}!~{nick.lower()}@people.local"
        tags = client.times(self.world.now())
        client.write(written(mask, command, *params, tags=tags))


@asynccontextmanager
async def local_irc(offers: Mapping[str, str] = MODERN) -> AsyncGenerator[LocalIrc, None]:
    """A network of one server in this process, until the block ends."""
    server = LocalIrc(offers)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


__all__ = ["MODERN", "PLAIN", "SERVER", "Fault", "LocalIrc", "local_irc"]
