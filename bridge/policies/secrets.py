"""The content policy of every agent: the bridge's own secrets, and text that looks like one, reach
no model and no room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from pydantic import JsonValue

from bridge.model.turns import Turn
from bridge.policies.strings import in_json, in_message, in_turn
from bridge.uacs import Message

_MIN_LENGTH = 8  # characters of a secret; shorter ones are also words
HIDDEN = "[hidden]"


class Secrets:
    """Replaces secrets by `[hidden]`.

    Args:
        current_values: Returns the values of all secrets, as they are when a turn begins.
        hide: Replaces text that looks like a secret.
    """

    holdback = 0  # a secret is one word, and an incomplete word is always held back

    def __init__(
        self,
        current_values: Callable[[], Awaitable[Collection[str]]],
        hide: Callable[[str], str],
    ) -> None:
        self._current_values = current_values
        self._hide = hide

    def begin(self) -> _SecretsFilter:
        """Returns the filter of a new turn."""
        return _SecretsFilter(self._current_values, self._hide)


class _SecretsFilter:
    def __init__(
        self,
        current_values: Callable[[], Awaitable[Collection[str]]],
        hide: Callable[[str], str],
    ) -> None:
        self._current_values = current_values
        self._hide = hide
        self._values: list[str] = []

    async def filter_turn(self, turn: Turn) -> Turn:
        values = {value for value in await self._current_values() if len(value) >= _MIN_LENGTH}
        self._values = sorted(values, key=len, reverse=True)
        return in_turn(turn, self._clean)

    async def filter_message(self, message: Message) -> Message:
        return in_message(message, self._clean)

    async def filter_text(self, text: str) -> str:
        return self._clean(text)

    async def filter_part(self, part: JsonValue) -> JsonValue:
        return in_json(part, self._clean)

    def _clean(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = text.replace(value, HIDDEN)
        return self._hide(text)
