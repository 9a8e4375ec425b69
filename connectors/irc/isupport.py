"""The limits and abilities of a server, from numeric 005 (ISUPPORT). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

_HEX = re.compile(r"\\x([0-9A-Fa-f]{2})")
_ASCII_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_STRICT = str.maketrans(f"{_ASCII_UPPER}[]\\", f"{_ASCII_UPPER.lower()}{{}}|")
_RFC1459 = str.maketrans(f"{_ASCII_UPPER}[]\\~", f"{_ASCII_UPPER.lower()}{{}}|^")
_ASCII = str.maketrans(_ASCII_UPPER, _ASCII_UPPER.lower())
_FOLDS = {"ascii": _ASCII, "rfc1459": _RFC1459, "strict-rfc1459": _STRICT}


@dataclass(frozen=True, slots=True)
class Support:
    """The tokens of a connection. Until the server sends them, the RFC's values hold."""

    tokens: Mapping[str, str] = field(default_factory=dict[str, str])

    def with_tokens(self, written: Sequence[str]) -> Support:
        """`written` are the parameters of one 005 between our nick and the closing words."""
        tokens = dict(self.tokens)
        for token in written:
            key, _, value = token.partition("=")
            if key.startswith("-"):
                tokens.pop(key[1:], None)
            elif key:
                tokens[key] = _HEX.sub(lambda code: chr(int(code[1], 16)), value)
        return replace(self, tokens=tokens)

    def fold(self, name: str) -> str:
        """A nick or channel name in the form in which two spellings of one are equal."""
        return name.translate(_FOLDS.get(self.tokens.get("CASEMAPPING", "rfc1459"), _ASCII))

    @property
    def channel_types(self) -> str:
        return self.tokens.get("CHANTYPES", "#&")

    def is_channel(self, target: str) -> bool:
        return target[:1] in self.channel_types if target else False

    def without_status(self, target: str) -> str:
        """`@#channel` (for its operators alone) -> `#channel`."""
        stripped = target.lstrip(self.tokens.get("STATUSMSG", ""))
        return stripped if self.is_channel(stripped) else target

    @property
    def prefixes(self) -> str:
        """The signs before nicks in lists of members."""
        return self.tokens.get("PREFIX", "(ov)@+").partition(")")[2] or "@+"

    def number(self, token: str, otherwise: int) -> int:
        value = self.tokens.get(token, "")
        return int(value) if value.isdecimal() and int(value) > 0 else otherwise

    @property
    def line_bytes(self) -> int:
        return max(self.number("LINELEN", 512), 512)

    @property
    def nick_length(self) -> int:
        return self.number("NICKLEN", 9)

    @property
    def history_page(self) -> int:
        """The most messages of one CHATHISTORY answer; 100 where the server sets no limit."""
        return min(self.number("CHATHISTORY", 100), 500)

    @property
    def bot_mode(self) -> str:
        """The mode letter that marks a client as a bot; empty if there is none."""
        return self.tokens.get("BOT", "")[:1]

    def takes_client_tag(self, name: str) -> bool:
        """Whether the server relays this client-only tag (`typing`, without the +)."""
        denied = self.tokens.get("CLIENTTAGDENY", "").split(",")
        if "*" in denied:
            return f"-{name}" in denied
        return name not in denied
