"""The local IRC as the sandbox uses it: two networks, and the people on them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.routing import BaseRoute

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.faults import FaultKind as SharedKind
from bridge.sandbox.feed import Change, LocalMessage
from bridge.sandbox.platform import SandboxContext, SeededPerson, SeededPlace, World
from connectors.irc.sandbox.seed import BOT, NETWORKS, SeededNetwork, channel_names
from connectors.irc.sandbox.server import IrcServer, MessageChange
from connectors.irc.sandbox.text import action_in, multiline_of
from connectors.irc.sandbox.world import Fault, FaultKind, Message, fold

_NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]{0,29}")
_UNSENDABLE = re.compile(r"[\0\r]")
_TOPIC_BYTES = 390
# Shared faults that the server can have, and how it has them.
_FAULTS: Mapping[SharedKind, FaultKind] = {
    "rate_limited": "rate_limited",
    "status": "refuse",
    "hang": "silent",
    "lose_answer": "lose_answer",
    "late_request": "delay",
    "late_answer": "delay",
    "disconnect": "close",
    "duplicate": "duplicate",
}


@dataclass(frozen=True)
class _Network:
    seeded: SeededNetwork
    server: IrcServer


class LocalIrc:
    """Two IRC networks, each a server on a port of its own; their names are the workspaces.

    Faults name messages of apps `irc:PRIVMSG:<channel>` and messages of people
    `irc:event:<channel>`.
    """

    name = "irc"

    def __init__(self, context: SandboxContext) -> None:
        self._context = context
        self._channels = channel_names(context.channels)
        self._networks = {seeded.name: self._seed(seeded) for seeded in NETWORKS}

    # --- life -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen on a port for each network."""
        ports = iter(self._context.server_ports)
        for network in self._networks.values():
            await _listen(network.server, ports)

    async def disconnect(self, reason: str = "") -> None:
        for network in self._networks.values():
            network.server.disconnect(reason)

    async def close(self) -> None:
        for network in self._networks.values():
            await network.server.stop()

    def routes(self) -> list[BaseRoute]:
        """None: IRC is a protocol of its own."""
        return []

    def server(self, network: str) -> IrcServer:
        """The server of a network. Raises NotFound where there is no such network."""
        return self._network(network).server

    def world(self) -> World:
        return World(
            platform=self.name,
            apps=[
                {
                    "name": BOT,
                    "workspace": name,
                    "workspace_name": network.seeded.title,
                    "network": name,
                    "nick": BOT,
                    "host": network.server.address[0],
                    "port": network.server.address[1],
                }
                for name, network in self._networks.items()
            ],
            places=[
                SeededPlace(
                    workspace=name, workspace_name=network.seeded.title, channel=channel,
                    channel_name=channel.removeprefix("#"),
                )
                for name, network in self._networks.items()
                for channel in self._channels
            ],
            people=[
                SeededPerson(workspace=name, id=nick, name=nick)
                for name, network in self._networks.items()
                for nick in network.server.world.people.values()
            ],
        )  # fmt: skip

    def add_person(self, name: str) -> None:
        """A person with this nick joins the first network and all its channels. Raises InvalidData
        where it is no nick."""
        if not _NICK.fullmatch(name):
            raise InvalidData(f"{name!r} is no nick")
        server = next(iter(self._networks.values())).server
        for channel in self._channels:
            server.join(name, channel)

    # --- what people do ---------------------------------------------------------------------

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage:
        """A person writes; `thread` is the message that they answer with a `+reply` tag. A text of
        several lines is a multiline message."""
        return self._post(workspace, channel, person, text, thread)

    async def me_as(self, workspace: str, channel: str, person: str, text: str) -> LocalMessage:
        """A person types `/me text`."""
        return self._post(workspace, channel, person, f"\x01ACTION {text}\x01", None)

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage:
        """Raises Refused: nobody can change a line of IRC."""
        raise Refused("Nobody can change a message of IRC; write another one")

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """A person redacts a message: their own, or any where they are an operator."""
        server, nick = self._present(workspace, channel, person)
        self._message(workspace, channel, message)
        if not server.redact(nick, channel, message):
            raise Refused(f"{nick!r} may not redact message {message}")

    async def react_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        server, nick = self._present(workspace, channel, person)
        self._message(workspace, channel, message)
        server.react(nick, channel, message, emoji)

    async def unreact_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        server, nick = self._present(workspace, channel, person)
        if nick in self._message(workspace, channel, message).reactions.get(emoji, {}):
            server.react(nick, channel, message, emoji, taken_back=True)

    async def pin_as(
        self, workspace: str, channel: str, person: str, message: str, *, pinned: bool = True
    ) -> None:
        """Raises Refused: IRC has no pins."""
        raise Refused("IRC has no pinned messages")

    async def typing_as(self, workspace: str, channel: str, person: str) -> None:
        """A person's client sends a `+typing` tag."""
        server, nick = self._present(workspace, channel, person)
        server.publish_tags(nick, channel, {"+typing": "active"})

    async def join_as(self, workspace: str, channel: str, person: str) -> None:
        server, nick = self._person(workspace, person)
        if fold(nick) not in server.world.channel(self._known(channel)).nicks:
            server.join(nick, channel)

    async def leave_as(self, workspace: str, channel: str, person: str) -> None:
        server, nick = self._present(workspace, channel, person)
        server.part(nick, channel)

    async def set_topic_as(self, workspace: str, channel: str, person: str, topic: str) -> None:
        server, nick = self._present(workspace, channel, person)
        if len(topic.encode()) > _TOPIC_BYTES:
            raise InvalidData(f"A topic has at most {_TOPIC_BYTES} bytes")
        server.topic(nick, channel, _UNSENDABLE.sub("", topic).replace("\n", " "))

    # --- what people see --------------------------------------------------------------------

    def messages(self, workspace: str, channel: str) -> list[LocalMessage]:
        network = self._network(workspace)
        history = network.server.world.channel(self._known(channel)).history
        return [self._shown(network, message) for message in history]

    # --- inner ------------------------------------------------------------------------------

    def _seed(self, seeded: SeededNetwork) -> _Network:
        server = IrcServer()
        network = _Network(seeded, server)
        for nick in seeded.people:
            server.person(nick, nick if nick in seeded.logged_in else "")
            for channel in self._channels:
                server.join(nick, channel)
        server.on_change = lambda change, message: self._publish(network, change, message)
        server.next_fault = self._next_fault
        return network

    def _publish(self, network: _Network, change: MessageChange, message: Message) -> None:
        shown = self._shown(network, message)
        self._context.feed.publish(Change(kind=change, message=shown))

    def _next_fault(
        self, from_client: bool, target: str, kinds: tuple[FaultKind, ...]
    ) -> Fault | None:
        operation = f"{self.name}:{'PRIVMSG' if from_client else 'event'}:{target}"
        shared: list[SharedKind] = [
            kind for kind, server_kind in _FAULTS.items() if server_kind in kinds
        ]
        fault = self._context.faults.take(operation, *shared)
        return fault and Fault(_FAULTS[fault.kind], fault.seconds, from_client)

    def _post(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None
    ) -> LocalMessage:
        server, nick = self._present(workspace, channel, person)
        text = _UNSENDABLE.sub("", text).strip("\n")
        if not text.strip():
            raise InvalidData("A message of IRC has at least one character")
        lines = multiline_of(text)
        max_bytes, max_lines = server.multiline
        if len(text.encode()) > max_bytes or len(lines) > max_lines:
            raise InvalidData(f"A message has at most {max_lines} lines and {max_bytes} bytes")
        if thread is not None:
            self._message(workspace, channel, thread)
        tags = {"+reply": thread} if thread else {}
        message = server.publish(nick, channel, text, tags=tags, lines=lines)
        return self._shown(self._network(workspace), message)

    def _shown(self, network: _Network, message: Message) -> LocalMessage:
        time = datetime.fromtimestamp(message.at / 1000, UTC)
        action = action_in(message.text)
        return LocalMessage(
            platform=self.name,
            workspace=network.seeded.name,
            channel=fold(message.target),
            id=message.id,
            author=message.nick,
            author_id=message.nick,
            bot=message.command == "NOTICE" or fold(message.nick).startswith(BOT),
            text=message.text if action is None else action,
            time=time.isoformat(timespec="milliseconds"),
            reactions={emoji: tuple(nicks) for emoji, nicks in message.reactions.items()},
            raw={
                "id": message.id,
                "time": time.isoformat(timespec="milliseconds"),
                "source": message.mask,
                "account": message.account,
                "command": message.command,
                "target": message.target,
                "tags": dict(message.tags),
                "text": message.text,
            },
        )

    def _network(self, workspace: str) -> _Network:
        network = self._networks.get(workspace)
        if network is None:
            raise NotFound(
                f"Network {workspace!r} not found; there are {', '.join(self._networks)}"
            )
        return network

    def _known(self, channel: str) -> str:
        if fold(channel) not in self._channels:
            raise NotFound(f"Channel {channel!r} not found; see world()")
        return channel

    def _person(self, workspace: str, person: str) -> tuple[IrcServer, str]:
        server = self._network(workspace).server
        nick = server.world.people.get(fold(person))
        if nick is None:
            raise NotFound(f"Nobody on {workspace!r} has the nick {person!r}; see world()")
        return server, nick

    def _present(self, workspace: str, channel: str, person: str) -> tuple[IrcServer, str]:
        """The server, and the nick of a person who is in the channel."""
        server, nick = self._person(workspace, person)
        if fold(nick) not in server.world.channel(self._known(channel)).nicks:
            raise Refused(f"{nick!r} is not in {channel}")
        return server, nick

    def _message(self, workspace: str, channel: str, msgid: str) -> Message:
        message = self._network(workspace).server.world.find(self._known(channel), msgid)
        if message is None:
            raise NotFound(f"Message {msgid!r} not found in {channel}")
        return message


async def _listen(server: IrcServer, ports: Iterator[int]) -> None:
    """Listen on the first of these ports that is free, else on one that the kernel chooses."""
    for port in ports:
        with contextlib.suppress(OSError):
            await server.start(port=port)
            return
    await server.start()
