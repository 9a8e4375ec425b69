"""Names of tools as every API takes them, unique among all servers; and back, for people. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

MAX_LENGTH = 64  # letters, digits, _ and -: what all APIs take
SHOW_CARD = "show_card"  # the tool that agents on models have of their own
HAND_OVER = "hand_over"  # the bridge's own; a notice says what it did
HIDDEN_TOOLS = frozenset((SHOW_CARD, HAND_OVER))
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_SEPARATOR = "__"


def tool_names(tools: Iterable[tuple[str, str]]) -> list[str]:
    """`(server, own name)` of each tool -> `server__tool`: legal, and no two the same. A name
    that had to be changed ends with a digest of what it was, so that it stays the same name
    whatever other tools there are."""
    names: list[str] = []
    for server, own in tools:
        whole = f"{server}{_SEPARATOR}{own}"
        legal = _ILLEGAL.sub("_", whole)
        if legal[:1].isdigit():  # one API wants a letter or _ there
            legal = f"_{legal}"
        if legal != whole or len(legal) > MAX_LENGTH or legal in names:
            mark = hashlib.sha256(whole.encode()).hexdigest()[:8]
            legal = f"{legal[: MAX_LENGTH - 9]}_{mark}"
        names.append(legal)
    return names


def readable_tool(name: str) -> str:
    """`calendar__list_events` -> `calendar: list events`."""
    server, between, own = name.partition(_SEPARATOR)
    words = " ".join((own or server).replace("_", " ").split()) or name
    return f"{server.strip('_')}: {words}" if between else words
