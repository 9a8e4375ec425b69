"""IRCv3 capabilities: which we ask for, and what a server's list means. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from connectors.irc.wire import words_within

MULTILINE = "draft/multiline"
HISTORY = "draft/chathistory"
REDACTION = "draft/message-redaction"
ECHO = "echo-message"
LABELS = "labeled-response"
TAGS = "message-tags"
_HISTORY_NAMES = ("draft/chathistory", "chathistory")

REQUESTED = (
    "account-notify",
    "account-tag",
    "away-notify",
    "batch",
    "cap-notify",
    "chathistory",
    "chghost",
    "draft/chathistory",
    "draft/event-playback",
    "draft/message-redaction",
    "draft/multiline",
    "echo-message",
    "extended-join",
    "labeled-response",
    "message-tags",
    "multi-prefix",
    "sasl",
    "server-time",
    "setname",
    "standard-replies",
)
_REQUEST_BYTES = 400  # of one CAP REQ, which has to fit into a line


def read_list(written: str) -> dict[str, str]:
    """`sasl=PLAIN,EXTERNAL batch` -> values by capability."""
    pairs = (item.partition("=") for item in written.split())
    return {name: value for name, _, value in pairs if name}


def requests(offered: Collection[str], *, without: Collection[str] = ()) -> list[str]:
    """The parameters of the CAP REQ lines that request those that the connector uses."""
    names = [name for name in REQUESTED if name in offered and name not in without]
    return words_within(names, _REQUEST_BYTES)


@dataclass(frozen=True, slots=True)
class Multiline:
    """The limits of one multiline message."""

    max_bytes: int
    max_lines: int


def multiline_of(enabled: Mapping[str, str]) -> Multiline | None:
    """None where the server takes none; a batch needs the capability `batch`, too."""
    value = enabled.get(MULTILINE)
    if value is None or "batch" not in enabled:
        return None
    pairs = (item.partition("=") for item in value.split(","))
    limits = {name: limit for name, _, limit in pairs}
    max_bytes, max_lines = limits.get("max-bytes", ""), limits.get("max-lines", "")
    if not max_bytes.isdecimal() or int(max_bytes) < 1:
        return None  # the limit is required (draft/multiline)
    lines = int(max_lines) if max_lines.isdecimal() and int(max_lines) > 0 else 100
    return Multiline(int(max_bytes), lines)


def has_history(enabled: Collection[str]) -> bool:
    """An answer is a batch, so both are needed."""
    return "batch" in enabled and any(name in enabled for name in _HISTORY_NAMES)


def sasl_mechanisms(offered: Mapping[str, str]) -> tuple[str, ...] | None:
    """None where there is no SASL; empty where the server does not say which mechanisms."""
    value = offered.get("sasl")
    return (
        None
        if value is None
        else tuple(mechanism.upper() for mechanism in value.split(",") if mechanism)
    )
