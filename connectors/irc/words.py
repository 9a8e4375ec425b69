"""A call that a channel refused for its formatting (mode +c) -> the same in plain text. Pure."""

from __future__ import annotations

from bridge.model import Call
from connectors.irc.formatting import plain


def in_words(call: Call) -> Call | None:
    """Return the call without formatting; None if it has none."""
    lines = call.body.get("lines")
    if not isinstance(lines, list):
        return None
    bare = [plain(str(line)) for line in lines]
    if bare == lines:
        return None
    return call.model_copy(update={"body": {**call.body, "lines": [*bare]}})


def without_files(call: Call) -> Call | None:
    """None: IRC has no files, and lines hold the addresses of files."""
    return None
