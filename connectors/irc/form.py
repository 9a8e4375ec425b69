"""What a connection can carry just now, as far as the calls of a message depend on it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.irc.capabilities import LONGEST_MASK
from connectors.irc.caps import Multiline
from connectors.irc.wire import LINE_BYTES

ACTION_BYTES = len("\x01ACTION \x01")
_LEAST = 80  # bytes of a line that are always used, however long masks and channel names are


@dataclass(frozen=True, slots=True)
class Form:
    """- `mask`: the bytes of `nick!user@host` that the server puts before our lines.
    - `multiline`: the limits of a message of several lines; None: each line is a message.
    - `redacts`, `replies`: messages can be taken back; lines can name what they answer.
    - `max_lines`: a message of more lines ends with a link, where one can be given.
    - `quiet`: names in front of messages ring for nobody.
    """

    mask: int = LONGEST_MASK
    line_bytes: int = LINE_BYTES
    multiline: Multiline | None = None
    redacts: bool = False
    replies: bool = False
    max_lines: int = 8
    quiet: bool = True

    def room(self, target: str) -> int:
        """Bytes of text in one PRIVMSG to the target, as others receive it."""
        head = 1 + self.mask + len(f" PRIVMSG {target} :".encode())
        return max(self.line_bytes - 2 - head, _LEAST)
