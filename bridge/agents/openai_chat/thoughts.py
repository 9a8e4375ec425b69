"""`<think>...</think>` in the text of an answer -> reasoning and words, while it grows. Pure.

Open models write their reasoning into the answer (DeepSeek R1, QwQ, Qwen 3), and servers without a
parser for it pass it on. Some chat templates put the opening tag into the prompt, so that an answer
has only the closing tag (vllm#13125, llama.cpp#12107; 2025).

A tag counts outside code: `<think>` at the beginning of a line, `</think>` after it. A `</think>`
without an opening tag counts at the beginning or the end of a line, if words follow it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_TOKEN = re.compile(r"\n|`+|~{3,}|</?think>")
_MAY_GROW = re.compile(r"(?:`+|~+|</?(?:t(?:h(?:i(?:n(?:k)?)?)?)?)?)\Z")
_OPENING = re.compile(r"\s*<think>\s*")
_OPEN, _CLOSE = "<think>", "</think>"
_DEEPEST_INDENT = 3  # four spaces are code in Markdown


@dataclass(frozen=True)
class Thought:
    """Reasoning, and exactly the tags and spaces around it."""

    text: str
    before: str
    after: str

    @property
    def whole(self) -> str:
        return f"{self.before}{self.text}{self.after}"


@dataclass(frozen=True)
class RetroactiveThought:
    """All words so far were this reasoning."""

    thought: Thought


Segment = str | Thought | RetroactiveThought


def split_thoughts(content: str) -> list[str | Thought]:
    """Return the pieces of a whole answer; joined, they are the content."""
    thoughts = ThoughtParser()
    pieces: list[str | Thought] = []
    for piece in (*thoughts.feed(content), *thoughts.end()):
        match piece:
            case RetroactiveThought(thought):
                pieces = [thought]
            case str() if pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            case _:
                pieces.append(piece)
    return pieces


class ThoughtParser:
    """Parses an answer in pieces of any size; the result does not depend on where it is cut.

    With `first`, the answer begins with reasoning; if that never ends, it was words.
    """

    def __init__(self, *, first: bool = False) -> None:
        self.first = first
        self._held = ""  # text that is not classified yet
        # All words, while a `</think>` could still make them reasoning.
        self._words_said: list[str] = []
        self._any_words = False
        self._any_thoughts = False
        self._thinking = first
        self._opened = ""  # the opening tag with the text around it
        self._leading = first
        self._closed: str | None = None  # reasoning that has ended; its last spaces may follow
        self._indent = 0
        self._blank = True  # only spaces on this line so far
        self._ticks = 0
        self._fence = ""

    def feed(self, more: str) -> list[Segment]:
        """Return the pieces that this text completes."""
        self._held += more
        return self._read(last=False)

    def end(self) -> list[Segment]:
        """Return the remaining pieces."""
        return self._read(last=True)

    def _read(self, *, last: bool) -> list[Segment]:
        pieces: list[Segment] = []
        while True:
            if self._closed is not None:
                done = self._after(pieces, last=last)
            elif self._thinking:
                done = self._thought(pieces, last=last)
            else:
                done = self._words(pieces, last=last)
            if done:
                return _merged(pieces)

    def _thought(self, pieces: list[Segment], *, last: bool) -> bool:
        """Read within reasoning; return whether it needs more text."""
        thought, tag, rest = self._held.partition(_CLOSE)
        if tag:
            self._closed, self._held, self._thinking = thought, rest, False
            return False
        if not last:
            return True
        if self._leading and (self._opened or _OPENING.match(self._held)):
            pieces.append(_thought_of(self._opened, self._held, ""))
        elif whole := self._opened + self._held:
            pieces.append(whole)
        self._held = ""
        return True

    def _after(self, pieces: list[Segment], *, last: bool) -> bool:
        """Read after a closing tag, whose spaces belong to it."""
        words = self._held.lstrip()
        if not words and not last:
            return True
        gap = self._held[: len(self._held) - len(words)]
        thought = _thought_of(self._opened, self._closed or "", f"{_CLOSE}{gap}")
        self.first = self.first or not thought.before.strip()
        pieces.append(thought)
        self._any_thoughts, self._closed, self._opened, self._held = True, None, "", words
        self._indent, self._blank, self._ticks, self._fence = 0, True, 0, ""
        return not words

    def _words(self, pieces: list[Segment], *, last: bool) -> bool:
        """Read words up to the next reasoning; return whether it needs more text."""
        text = self._held
        grows = None if last else _MAY_GROW.search(text)
        limit = grows.start() if grows else len(text)
        at = 0
        for token in _TOKEN.finditer(text, 0, limit):
            self._line(text[at : token.start()])
            at = token.end()
            tag = token.group()
            if tag == _OPEN and self._is_free and self._blank:
                self._open(pieces, text[: token.start()], text[token.end() :])
                return False
            if tag == _CLOSE and self._is_free and not self._any_thoughts:
                behind = text[at:]
                ends = self._blank or behind[:1] in ("\n", "\r")
                if not behind.strip() and not last and (ends or not behind):
                    self._say(pieces, text[: token.start()], keep=text[token.start() :])
                    return True
                if ends and behind.strip():
                    self._reread(pieces, text[: token.start()], behind)
                    return False
            self._mark(tag)
        self._line(text[at:limit])
        if not self._any_words and not text[:limit].strip() and not last:
            self._indent, self._blank = 0, True
            return True  # spaces before the first word may stand before a tag
        self._say(pieces, text[:limit], keep=text[limit:])
        return True

    @property
    def _is_free(self) -> bool:
        return not self._fence and not self._ticks

    def _open(self, pieces: list[Segment], words: str, rest: str) -> None:
        self._thinking, self._leading = True, not (self._any_words or words.strip())
        self._opened = f"{words}{_OPEN}" if self._leading else _OPEN
        self._say(pieces, "" if self._leading else words, keep=rest)

    def _reread(self, pieces: list[Segment], words: str, after: str) -> None:
        words_so_far = "".join((*self._words_said, words))
        gap = after[: len(after) - len(after.lstrip())]
        pieces.append(RetroactiveThought(_thought_of("", words_so_far, f"{_CLOSE}{gap}")))
        self.first, self._any_thoughts, self._held = True, True, after.lstrip()
        self._words_said = []
        self._indent, self._blank = 0, True

    def _say(self, pieces: list[Segment], words: str, keep: str = "") -> None:
        """Say `words`; `keep` is read again with the next text."""
        self._held = keep
        if words:
            pieces.append(words)
            self._any_words = self._any_words or bool(words.strip())
            if not self._any_thoughts:
                self._words_said.append(words)

    def _line(self, text: str) -> None:
        """Take characters within a line."""
        if self._blank:
            self._indent += len(text) - len(text.lstrip())
            self._blank = not text.strip() and self._indent <= _DEEPEST_INDENT

    def _mark(self, mark: str) -> None:
        """Take a token that is not a reasoning tag: a line end, a code mark, a tag in code."""
        if mark == "\n":
            self._indent, self._blank, self._ticks = 0, True, 0
            return
        if mark[0] in "`~" and self._blank and len(mark) >= 3:
            if not self._fence:
                self._fence = mark
            elif self._fence[0] == mark[0] and len(mark) >= len(self._fence):
                self._fence = ""
        elif mark[0] == "`" and not self._fence:
            self._ticks = 0 if self._ticks == len(mark) else self._ticks or len(mark)
        self._blank = False


def _thought_of(before: str, text: str, after: str) -> Thought:
    """Return a thought; the spaces at its edges belong to its tags."""
    if not before and (opening := _OPENING.match(text)):
        before, text = opening.group(), text[opening.end() :]
    head = text[: len(text) - len(text.lstrip())]
    body = text[len(head) :]
    tail = body[len(body.rstrip()) :]
    return Thought(body.rstrip(), before + head, tail + after)


def _merged(pieces: Iterable[Segment]) -> list[Segment]:
    """Join neighbouring texts."""
    merged: list[Segment] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged
