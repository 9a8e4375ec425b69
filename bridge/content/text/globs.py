"""Globs of names and content types: what one matches, and whether one covers others.

`*` is any run of characters except `/`, `**` any run at all, `{a,b}` one of several. Pure, bounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Annotated

from pydantic import AfterValidator

from bridge.errors import InvalidData

_MAX_LENGTH = 1000  # characters of a glob
_MAX_ALTERNATIVES = 1000
_MAX_STATES = 20_000
SEPARATOR = "\0"  # between the fields of one pattern; no star runs over it

_Pattern = tuple[str, ...]  # characters, and the two stars
_STAR, _STARS = "*", "**"


def matches(glob: str, text: str) -> bool:
    """Whether the glob matches the whole text."""
    stops = SEPARATOR in text, "/" in text
    return any(
        _matches(pattern, text)
        if stars and (stops[0] or (stops[1] and _STAR in stars))
        else _runs_through(pieces, text)
        for pattern, pieces, stars in _pieces_of(glob)
    )


def any_matches(globs: Iterable[str], texts: Collection[str]) -> bool:
    """Whether one of the globs matches the whole of one of the texts."""
    return any(matches(glob, text) for glob in globs for text in texts)


def is_glob(text: str) -> bool:
    """Whether the glob may match several texts."""
    return "*" in text or "{" in text


def _checked(glob: str) -> str:
    if len(glob) > _MAX_LENGTH:
        raise ValueError(f"A glob has at most {_MAX_LENGTH} characters, not {len(glob)}")
    if "{" not in glob:
        return glob
    try:
        _patterns(glob)
    except InvalidData as error:
        raise ValueError(str(error)) from None
    return glob


Glob = Annotated[str, AfterValidator(_checked)]
"""Of a configuration: checked when it is read."""


def covers(wide: Sequence[str], narrow: str) -> bool:
    """Whether one of the `wide` globs matches every text that `narrow` matches.

    Raises:
        InvalidData: The globs are too complex to be compared.
    """
    machines = [pattern for glob in wide for pattern in _patterns(glob)]
    return all(_is_covered(pattern, machines) for pattern in _patterns(narrow))


def meet(left: str, right: str) -> bool:
    """Whether some text matches both globs.

    Raises:
        InvalidData: The globs are too complex to be compared.
    """
    return any(_meet(a, b) for a in _patterns(left) for b in _patterns(right))


@lru_cache(maxsize=1024)
def _patterns(glob: str) -> tuple[_Pattern, ...]:
    """One pattern for each choice among the alternatives."""
    patterns: list[_Pattern] = []
    for text in _alternatives(glob):
        patterns.append(_pattern(text))
        if len(patterns) > _MAX_ALTERNATIVES:
            raise InvalidData(f"Glob {glob!r} has more than {_MAX_ALTERNATIVES} alternatives")
    return tuple(patterns)


@lru_cache(maxsize=4096)
def _pieces_of(glob: str) -> tuple[tuple[_Pattern, tuple[str, ...], frozenset[str]], ...]:
    """Each pattern with the texts between its stars, and the stars it has."""
    return tuple(
        (
            pattern,
            tuple("".join(_STAR if s == _STARS else s for s in pattern).split(_STAR)),
            frozenset(pattern) & {_STAR, _STARS},
        )
        for pattern in _patterns(glob)
    )


def _runs_through(pieces: Sequence[str], text: str) -> bool:
    """Whether the text contains the pieces in order, with anything between them."""
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    if len(text) < len(first) + len(last) or not text.startswith(first):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return text.endswith(last)


def _alternatives(glob: str) -> Iterator[str]:
    start = glob.find("{")
    end = _closing(glob, start) if start >= 0 else -1
    if end < 0:
        yield glob
        return
    for choice in _choices(glob[start + 1 : end]):
        yield from _alternatives(glob[:start] + choice + glob[end + 1 :])


def _closing(glob: str, start: int) -> int:
    depth = 0
    for index in range(start, len(glob)):
        depth += {"{": 1, "}": -1}.get(glob[index], 0)
        if not depth:
            return index
    return -1


def _choices(inner: str) -> list[str]:
    """The parts between the commas that are not in inner braces."""
    choices, depth = [""], 0
    for char in inner:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and not depth:
            choices.append("")
        else:
            choices[-1] += char
    return choices


def _pattern(text: str) -> _Pattern:
    signs: list[str] = []
    for char in text:
        if char != "*":
            signs.append(char)
        elif signs and signs[-1] == _STAR:
            signs[-1] = _STARS
        elif not signs or signs[-1] != _STARS:
            signs.append(_STAR)
    return tuple(signs)


def _matches(pattern: _Pattern, text: str) -> bool:
    states = _closure(pattern, frozenset((0,)))
    for char in text:
        states = _step(pattern, states, char)
        if not states:
            return False
    return len(pattern) in states


def _closure(pattern: _Pattern, states: frozenset[int]) -> frozenset[int]:
    """The states with those that are reached when stars match nothing."""
    reached = set(states)
    for state in states:
        at = state
        while at < len(pattern) and pattern[at] in (_STAR, _STARS):
            at += 1
            reached.add(at)
    return frozenset(reached)


def _step(pattern: _Pattern, states: frozenset[int], char: str) -> frozenset[int]:
    after: set[int] = set()
    for state in states:
        if state == len(pattern):
            continue
        sign = pattern[state]
        runs_on = char != SEPARATOR and (sign == _STARS or (sign == _STAR and char != "/"))
        if runs_on:
            after.add(state)
        elif sign == char and sign not in (_STAR, _STARS):
            after.add(state + 1)
    return _closure(pattern, frozenset(after))


def _is_covered(narrow: _Pattern, wide: Sequence[_Pattern]) -> bool:
    """Walks through both at once: wherever the narrow pattern may end, a wide one must."""
    written = set(chain(narrow, *wide)) - {_STAR, _STARS}
    alphabet = sorted(written | {"/", _unwritten_char(written)})
    start = (_closure(narrow, frozenset((0,))), tuple(_closure(p, frozenset((0,))) for p in wide))
    seen, waiting = {start}, [start]
    while waiting:
        narrow_states, wide_states = waiting.pop()
        if len(narrow) in narrow_states and not any(
            len(p) in s for p, s in zip(wide, wide_states, strict=True)
        ):
            return False
        for char in alphabet:
            step = _step(narrow, narrow_states, char)
            if not step:
                continue
            state = (step, tuple(_step(p, s, char) for p, s in zip(wide, wide_states, strict=True)))
            if state not in seen:
                seen.add(state)
                waiting.append(state)
        if len(seen) > _MAX_STATES:
            raise InvalidData("These globs are too complex to compare; write simpler ones")
    return True


def _meet(left: _Pattern, right: _Pattern) -> bool:
    """Walks through both at once: somewhere both may end."""
    written = set(chain(left, right)) - {_STAR, _STARS}
    alphabet = sorted(written | {"/", _unwritten_char(written)})
    start = _closure(left, frozenset((0,))), _closure(right, frozenset((0,)))
    seen, waiting = {start}, [start]
    while waiting:
        left_states, right_states = waiting.pop()
        if len(left) in left_states and len(right) in right_states:
            return True
        for char in alphabet:
            state = _step(left, left_states, char), _step(right, right_states, char)
            if all(state) and state not in seen:
                seen.add(state)
                waiting.append(state)
        if len(seen) > _MAX_STATES:
            raise InvalidData("These globs are too complex to compare; write simpler ones")
    return False


def _unwritten_char(written: set[str]) -> str:
    """A character that represents all characters that no glob names."""
    return next(char for char in map(chr, range(1, 0x10FFFF)) if char not in written)
