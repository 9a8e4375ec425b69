"""What a message of IRC shows: its lines without codes (modern.ircdocs.horse/formatting), and the
numbers by which a card is answered."""

from __future__ import annotations

import re
from typing import Any

from tests.corpus.view import Act, View, string

_CODES = re.compile(
    r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9A-Fa-f]{6}(?:,[0-9A-Fa-f]{6})?)?"
    r"|[\x02\x1d\x1f\x1e\x11\x16\x0f]"
)
_NUMBERED = re.compile(r"!(\d{1,3}) \((.*?)(: your words)?\)(?=, (?:!|or )|$)", re.MULTILINE)
_ANSWER = "Answer with !"


def see(native: Any) -> View:
    view = View()
    text = _CODES.sub("", string(native, "text"))
    view.add("text", "/text")
    said = [line for line in text.split("\n") if not line.startswith(_ANSWER)]
    view.add_text("\n".join(said), "/text")
    for line in text.split("\n"):
        if line.startswith(_ANSWER):
            for number, label, asks in _NUMBERED.findall(line):
                view.acts.append(Act(f"/text/!{number}", "input" if asks else "press", label))
    return view
