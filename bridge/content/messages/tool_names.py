"""Names of tools that every API accepts and that are unique among all servers; and readable names.
Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

MAX_LENGTH = 64  # letters, digits, _ and -: what all APIs accept
SHOW_CARD = "show_card"  # the own tool of agents on models
HAND_OVER = "hand_over"  # the bridge's own tool; a notice reports its effect
INVITE_AGENT = "invite_agent"  # another one; people are asked
HIDDEN_TOOLS = frozenset((SHOW_CARD, HAND_OVER, INVITE_AGENT))
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_SEPARATOR = "__"


def tool_names(tools: Iterable[tuple[str, str]]) -> list[str]:
    """Returns a legal and unique name for each tool: `server__tool`.

    A name that had to change ends with a digest of the original, so that it does not depend on
    other tools.

    Args:
        tools: The server and the own name of each tool.
    """
    names: list[str] = []
    for server, own in tools:
        whole = f"{server}{_SEPARATOR}{own}"
        legal = _ILLEGAL.sub("_", whole)
        if legal[:1].isdigit():  # one API requires a letter or _ there
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
