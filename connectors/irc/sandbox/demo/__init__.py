"""How the demo shows the local IRC, and what its people say there."""

from __future__ import annotations

import re
from pathlib import Path

from bridge.sandbox.demo_side import DemoLine, DemoSide
from bridge.sandbox.feed import LocalMessage
from connectors.irc.sandbox.text import without_codes

_BYLINE = re.compile(r"<([^<>]+)> (.*)", re.DOTALL)
_GAP = "\u200b"  # keeps the names of bylines from ringing
_QUOTE = re.compile(r"↪ [^\n]*?(?: “[^”\n]*”)?: ")

_SCRIPT = (
    DemoLine(
        55,
        "mika",
        "Hello from IRC: \x02bold\x02, \x1dslanted\x1d and \x11code\x11; *stars* and <b> stay",
        "Hello from IRC: bold, slanted and code; *stars* and <b> stay",
    ),
    DemoLine(90, "yara", "On IRC we read it all, and you read us."),
)
_OPENING = (DemoLine(15, "mika", "Thanks! I tell the people on \x02IRC\x02."),)
_SCENE = (DemoLine(15, "ines", "It ran out of memory at 09:14, the log is full of it."),)


def _read(shown: LocalMessage) -> tuple[str, str]:
    """The bridge writes the author in front, and what a message answers before its words."""
    text = without_codes(shown.text).replace(_GAP, "")
    found = _BYLINE.fullmatch(text) if shown.bot else None
    if found is None:
        return shown.author, text
    return found[1], _QUOTE.sub("", found[2], count=1)


SIDE = DemoSide(
    static=Path(__file__).parent / "static",
    writer="mika",
    read=_read,
    people="Nicks",
    threads=False,
    streams=False,
    scenes={"script": _SCRIPT, "opening": _OPENING, "scene": _SCENE},
)
