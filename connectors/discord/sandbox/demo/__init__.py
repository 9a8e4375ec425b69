"""The local Discord in the demo: its page and the messages of its people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bridge.sandbox.demo_side import DemoLine, DemoSide, without_marks
from bridge.sandbox.feed import LocalMessage

_LIMIT = 2000
_REFUSED = re.compile("clyde|discord", re.IGNORECASE)  # in names of webhooks (resources/webhook)

_SCRIPT = (
    DemoLine(
        10,
        "Chen Wei",
        "**Great**, *thanks*! ~~Friday~~ Thursday then?\n> two fixes\n`v1.4.0` it is",
        "Great, thanks! Friday Thursday then?\ntwo fixes\nv1.4.0 it is",
    ),
    DemoLine(30, "Dana Okafor", "Which two?", thread=0),
)
_OPENING = (DemoLine(20, "Chen Wei", "**Great.** Which fixes are in?", thread=0),)
_SCENE = (
    DemoLine(0, "Dana Okafor", "Can somebody look at the *deployment*? It says `exit 137`."),
    DemoLine(40, "Dana Okafor", "It runs. **Thank you all!**", thread=0),
)


def _read(message: LocalMessage) -> tuple[str, str]:
    return message.author, without_marks(message.text)


def _complaints(messages: Sequence[LocalMessage]) -> list[str]:
    """Return the messages and names that the real Discord would refuse."""
    complaints = [
        f"Discord: a message of {len(text)} characters"
        for _, text in map(_read, messages)
        if len(text) > _LIMIT
    ]
    names = dict.fromkeys(message.author for message in messages if _REFUSED.search(message.author))
    complaints += [
        f"Discord: the name {name!r} is one that the real Discord refuses" for name in names
    ]
    return complaints


SIDE = DemoSide(
    static=Path(__file__).parent / "static",
    writer="Chen Wei",
    read=_read,
    channels="Text channels",
    people="Online",
    scenes={"script": _SCRIPT, "opening": _OPENING, "scene": _SCENE},
    complaints=_complaints,
)
