"""The policy that every agent has: the bridge's own keys, and what looks like one, reach no model
and no room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from pydantic import JsonValue

from bridge.model.turns import Turn
from bridge.policies.strings import in_json, in_message, in_turn
from bridge.uacs import Message

_MIN_LENGTH = 8  # characters of a secret; shorter ones are words, too
HIDDEN = "[hidden]"


class Secrets:
    """`known` gives the values as they are now; `hide` takes away what looks like a secret."""

    hold_back = 0  # a secret is one word, and a word that has not ended is held back anyway

    def __init__(
        self, known: Callable[[], Awaitable[Collection[str]]], hide: Callable[[str], str]
    ) -> None:
        self._known = known
        self._hide = hide

    def begin(self) -> _Hiding:
        return _Hiding(self._known, self._hide)


class _Hiding:
    def __init__(
        self, known: Callable[[], Awaitable[Collection[str]]], hide: Callable[[str], str]
    ) -> None:
        self._known = known
        self._hide = hide
        self._values: list[str] = []

    async def before(self, turn: Turn) -> Turn:
        values = {value for value in await self._known() if len(value) >= _MIN_LENGTH}
        self._values = sorted(values, key=len, reverse=True)
        return in_turn(turn, self._clean)

    async def told(self, message: Message) -> Message:
        return in_message(message, self._clean)

    async def said(self, text: str) -> str:
        return self._clean(text)

    async def given(self, part: JsonValue) -> JsonValue:
        return in_json(part, self._clean)

    def _clean(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = text.replace(value, HIDDEN)
        return self._hide(text)
