"""Twice as much takes about twice as long, however it is nested: what is told apart is the number
of calls, which no busy machine changes, and for what one call copies the CPU time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from bridge.app.translation.translate import translate
from bridge.content.text.tree import Paragraph, Text
from connectors.slack.rich_text_writer import text_to_rich_text

_DEEP = 220
_COPIES = 4


def calls_of(work: Callable[[], object]) -> int:
    """How many functions of Python are called."""
    count = 0

    def count_calls(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(count_calls)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def seconds_of(work: Callable[[], object]) -> float:
    """CPU time of the fastest of a few runs."""
    times: list[float] = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def chain(depth: int, inner: Any, **shell: Any) -> Any:
    """`inner` in a shell in a shell...: the key of the shell whose value is None holds the next."""
    (key,) = [name for name, value in shell.items() if value is None]
    for _ in range(depth):
        inner = {**shell, key: [inner]}
    return inner


def slack(*blocks: Any) -> Any:
    return {"blocks": list(blocks)}


def discord(*components: Any) -> Any:
    return {"flags": 1 << 15, "components": list(components)}


def teams(*body: Any) -> Any:
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body)}


OUT_OF_REACH = [{"type": "rich_text_section", "elements": [{"type": "channel"}]}]
TEXT = {"type": "plain_text", "text": "words"}
BLOCK = {"type": "TextBlock", "text": "words"}
NESTED: dict[str, tuple[str, Callable[..., Any], Any, dict[str, Any]]] = {
    "rich text around what it cannot read": (
        *("slack", slack, OUT_OF_REACH),
        {"type": "rich_text", "elements": None},
    ),
    "rich text around nothing": ("slack", slack, {}, {"type": "rich_text", "elements": None}),
    "links around nothing": ("slack", slack, {}, {"type": "link", "elements": None}),
    "blocks nobody knows": ("slack", slack, TEXT, {"type": "unheard", "elements": None}),
    "containers": ("slack", slack, TEXT, {"type": "container", "child_blocks": None}),
    "cells": ("slack", slack, TEXT, {"type": "table", "rows": None}),
    "boxes of Discord": (
        *("discord", discord, {"type": 10, "content": "a"}),
        {"type": 17, "components": None},
    ),
    "components nobody knows": ("discord", discord, {"content": "a"}, {"type": 99, "items": None}),
    "boxes of Teams": ("teams", teams, BLOCK, {"type": "Container", "items": None}),
    "columns of Teams": ("teams", teams, BLOCK, {"type": "ColumnSet", "columns": None}),
    "elements nobody knows": ("teams", teams, BLOCK, {"type": "Unheard", "items": None}),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_work_grows_linearly_with_depth(name: str) -> None:
    platform, message, inner, shell = NESTED[name]

    def calls(depth: int) -> int:
        native = message(*(chain(depth, inner, **shell) for _ in range(_COPIES)))
        return calls_of(
            lambda: translate(native, source=platform, target=platform, through_tree=True)
        )

    calls(_DEEP)  # what is made once and kept
    assert calls(2 * _DEEP) < 2.6 * calls(_DEEP)


def test_work_grows_linearly_with_the_number_of_paragraphs() -> None:
    def seconds(count: int) -> float:
        paragraphs = [Paragraph((Text(f"{n}"),)) for n in range(count)]
        return seconds_of(lambda: text_to_rich_text(paragraphs))

    assert seconds(80_000) < 9 * seconds(20_000)
