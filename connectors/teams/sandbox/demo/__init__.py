"""How the demo shows the local Teams, and its scripted messages."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from bridge.sandbox.demo_side import DemoLine, DemoSide, without_marks
from bridge.sandbox.feed import LocalMessage

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BYLINE = re.compile(r"\*\*(.+?)\*\*\n\n(.*)", re.DOTALL)

_SCRIPT = (
    DemoLine(
        20,
        "Noor Haddad",
        "What looks like markup stays text: 2 * 3 * 4 < 30 & [no](link), **not bold**, <b>nor</b>",
    ),
    DemoLine(80, "Carmen Diaz", "Then Thursday it is. Thank you!", thread=0),
)
_OPENING = (DemoLine(10, "Noor Haddad", "Thank you! I will tell the customers."),)
_SCENE = (
    DemoLine(20, "Carmen Diaz", "I see it too: the second node is fine.", thread=0),
    DemoLine(30, "Noor Haddad", "@echo what did you hear about the deployment?", answered=True),
)


def _read(message: LocalMessage) -> tuple[str, str]:
    """Return author and text; the bridge's messages begin with the author in bold."""
    text = str(message.raw.get("text", ""))
    if message.raw.get("textFormat") != "markdown":
        return message.author, text
    byline = _BYLINE.fullmatch(text)
    author, body = byline.groups() if byline else (message.author, text)
    with_breaks = body.replace("<br>", "\n")
    return unescape(author), unescape(without_marks(_TAG.sub("", with_breaks)))


SIDE = DemoSide(
    static=Path(__file__).parent / "static",
    writer="Noor Haddad",
    read=_read,
    people="Members",
    placeholder="Start a post",
    scenes={"script": _SCRIPT, "opening": _OPENING, "scene": _SCENE},
)
