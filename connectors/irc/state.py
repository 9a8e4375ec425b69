"""The state of a connection, from its lines: our nick and mask, capabilities, members. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.irc import caps
from connectors.irc.isupport import Support
from connectors.irc.wire import Line


class State:
    """Observes each line once, in order."""

    def __init__(self, nick: str) -> None:
        self.nick = nick
        self.mask = ""  # nick!user@host as others see us; empty until the server sends it
        self.support = Support()
        self.offered: dict[str, str] = {}
        self.enabled: dict[str, str] = {}
        self.account = ""
        self._members: dict[str, dict[str, str]] = {}  # channel -> nick -> nick as it is written
        self._listing: dict[str, dict[str, str]] = {}
        self._accounts: dict[str, str] = {}

    # --- questions --------------------------------------------------------------------------

    def is_us(self, nick: str) -> bool:
        return self.support.fold(nick) == self.support.fold(self.nick)

    def has(self, *names: str) -> bool:
        return all(name in self.enabled for name in names)

    def is_joined(self, channel: str) -> bool:
        return self.support.fold(channel) in self._members

    @property
    def mask_bytes(self) -> int | None:
        return len(self.mask.encode()) if self.mask else None

    @property
    def channels(self) -> list[str]:
        """The folded names of the channels that we are in."""
        return list(self._members)

    def members(self, channel: str) -> Mapping[str, str]:
        return self._members.get(self.support.fold(channel), {})

    def channels_of(self, nick: str) -> list[str]:
        folded = self.support.fold(nick)
        return [name for name, members in self._members.items() if folded in members]

    def account_of(self, nick: str) -> str:
        return self._accounts.get(self.support.fold(nick), "")

    def nick_of_account(self, account: str) -> str | None:
        """A nick that is logged in so now."""
        folded = account.lower()
        for nick, nick_account in self._accounts.items():
            if nick_account.lower() == folded:
                written = [members[nick] for members in self._members.values() if nick in members]
                return written[0] if written else nick
        return None

    # --- lines ------------------------------------------------------------------------------

    def observe(self, line: Line) -> None:
        """Take in one line. Call `channels_of` before a QUIT or NICK."""
        if line.source and not line.is_from_server and self.is_us(line.nick):
            self.mask = line.source
        if "account" in line.tags and line.nick:
            self._log_in(line.nick, line.tags["account"])
        self._take(line)

    def _take(self, line: Line) -> None:  # noqa: C901  # one flat match over the commands
        match line.command:
            case "001":
                self.nick = line.param(0) or self.nick
            case "005":
                self.support = self.support.with_tokens(line.params[1:-1])
            case "353":
                self._names(line)
            case "366":
                self._names_end(line)
            case "396":
                self._new_mask(line.param(1))
            case "900":
                self.mask = line.param(1) if "!" in line.param(1) else self.mask
                self.account = line.param(2)
            case "901":
                self.account = ""
            case "ACCOUNT":
                self._account(line)
            case "CAP":
                self._cap(line)
            case "CHGHOST":
                if self.is_us(line.nick):
                    self._new_mask(line.param(1), line.param(0))
            case "JOIN":
                self._join(line)
            case "KICK":
                self._leave(line.param(0), line.param(1))
            case "NICK":
                self._nick(line)
            case "PART":
                for name in line.param(0).split(","):
                    self._leave(name, line.nick)
            case "QUIT":
                self._quit(line)
            case _:
                pass

    def _log_in(self, nick: str, account: str) -> None:
        if account in ("", "*", "0"):
            self._accounts.pop(self.support.fold(nick), None)
        else:
            self._accounts[self.support.fold(nick)] = account

    def _cap(self, line: Line) -> None:
        listed = caps.read_list(line.last)
        match line.param(1).upper():
            case "LS" | "NEW":
                self.offered |= listed
            case "ACK":
                for name in listed:
                    if name.startswith("-"):
                        self.enabled.pop(name[1:], None)
                    else:
                        self.enabled[name] = self.offered.get(name, "")
            case "DEL":
                for name in listed:
                    self.offered.pop(name, None)
                    self.enabled.pop(name, None)
            case _:
                pass

    def _new_mask(self, host: str, user: str = "") -> None:
        if not self.mask:
            return
        nick, _, rest = self.mask.partition("!")
        before = rest.partition("@")[0]
        if "@" in host:
            user, _, host = host.partition("@")
        self.mask = f"{nick}!{user or before}@{host}"

    def _account(self, line: Line) -> None:
        self._log_in(line.nick, line.param(0))
        if self.is_us(line.nick):
            self.account = "" if line.param(0) in ("*", "0") else line.param(0)

    def _join(self, line: Line) -> None:
        if len(line.params) > 1:  # extended-join
            self._log_in(line.nick, line.param(1))
        for name in line.param(0).split(","):
            folded = self.support.fold(name)
            if self.is_us(line.nick):
                self._members[folded] = {}
            if folded in self._members:
                self._members[folded][self.support.fold(line.nick)] = line.nick

    def _leave(self, channel: str, nick: str) -> None:
        folded = self.support.fold(channel)
        if self.is_us(nick):
            self._members.pop(folded, None)
        else:
            self._members.get(folded, {}).pop(self.support.fold(nick), None)

    def _quit(self, line: Line) -> None:
        folded = self.support.fold(line.nick)
        self._accounts.pop(folded, None)
        for members in self._members.values():
            members.pop(folded, None)

    def _nick(self, line: Line) -> None:
        before, after = self.support.fold(line.nick), self.support.fold(line.param(0))
        if self.is_us(line.nick):
            self.nick = line.param(0)
            self.mask = f"{self.nick}!{self.mask.partition('!')[2]}" if self.mask else ""
        if (account := self._accounts.pop(before, None)) is not None:
            self._accounts[after] = account
        for members in self._members.values():
            if members.pop(before, None) is not None:
                members[after] = line.param(0)

    def _names(self, line: Line) -> None:
        listing = self._listing.setdefault(self.support.fold(line.param(2)), {})
        for member in line.last.split():
            nick = member.lstrip(self.support.prefixes).partition("!")[0]
            listing[self.support.fold(nick)] = nick

    def _names_end(self, line: Line) -> None:
        """353s replace the members only when they are complete."""
        folded = self.support.fold(line.param(1))
        listing = self._listing.pop(folded, None)
        if listing is not None and folded in self._members:
            self._members[folded] = listing
