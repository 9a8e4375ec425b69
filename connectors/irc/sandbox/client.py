"""One client of the local server: what it sends, and what the server answers (RFC 2812, IRCv3)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from connectors.irc.sandbox.history import page_of
from connectors.irc.sandbox.protocol import Request, format_line, read_request, size
from connectors.irc.sandbox.world import Fault, FaultKind, Message, World, fold

_NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]{0,29}")
_COLOUR = re.compile("[\x02\x03\x04\x11\x16\x1d\x1e\x1f]")
_INPUT_QUEUE = 20  # lines over the limit, then Excess Flood (solanum's sample configuration)
SERVER = "irc.local"


@dataclass
class _Batch:
    """A multiline message that a client is sending."""

    target: str
    tags: dict[str, str]
    lines: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])


class Server(Protocol):
    """What a client needs of its server (`IrcServer` describes the parts)."""

    offers: dict[str, str]
    world: World
    flood: tuple[int, float] | None
    naks: set[str]
    certified: str
    services: list[str]
    services_silent: bool
    multiline: tuple[int, int]
    banned: set[str]
    truncated: int

    def take_fault(self, target: str, *kinds: FaultKind, from_client: bool) -> Fault | None: ...
    def is_taken(self, nick: str, besides: Client | None = None) -> bool: ...
    def join(self, nick: str, channel: str, *, client: Client | None = None) -> None: ...
    def part(self, nick: str, channel: str, reason: str = "") -> None: ...
    def leave(self, client: Client, reason: str) -> None: ...
    def rename(self, who: Client | str, nick: str) -> None: ...
    def regain(self, client: Client, nick: str) -> None: ...
    def topic(self, by: str, channel: str, topic: str) -> None: ...
    def publish(
        self, nick: str, target: str, text: str, *, command: str = "PRIVMSG",
        tags: Mapping[str, str] | None = None, lines: list[tuple[str, bool]] | None = None,
        client: Client | None = None,
    ) -> Message: ...  # fmt: skip
    def publish_tags(
        self, nick: str, target: str, tags: Mapping[str, str], client: Client | None = None
    ) -> None: ...
    def redact(self, nick: str, target: str, msgid: str, client: Client | None = None) -> bool: ...


class Client:
    """A connection. `tell` and `deliver` write to it."""

    def __init__(self, server: Server, writer: asyncio.StreamWriter) -> None:
        self.server = server
        self.nick = ""
        self.user = ""
        self.account = ""
        self.caps: set[str] = set()
        self.registered = False
        self._writer = writer
        self._negotiating = False
        self._mechanism = ""
        self._batches: dict[str, _Batch] = {}
        self._collected: list[bytes] | None = None
        self._mute = False
        self._refs = 0
        self._credit = 0.0
        self._credit_at = 0.0
        self.longest_line = 0

    @property
    def mask(self) -> str:
        return f"{self.nick}!~{self.user}@localhost"

    # --- writing ----------------------------------------------------------------------------

    def write(self, line: bytes) -> None:
        self.longest_line = max(self.longest_line, size(line))
        if size(line) > 512:
            self.server.truncated += 1
            line = line[: 510 - size(line)] + b"\r\n"
        if self._collected is not None:
            self._collected.append(line)
        elif not self._writer.is_closing():
            self._writer.write(line)

    def send_reply(self, command: str, *params: str, source: str = SERVER) -> None:
        """A line of the server itself; numerics name the client first."""
        first = (self.nick or "*",) if command.isdecimal() else ()
        tags = self.times(self.server.world.now())
        self.write(format_line(source, command, *first, *params, tags=tags))

    def times(self, at: int) -> dict[str, str]:
        if "server-time" not in self.caps:
            return {}
        moment = datetime.fromtimestamp(at / 1000, UTC)
        return {"time": f"{moment:%Y-%m-%dT%H:%M:%S}.{at % 1000:03d}Z"}

    def tags_of(self, message: Message) -> dict[str, str]:
        tags = self.times(message.at)
        if "message-tags" in self.caps:
            tags |= {"msgid": message.id, **message.tags}
        if "account-tag" in self.caps and message.account:
            tags["account"] = message.account
        return tags

    def deliver(self, message: Message, extra: Mapping[str, str] | None = None) -> None:
        """A message, in one line or as a batch, or as loose lines for clients without batches."""
        tags = {**self.tags_of(message), **(extra or {})}
        if not message.lines:
            self.write(
                format_line(message.mask, message.command, message.target, message.text, tags=tags)
            )
            return
        if {"draft/multiline", "batch"} <= self.caps:
            self._deliver_batch(message, tags)
            return
        for number, line in enumerate(message.text.split("\n")):
            line_tags = tags if number == 0 else self.times(message.at)
            if line:
                self.write(
                    format_line(message.mask, message.command, message.target, line, tags=line_tags)
                )

    def _deliver_batch(self, message: Message, tags: dict[str, str]) -> None:
        reference = self.reference()
        self.write(
            format_line(
                message.mask, "BATCH", f"+{reference}", "draft/multiline", message.target, tags=tags
            )
        )
        for line, concat in message.lines:
            line_tags = {"batch": reference, **({"draft/multiline-concat": ""} if concat else {})}
            self.write(
                format_line(message.mask, message.command, message.target, line, tags=line_tags)
            )
        self.write(format_line(message.mask, "BATCH", f"-{reference}"))

    def reference(self) -> str:
        self._refs += 1
        return f"r{self._refs}"

    def close(self, reason: str = "") -> None:
        if reason and not self._writer.is_closing():
            self._writer.write(
                f"ERROR :Closing Link: {self.nick}[localhost] ({reason})\r\n".encode()
            )
        self._writer.close()

    def abort(self) -> None:
        self._writer.transport.abort()

    # --- reading ----------------------------------------------------------------------------

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Until the client leaves."""
        while True:
            try:
                raw = await reader.readline()
            except (ValueError, ConnectionError):
                return
            if not raw or self._writer.is_closing():
                return
            if self._floods():
                self.close("Excess Flood")
                return
            if size(raw) > 512:
                self.send_reply("417", "Input line was too long")
                continue
            request = read_request(raw)
            if request is not None:
                await self._answer(request)

    def _floods(self) -> bool:
        """Leaky bucket: `burst` lines at once, `rate` in a second; 20 more wait in the queue."""
        limits = self.server.flood
        if limits is None or not self.registered:
            return False
        burst, rate = limits
        now = asyncio.get_running_loop().time()
        self._credit = max(0.0, self._credit - (now - self._credit_at) * rate) + 1
        self._credit_at = now
        return self._credit > burst + _INPUT_QUEUE

    async def _answer(self, request: Request) -> None:
        # The label of a batch is answered when the batch is complete.
        labels = "labeled-response" in self.caps and request.command != "BATCH"
        label = request.tags.get("label", "") if labels else ""
        if not label:
            await self._handle(request)
            return
        self._collected = []
        try:
            await self._handle(request)
        finally:
            lines, self._collected = self._collected, None
        self._label(lines, label)

    def _label(self, lines: list[bytes], label: str) -> None:
        """The answer to a labelled command: a line, a batch, or ACK (IRCv3 labeled-response)."""
        if self._writer.is_closing() or self._mute:
            self._mute = False
            return
        tag = f"label={label}".encode()
        if not lines:
            self.write(format_line(SERVER, "ACK", tags={"label": label}))
            return
        if len(lines) > 1 and b" BATCH +" not in lines[0]:
            reference = self.reference()
            self.write(
                format_line(
                    SERVER, "BATCH", f"+{reference}", "labeled-response", tags={"label": label}
                )
            )
            for line in lines:
                self.write(_with_tag(line, f"batch={reference}".encode()))
            self.write(format_line(SERVER, "BATCH", f"-{reference}"))
            return
        for number, line in enumerate(lines):
            self.write(line if number else _with_tag(line, tag))

    async def _handle(self, request: Request) -> None:
        handler = getattr(self, f"_on_{request.command.lower()}", None)
        early = request.command in ("CAP", "NICK", "USER", "PASS", "AUTHENTICATE", "PING", "QUIT")
        if handler is None or (request.command == "CAP" and not self.server.offers):
            self.send_reply("421", request.command, "Unknown command")
        elif not self.registered and not early:
            self.send_reply("451", "You have not registered")
        else:
            result = handler(request)
            if asyncio.iscoroutine(result):
                await result

    # --- registration -----------------------------------------------------------------------

    def _on_cap(self, request: Request) -> None:
        match request.param(0).upper():
            case "LS":
                self._negotiating = True
                offers = [f"{k}={v}" if v else k for k, v in self.server.offers.items()]
                half = len(offers) // 2
                if request.param(1) >= "302" and half:  # in two lines, as long lists come
                    self.send_reply("CAP", self.nick or "*", "LS", "*", " ".join(offers[:half]))
                    offers = offers[half:]
                self.send_reply("CAP", self.nick or "*", "LS", " ".join(offers))
            case "REQ":
                self._negotiating = self._negotiating or not self.registered
                names = request.param(1).split()
                refused = [n for n in names if n not in self.server.offers or n in self.server.naks]
                if not refused:
                    self.caps |= set(names)
                self.send_reply(
                    "CAP", self.nick or "*", "NAK" if refused else "ACK", " ".join(names)
                )
            case "END":
                self._negotiating = False
                self._welcome()
            case _:
                self.send_reply("410", request.param(0), "Invalid CAP command")

    def _on_pass(self, request: Request) -> None:
        """No password is needed here; any is taken."""

    def _on_authenticate(self, request: Request) -> None:
        answer = request.param(0)
        if answer.upper() in ("PLAIN", "EXTERNAL"):
            self._mechanism = answer.upper()
            self.write(b"AUTHENTICATE +\r\n")
            return
        account = self._account_in(answer)
        if account is None:
            self.send_reply("904", "SASL authentication failed")
            return
        self.account = account
        self.send_reply("900", self.mask, account, f"You are now logged in as {account}")
        self.send_reply("903", "SASL authentication successful")

    def _account_in(self, answer: str) -> str | None:
        if self._mechanism == "EXTERNAL":
            return self.server.certified if answer == "+" and self.server.certified else None
        try:
            _, account, password = base64.b64decode(answer, validate=True).decode().split("\0")
        except (binascii.Error, ValueError):
            return None
        return account if self.server.world.accounts.get(account) == password else None

    def _on_nick(self, request: Request) -> None:
        nick = request.param(0)
        if not _NICK.fullmatch(nick):
            self.send_reply("432", nick or "*", "Erroneous nickname")
        elif self.server.is_taken(nick, besides=self):
            self.send_reply("433", nick, "Nickname is already in use")
        elif self.registered:
            self.server.rename(self, nick)
        else:
            self.nick = nick
            self._welcome()

    def _on_user(self, request: Request) -> None:
        self.user = request.param(0)[:9]
        self._welcome()

    def _welcome(self) -> None:
        if self.registered or self._negotiating or not (self.nick and self.user):
            return
        self.registered = True
        self.send_reply("001", f"Welcome to the local network {self.mask}")
        self.send_reply("004", SERVER, "local-1", "i", "cklmnot")
        tokens = [
            "CASEMAPPING=ascii",
            "CHANTYPES=#",
            "PREFIX=(ov)@+",
            "NICKLEN=30",
            "CHANMODES=b,k,l,cimnt",
        ]
        tokens += ["CHATHISTORY=100", "MSGREFTYPES=msgid,timestamp"] if self.server.offers else []
        self.send_reply("005", *tokens, "are supported by this server")
        self.send_reply("422", "MOTD File is missing")
        if self.account:
            self.server.world.logged_in[fold(self.nick)] = self.account

    def _on_ping(self, request: Request) -> None:
        self.send_reply("PONG", SERVER, request.param(0))

    def _on_pong(self, request: Request) -> None:
        """Nothing is waited for."""

    def _on_quit(self, request: Request) -> None:
        self.server.leave(self, f"Quit: {request.param(0)}")
        self.close("Quit")

    # --- channels ---------------------------------------------------------------------------

    def _on_join(self, request: Request) -> None:
        keys = request.param(1).split(",")
        for number, name in enumerate(request.param(0).split(",")):
            if not name.startswith("#"):
                self.send_reply("403", name, "No such channel")
                continue
            channel = self.server.world.channel(name)
            if channel.key and (keys + [""] * number)[number] != channel.key:
                self.send_reply("475", name, "Cannot join channel (+k)")
            elif fold(self.nick) in self.server.banned:
                self.send_reply("474", name, "Cannot join channel (+b)")
            elif fold(self.nick) not in channel.nicks:
                self.server.join(self.nick, channel.name, client=self)

    def _on_part(self, request: Request) -> None:
        for name in request.param(0).split(","):
            self.server.part(self.nick, name, request.param(1))

    def _on_names(self, request: Request) -> None:
        self.names(request.param(0))

    def names(self, name: str) -> None:
        channel = self.server.world.channel(name)
        members = [f"@{n}" if fold(n) in channel.operators else n for n in channel.nicks.values()]
        for at in range(0, len(members), 20):
            self.send_reply("353", "=", channel.name, " ".join(members[at : at + 20]))
        self.send_reply("366", channel.name, "End of /NAMES list")

    def _on_mode(self, request: Request) -> None:
        target = request.param(0)
        if target.startswith("#") and not request.param(1):
            modes = "".join(sorted(self.server.world.channel(target).modes))
            self.send_reply("324", target, f"+{modes}")

    def _on_topic(self, request: Request) -> None:
        if len(request.params) > 1:
            self.server.topic(self.nick, request.param(0), request.param(1))
        elif topic := self.server.world.channel(request.param(0)).topic:
            self.send_reply("332", request.param(0), topic)
        else:
            self.send_reply("331", request.param(0), "No topic is set")

    # --- messages ---------------------------------------------------------------------------

    async def _on_privmsg(self, request: Request) -> None:
        reference = request.tags.get("batch", "")
        if batch := self._batches.get(reference):
            batch.lines.append((request.param(1), "draft/multiline-concat" in request.tags))
            return
        await self._accept_message(
            request.command, request.param(0), request.param(1), request.tags, []
        )

    async def _on_notice(self, request: Request) -> None:
        await self._on_privmsg(request)

    async def _on_batch(self, request: Request) -> None:
        sign, reference = request.param(0)[:1], request.param(0)[1:]
        if sign == "+" and request.param(1) == "draft/multiline":
            self._batches[reference] = _Batch(request.param(2), request.tags)
        elif sign == "-" and (batch := self._batches.pop(reference, None)):
            text = ""
            for number, (line, concat) in enumerate(batch.lines):
                text += line if concat or not number else f"\n{line}"
            if len(text.encode()) > self.server.multiline[0]:
                self.send_reply(
                    "FAIL",
                    "BATCH",
                    "MULTILINE_MAX_BYTES",
                    str(self.server.multiline[0]),
                    "Too long",
                )
                return
            label = batch.tags.get("label", "")
            self._collected = []
            await self._accept_message("PRIVMSG", batch.target, text, batch.tags, batch.lines)
            lines, self._collected = self._collected, None
            if label:
                self._label(lines, label)
            else:
                for line in lines:
                    self.write(line)

    async def _accept_message(
        self, command: str, target: str, text: str, tags: dict[str, str],
        lines: list[tuple[str, bool]],
    ) -> None:  # fmt: skip
        world = self.server.world
        fault = self.server.take_fault(
            target,
            "rate_limited",
            "refuse",
            "close",
            "lose_answer",
            "delay",
            "silent",
            from_client=True,
        )
        kind = fault.kind if fault else ""
        if kind == "rate_limited":
            self.send_reply("263", command, "Please wait a while and try again.")
        elif kind == "close":
            self.abort()
        elif kind == "silent":
            self._mute = True
        elif not target.startswith("#"):
            self._direct(command, target, text)
        elif fold(self.nick) not in world.channel(target).nicks or kind == "refuse":
            self.send_reply("404", target, "Cannot send to channel")
        elif "c" in world.channel(target).modes and _COLOUR.search(text):
            self.send_reply("404", target, "Cannot send to channel (+c)")
        elif (
            "m" in world.channel(target).modes
            and fold(self.nick) not in world.channel(target).operators
        ):
            self.send_reply("404", target, "Cannot send to channel (+m)")
        else:
            if fault is not None and kind == "delay":
                await asyncio.sleep(fault.seconds)
            if kind == "lose_answer":
                self.abort()
            client_tags = {key: value for key, value in tags.items() if key.startswith("+")}
            self.server.publish(
                self.nick, target, text, command=command, tags=client_tags, lines=lines, client=self
            )

    def _direct(self, command: str, target: str, text: str) -> None:
        if fold(target) == "nickserv":
            self._services(text)
            return
        if not self.server.is_taken(target):
            self.send_reply("401", target, "No such nick/channel")
            return
        self.server.publish(self.nick, target, text, command=command, client=self)

    def _services(self, text: str) -> None:
        words = text.split()
        self.server.services.append(text)
        if words[:1] == ["IDENTIFY"] and len(words) > 2 and not self.server.services_silent:
            if self.server.world.accounts.get(words[1]) == words[2]:
                self.account = words[1]
                answer = "You are now identified."
            else:
                answer = "Invalid password."
            source = "NickServ!services@services.local"
            self.send_reply("NOTICE", self.nick, answer, source=source)
        elif words[:1] == ["REGAIN"] and self.account and len(words) > 1:
            self.server.regain(self, words[1])

    def _on_tagmsg(self, request: Request) -> None:
        client_tags = {key: value for key, value in request.tags.items() if key.startswith("+")}
        self.server.publish_tags(self.nick, request.param(0), client_tags, client=self)

    def _on_redact(self, request: Request) -> None:
        self.server.redact(self.nick, request.param(0), request.param(1), client=self)

    # --- history ----------------------------------------------------------------------------

    def _on_chathistory(self, request: Request) -> None:
        """One batch of messages (IRCv3 chathistory)."""
        if not {"draft/chathistory", "batch"} <= self.caps:
            self.send_reply("421", "CHATHISTORY", "Unknown command")
            return
        kind, target = request.param(0).upper(), request.param(1)
        history = list(self.server.world.channel(target).history)
        page = page_of(history, kind, request.param(2), request.params[-1])
        if page is None:
            self.send_reply("FAIL", "CHATHISTORY", "INVALID_PARAMS", kind, "Unknown subcommand")
            return
        reference = self.reference()
        self.write(format_line(SERVER, "BATCH", f"+{reference}", "chathistory", target))
        for message in page:
            if not message.lines or {"draft/multiline"} <= self.caps:
                self.deliver(message, {"batch": reference})
            else:
                for line in message.text.split("\n"):
                    tags = {**self.tags_of(message), "batch": reference}
                    self.write(
                        format_line(message.mask, message.command, message.target, line, tags=tags)
                    )
        self.write(format_line(SERVER, "BATCH", f"-{reference}"))


def _with_tag(line: bytes, tag: bytes) -> bytes:
    return b"@" + tag + b";" + line[1:] if line.startswith(b"@") else b"@" + tag + b" " + line
