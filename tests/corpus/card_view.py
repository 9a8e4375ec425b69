"""What a neutral card, or the plain parts of a UACS message, say."""

from __future__ import annotations

from typing import Any

from tests.corpus import plain
from tests.corpus.view import View, items_of, of, string

_TEXTS = frozenset({
    "text", "title", "subtitle", "label", "value", "description", "author", "question", "hint",
    "sources", "alt", "name", "placeholder", "x_title", "y_title", "ok", "cancel", "error", "group",
    "icon",
})  # fmt: skip


def see_card(card: Any) -> View:
    """Every text of the tree, in its order."""
    view = View()
    stack: list[tuple[str, Any, str]] = [("", card, "")]
    while stack:
        at, node, key = stack.pop()
        if isinstance(node, dict):
            kind = string(node, "type")
            if kind:
                view.add(kind, at)
            inner = [(f"{at}/{name}", item, name) for name, item in node.items()
                     if not (kind == "native" and name == "payload")]  # fmt: skip
            stack += reversed(inner)
        elif isinstance(node, list):
            stack += reversed([(f"{at}/{i}", item, key) for i, item in enumerate(node)])
        elif (isinstance(node, str) and key in _TEXTS) or (
            isinstance(node, str) and key == "nodes"
        ):
            view.add_text(plain.uacs(node), at)
        elif key == "value":
            view.add_text(node, at)
    return view


def see_message(message: Any) -> View:
    """The parts beside the payloads: what says the same. An alt text is read from the details, not
    from the text that repeats it."""
    view = View()
    details = of(of(of(message, "metadata"), "uacs_bridge"), "parts")
    for index, (part, at) in enumerate(items_of(message, "content", "")):
        detail = of(details, str(index))
        if string(part, "type") == "text" and not of(detail, "repeats_alt"):
            view.add_text(plain.uacs(string(part, "text")), at)
        for key in ("alt", "name"):
            view.add_text(of(detail, key), at, "hidden")
    return view
