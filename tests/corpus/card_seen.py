"""What a neutral card, or the plain parts of a UACS message, say."""

from __future__ import annotations

from typing import Any

from tests.corpus import plain
from tests.corpus.seen import Seen, each, of, string

_TEXTS = frozenset({
    "text", "title", "subtitle", "label", "value", "description", "author", "question", "hint",
    "sources", "alt", "name", "placeholder", "x_title", "y_title", "ok", "cancel", "error", "group",
    "icon",
})  # fmt: skip


def see_card(card: Any) -> Seen:
    """Every text of the tree, in its order."""
    seen = Seen()
    stack: list[tuple[str, Any, str]] = [("", card, "")]
    while stack:
        at, one, key = stack.pop()
        if isinstance(one, dict):
            kind = string(one, "type")
            if kind:
                seen.add(kind, at)
            inner = [(f"{at}/{name}", item, name) for name, item in one.items()
                     if not (kind == "native" and name == "payload")]  # fmt: skip
            stack += reversed(inner)
        elif isinstance(one, list):
            stack += reversed([(f"{at}/{i}", item, key) for i, item in enumerate(one)])
        elif (isinstance(one, str) and key in _TEXTS) or (isinstance(one, str) and key == "nodes"):
            seen.say(plain.uacs(one), at)
        elif key == "value":
            seen.say(one, at)
    return seen


def see_message(message: Any) -> Seen:
    """The parts beside the payloads: what says the same. An alt text is read from the details, not
    from the text that repeats it."""
    seen = Seen()
    details = of(of(of(message, "metadata"), "uacs_bridge"), "parts")
    for index, (part, at) in enumerate(each(message, "content", "")):
        told = of(details, str(index))
        if string(part, "type") == "text" and not of(told, "repeats_alt"):
            seen.say(plain.uacs(string(part, "text")), at)
        for key in ("alt", "name"):
            seen.say(of(told, key), at, "hidden")
    return seen
