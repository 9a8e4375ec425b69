"""A call -> the bytes of its lines, as the connection of this moment takes them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model import Call
from connectors.irc import caps
from connectors.irc.encode import REDACT, UNREACT
from connectors.irc.form import ACTION_BYTES, Form
from connectors.irc.splitting import split_line
from connectors.irc.wire import formatted

REPLY_TAGS = ("+reply", "+draft/reply")  # the tag's name, and the one of its draft
REACT_TAG, UNREACT_TAG = "+draft/react", "+draft/unreact"


@dataclass(frozen=True, slots=True)
class Composed:
    """Lines in order. `first` is the text of the first message, by which it is found again;
    `together`: they must not be parted by others."""

    lines: tuple[bytes, ...]
    first: str
    together: bool = False


def message(
    call: Call, form: Form, target: str, *, label: str = "", bare: bool = False, batch: str = "1"
) -> Composed:
    """A message of one line, of several lines in a batch, or of loose lines where the server has
    no such batches. `bare`: without the author's name, for a connection of their own."""
    name = "" if bare else str(call.body.get("byline") or "")
    tags = {"label": label} if label else {}
    if isinstance(reply := call.body.get("reply"), str) and form.replies:
        tags |= dict.fromkeys(REPLY_TAGS, reply)
    is_action = call.body.get("action") is True
    written, gaps = _lines(call)
    if len(written) > 1 and form.multiline is not None and not is_action:
        return _batch(target, name, written, gaps, tags, batch)
    room = form.room(target) - len(name.encode()) - (ACTION_BYTES if is_action else 0)
    fitting = [piece.text for line in written for piece in split_line(line, max(room, 40))]
    texts = [_action(name, line) if is_action else f"{name}{line}" for line in fitting]
    lines = [
        formatted("PRIVMSG", target, text, tags=None if number else tags)
        for number, text in enumerate(texts)
    ]
    return Composed(tuple(lines), texts[0])


def _action(name: str, text: str) -> str:
    who = name.strip().removeprefix("<").removesuffix(">")
    return f"\x01ACTION {f'{who} ' if who else ''}{text}\x01"


def _batch(
    target: str,
    name: str,
    written: list[str],
    gaps: list[str | None],
    tags: dict[str, str],
    reference: str,
) -> Composed:
    """Source: IRCv3 draft/multiline. The server's limits were kept when the call was made."""
    lines = [formatted("BATCH", f"+{reference}", caps.MULTILINE, target, tags=tags)]
    text = ""
    for number, (line, gap) in enumerate(zip(written, gaps, strict=True)):
        line_tags: dict[str, str] = {"batch": reference}
        if number and gap is not None:
            line_tags["draft/multiline-concat"] = ""
            body = f"{gap}{line}"
            text += body
        else:
            body = line if number else f"{name}{line}"
            text += f"\n{body}" if number else body
        lines.append(formatted("PRIVMSG", target, body, tags=line_tags))
    lines.append(formatted("BATCH", f"-{reference}"))
    return Composed(tuple(lines), text, together=True)


def _lines(call: Call) -> tuple[list[str], list[str | None]]:
    lines, gaps = call.body.get("lines"), call.body.get("gaps")
    written = [str(line) for line in lines] if isinstance(lines, list) and lines else [""]
    known = (
        [gap if isinstance(gap, str) else None for gap in gaps] if isinstance(gaps, list) else []
    )
    return written, (known + [None] * len(written))[: len(written)]


def mark(call: Call, target: str, *, label: str = "") -> Composed:
    """A redaction, or a reaction put on or taken back."""
    tags = {"label": label} if label else {}
    native_id = call.native_id or ""
    if call.method == REDACT:
        return Composed((formatted("REDACT", target, native_id, tags=tags),), "")
    name = UNREACT_TAG if call.method == UNREACT else REACT_TAG
    tags |= {name: str(call.body.get("emoji") or ""), **dict.fromkeys(REPLY_TAGS, native_id)}
    return Composed((formatted("TAGMSG", target, tags=tags),), "")
