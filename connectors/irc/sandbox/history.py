"""The messages that a CHATHISTORY command asks for (IRCv3 chathistory). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from connectors.irc.sandbox.world import Message

MAX_PAGE = 100


def page_of(
    history: Sequence[Message], subcommand: str, selector: str, limit: str
) -> Sequence[Message] | None:
    """The messages of one answer, oldest first; None for an unknown subcommand. LATEST, BEFORE and
    AFTER exclude their selectors."""
    count = min(int(limit) if limit.isdecimal() else MAX_PAGE, MAX_PAGE)
    match subcommand:
        case "LATEST":
            return history[_last_until(history, selector, -1) + 1 :][-count:]
        case "AFTER":
            return history[_last_until(history, selector, len(history)) + 1 :][:count]
        case "BEFORE":
            return history[: _first_from(history, selector)][-count:]
        case "AROUND":
            at = _last_until(history, selector, -1)
            return history[at : at + 1] if at >= 0 else []
        case _:
            return None


def _last_until(history: Sequence[Message], selector: str, otherwise: int) -> int:
    """The index of the last message up to the selector."""
    kind, _, value = selector.partition("=")
    if kind == "msgid":
        return _index_of(history, value, otherwise)
    if kind == "timestamp":
        at = _milliseconds(value)
        return max((n for n, message in enumerate(history) if message.at <= at), default=-1)
    return otherwise


def _first_from(history: Sequence[Message], selector: str) -> int:
    """The index of the first message from the selector on."""
    kind, _, value = selector.partition("=")
    if kind == "msgid":
        return _index_of(history, value, 0)
    if kind == "timestamp":
        at = _milliseconds(value)
        return next((n for n, message in enumerate(history) if message.at >= at), len(history))
    return 0


def _index_of(history: Sequence[Message], msgid: str, otherwise: int) -> int:
    return next((n for n, message in enumerate(history) if message.id == msgid), otherwise)


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)
