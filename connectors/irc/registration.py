"""The talk by which a connection begins: capabilities, SASL, nick. Lines in, lines out. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bridge.errors import AuthFailed, PlatformError, TokenRefused, Unavailable
from connectors.irc import caps, sasl
from connectors.irc.state import State
from connectors.irc.wire import Line, formatted

_SASL_FAILED = ("902", "904", "905", "906", "908")
_NICK_REFUSED = ("432", "433", "436", "437")
_MAX_NICKS = 12


@dataclass(frozen=True)
class Identity:
    """Who we are to the server; `sasl` is the mechanism, empty for none. `password` is that of
    the account."""

    nick: str
    others: tuple[str, ...] = ()
    username: str = "bridge"
    realname: str = "Bridge bot"
    server_password: str = ""
    sasl: str = ""
    account: str = ""
    password: str = ""


class Registration:
    """Feed it each line; send what it gives. `done` when the server has welcomed us.

    Raises AuthFailed where only a person can help, and Unavailable where the server sends us away.
    """

    def __init__(self, identity: Identity, state: State) -> None:
        self._identity = identity
        self._state = state
        self._pending_requests: list[str] = []  # CAP REQ lines without an answer
        self._nicks = [*other_nicks(identity.nick, identity.others)]
        self._listing = True
        self._ended = False
        self._welcomed = False
        self.done = False
        self.logged_in = False

    def begin(self) -> list[bytes]:
        who = self._identity
        lines = [formatted("PASS", who.server_password)] if who.server_password else []
        return [
            *lines,
            formatted("CAP", "LS", "302"),
            formatted("NICK", self._state.nick),
            formatted("USER", who.username, "0", "*", who.realname),
        ]

    def feed(self, line: Line) -> list[bytes]:  # noqa: C901  # one flat match over the replies
        """Return the lines to send now."""
        match line.command:
            case "PING":
                return [formatted("PONG", line.last)]
            case "CAP":
                return self._cap(line)
            case "AUTHENTICATE":
                return [formatted("AUTHENTICATE", chunk) for chunk in self._payload(line)]
            case "903" | "907":
                self.logged_in = True
                return self._end()
            case command if command in _SASL_FAILED:
                raise TokenRefused(
                    f"The server refuses the login of {self._identity.account!r} by SASL: "
                    f"{line.last}; check `account`, `password` and `sasl`",
                    code=command,
                )
            case command if command in _NICK_REFUSED and not self._welcomed:
                return [self._next_nick(line)]
            case "001":
                self._welcomed = True
                self._nicks = []
            case "376" | "422":
                if self._identity.sasl and not self.logged_in:
                    raise AuthFailed(
                        "The server has no SASL, and the configuration wants it; set `sasl: none` "
                        "to identify with NickServ instead"
                    )
                self.done = True
            case "464":
                raise TokenRefused("The server refuses its password: `server_password`", code="464")
            case "463" | "465":
                raise AuthFailed(f"The server does not let us in: {line.last}", code=line.command)
            case "ERROR":
                raise closed(line)
            case _:
                pass
        return []

    # --- capabilities -----------------------------------------------------------------------

    def _cap(self, line: Line) -> list[bytes]:
        match line.param(1).upper():
            case "LS" if self._listing:
                if line.param(2) == "*":
                    return []  # more follows
                self._listing = False
                self._pending_requests = self._requests()
                return [
                    formatted("CAP", "REQ", names) for names in self._pending_requests
                ] or self._end()
            case "ACK":
                self._answered(line.last)
                return [] if self._pending_requests else self._authenticate()
            case "NAK":
                return self._ask_singly(line.last)
            case _:
                return []

    def _requests(self) -> list[str]:
        without = () if self._identity.sasl else ("sasl",)
        return caps.requests(self._state.offered, without=without)

    def _answered(self, listed: str) -> None:
        names = set(listed.split())
        for request in self._pending_requests:
            if names & set(request.split()):
                self._pending_requests.remove(request)
                return

    def _ask_singly(self, listed: str) -> list[bytes]:
        """The server refuses a request as a whole: request its members one by one."""
        self._answered(listed)
        names = listed.split()
        if len(names) > 1:
            self._pending_requests += names
            return [formatted("CAP", "REQ", name) for name in names]
        return [] if self._pending_requests else self._authenticate()

    # --- SASL -------------------------------------------------------------------------------

    def _authenticate(self) -> list[bytes]:
        if not self._identity.sasl or "sasl" not in self._state.enabled:
            return self._end()
        mechanisms = caps.sasl_mechanisms(self._state.offered)
        if mechanisms and self._identity.sasl not in mechanisms:
            raise AuthFailed(
                f"The server has no SASL {self._identity.sasl}; it has {', '.join(mechanisms)}"
            )
        return [formatted("AUTHENTICATE", self._identity.sasl)]

    def _payload(self, line: Line) -> Sequence[str]:
        if line.param(0) != "+":
            return ()
        if self._identity.sasl == "EXTERNAL":
            return ("+",)
        payload = sasl.plain_payload(self._identity.account, self._identity.password)
        return sasl.chunks(payload)

    def _end(self) -> list[bytes]:
        if self._ended:
            return []
        self._ended = True
        return [formatted("CAP", "END")]

    # --- nick -------------------------------------------------------------------------------

    def _next_nick(self, line: Line) -> bytes:
        if not self._nicks:
            raise AuthFailed(
                f"The server takes none of our nicks: {line.last}; give other `alternative_nicks`",
                code=line.command,
            )
        self._state.nick = self._nicks.pop(0)
        return formatted("NICK", self._state.nick)


def closed(line: Line) -> PlatformError:
    """Why the server closes the connection."""
    reason = line.last
    flooded = "flood" in reason.lower() or "max sendq" in reason.lower()
    return Unavailable(
        f"The server closed the connection: {reason}", code="flood" if flooded else "ERROR"
    )


def other_nicks(nick: str, others: Sequence[str]) -> Iterator[str]:
    """The nicks to take while the nick is in use."""
    yield from others
    for number in range(1, _MAX_NICKS - len(others)):
        yield f"{nick}{'_' * number}" if number < 3 else f"{nick}{number}"
