"""What a reader of a message sees and can do: words, actions, elements, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, cast

Visibility = Literal["shown", "hidden"]
"""`hidden` words are seen on pointing, pressing, or by a screen reader alone."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ViewText:
    at: str
    text: str
    visibility: Visibility = "shown"


@dataclass(frozen=True, slots=True)
class Act:
    """`press` tells an author, `link` opens a URL, `input` asks, `show` changes what is seen."""

    at: str
    does: Literal["press", "link", "input", "show"]
    label: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    at: str
    kind: str


@dataclass(slots=True)
class View:
    """In the order of reading."""

    texts: list[ViewText] = field(default_factory=list[ViewText])
    acts: list[Act] = field(default_factory=list[Act])
    elements: list[Element] = field(default_factory=list[Element])

    def add_text(self, text: object, at: str, visibility: Visibility = "shown") -> None:
        if isinstance(text, str) and text.strip():
            self.texts.append(ViewText(at, text, visibility))
        elif isinstance(text, int | float) and not isinstance(text, bool):
            self.texts.append(ViewText(at, f"{text:g}", visibility))

    def add(self, kind: str, at: str) -> None:
        self.elements.append(Element(at, kind))


def is_web(url: object) -> bool:
    """An address that may be a link."""
    return isinstance(url, str) and url.lower().startswith(("http://", "https://", "mailto:"))


def of(value: object, key: str) -> Any:
    return cast("Json", value).get(key) if isinstance(value, dict) else None


def string(value: object, key: str) -> str:
    text = of(value, key)
    return text if isinstance(text, str) else ""


def items_of(value: object, key: str, at: str) -> Iterator[tuple[Any, str]]:
    """The items of a list, with their places."""
    items = of(value, key)
    if isinstance(items, list):
        for index, node in enumerate(cast("list[Any]", items)):
            yield node, f"{at}/{key}/{index}"
