"""Deltas -> Message, and back. The deltas of a message accumulate to exactly that message.

Deltas carry consecutive numbers: the accumulator ignores a repeated one and refuses a gap
(InvalidUacs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, zip_longest

from bridge.errors import InvalidUacs
from bridge.uacs.codec import write
from bridge.uacs.deltas import (
    Delta,
    EnvelopeReplaced,
    MessageEnvelope,
    MessageFinished,
    MessageStarted,
    MetadataMerged,
    PartRemoved,
    PartReplaced,
    PartStarted,
    TextAppended,
    envelope_of,
)
from bridge.uacs.message import Message
from bridge.uacs.parts import ContentPart, TextPart


@dataclass
class _OpenPart:
    """A part and the text appended since; the strings are joined only on demand."""

    part: ContentPart
    appended: list[str] = field(default_factory=list[str])

    def joined(self) -> ContentPart:
        if self.appended and isinstance(self.part, TextPart):
            text = "".join((self.part.text, *self.appended))
            self.part = self.part.model_copy(update={"text": text})
            self.appended.clear()
        return self.part


class Accumulator:
    """Builds a message from its deltas, in order (seed, section VII, streaming).

    Args:
        message: The message to start from, for the deltas of an edit; None for a new message.
        seq: The number of the first delta that is expected.
    """

    def __init__(self, message: Message | None = None, *, seq: int = 0) -> None:
        self.next_seq = seq
        self.finished = False
        self._envelope = None if message is None else envelope_of(message)
        self._parts = [] if message is None else [_OpenPart(part) for part in message.content]

    def add(self, delta: Delta) -> bool:
        """Applies one delta.

        Args:
            delta: The next delta, or a repetition of an earlier one.

        Returns:
            True when the delta was applied, False when it is a repetition.

        Raises:
            InvalidUacs: A delta is missing before this one, or this one does not fit the message so
                far. The state is then unchanged.
        """
        if delta.seq < self.next_seq:
            return False
        if delta.seq > self.next_seq:
            raise InvalidUacs("$.seq", delta.seq, f"arrived too early: {self.next_seq} is missing")
        if self.finished:
            raise InvalidUacs("$.type", delta.type, "arrived after the end of the message")
        self._apply(delta)
        self.next_seq += 1
        return True

    @property
    def so_far(self) -> Message | None:
        """The message as far as it is known; None before its first part."""
        if self._envelope is None or not self._parts:
            return None
        envelope = {name: getattr(self._envelope, name) for name in MessageEnvelope.model_fields}
        content = tuple(part.joined() for part in self._parts)
        return Message(**envelope, content=content, **(self._envelope.model_extra or {}))

    @property
    def message(self) -> Message:
        """The complete message.

        Raises:
            InvalidUacs: The last delta has not been added yet.
        """
        message = self.so_far
        if not self.finished or message is None:
            raise InvalidUacs("$", self.next_seq, "deltas are not yet the whole message")
        return message

    def _apply(self, delta: Delta) -> None:
        match delta:
            case MessageStarted():
                self._start(delta.envelope)
            case EnvelopeReplaced():
                self._current_envelope()
                self._envelope = delta.envelope
            case PartStarted():
                self._append(delta)
            case TextAppended():
                self._text_at(delta.index).appended.append(delta.text)
            case PartReplaced():
                self._part_at(delta.index)
                self._parts[delta.index] = _OpenPart(delta.part)
            case PartRemoved():
                self._part_at(delta.index)
                del self._parts[delta.index]
            case MetadataMerged():
                self._merge(delta)
            case MessageFinished():
                self._finish()

    def _start(self, envelope: MessageEnvelope) -> None:
        if self._envelope is not None:
            raise InvalidUacs("$.type", "message_started", "arrived twice")
        self._envelope = envelope

    def _current_envelope(self) -> MessageEnvelope:
        if self._envelope is None:
            raise InvalidUacs("$.type", "message_started", "must be the first delta")
        return self._envelope

    def _append(self, delta: PartStarted) -> None:
        self._current_envelope()
        if delta.index != len(self._parts):
            rule = f"must be the number of parts so far, {len(self._parts)}"
            raise InvalidUacs("$.index", delta.index, rule)
        self._parts.append(_OpenPart(delta.part))

    def _part_at(self, index: int) -> _OpenPart:
        self._current_envelope()
        if index >= len(self._parts):
            raise InvalidUacs("$.index", index, f"must be below {len(self._parts)}")
        return self._parts[index]

    def _text_at(self, index: int) -> _OpenPart:
        place = self._part_at(index)
        if not isinstance(place.part, TextPart):
            rule = f"must be the index of a text part, not of {place.part.type!r}"
            raise InvalidUacs("$.index", index, rule)
        return place

    def _merge(self, delta: MetadataMerged) -> None:
        envelope = self._current_envelope()
        metadata = {**(envelope.metadata or {}), **delta.metadata}
        self._envelope = envelope.model_copy(update={"metadata": metadata})

    def _finish(self) -> None:
        self._current_envelope()
        if not self._parts:
            raise InvalidUacs("$.type", "message_finished", "needs at least one part before it")
        self.finished = True


def message_to_deltas(message: Message, *, chunk: int = 80) -> Iterator[Delta]:
    """Yields the deltas of a whole message, numbered from 0.

    Args:
        message: The message to cut into deltas.
        chunk: The length of a piece of text, in characters.
    """
    seq = count()
    yield MessageStarted(seq=next(seq), envelope=envelope_of(message))
    for index, part in enumerate(message.content):
        if not isinstance(part, TextPart):
            yield PartStarted(seq=next(seq), index=index, part=part)
            continue
        empty = part.model_copy(update={"text": ""})
        yield PartStarted(seq=next(seq), index=index, part=empty)
        for start in range(0, len(part.text), chunk):
            text = part.text[start : start + chunk]
            yield TextAppended(seq=next(seq), index=index, text=text)
    yield MessageFinished(seq=next(seq))


def deltas_between(old: Message, new: Message, *, seq: int = 0) -> Iterator[Delta]:
    """Yields the deltas that turn one version of a message into another.

    Text that only grew becomes a `TextAppended`; any other changed part is replaced as a whole.

    Args:
        old: The version that the receiver has.
        new: The version that the receiver shall have.
        seq: The number of the first delta.
    """
    numbers = count(seq)
    if not _same(envelope_of(old), envelope_of(new)):
        yield EnvelopeReplaced(seq=next(numbers), envelope=envelope_of(new))
    for index, (before, after) in enumerate(zip_longest(old.content, new.content)):
        if after is None:
            yield PartRemoved(seq=next(numbers), index=len(new.content))
        elif before is None:
            yield PartStarted(seq=next(numbers), index=index, part=after)
        elif not _same(before, after):
            yield _change(index, before, after, next(numbers))
    yield MessageFinished(seq=next(numbers))


def _change(index: int, before: ContentPart, after: ContentPart, seq: int) -> Delta:
    if isinstance(before, TextPart) and isinstance(after, TextPart):
        grown = before.model_copy(update={"text": after.text})
        if after.text.startswith(before.text) and _same(grown, after):
            return TextAppended(seq=seq, index=index, text=after.text[len(before.text) :])
    return PartReplaced(seq=seq, index=index, part=after)


def _same(left: ContentPart | MessageEnvelope, right: ContentPart | MessageEnvelope) -> bool:
    """Whether both have the same JSON. Python's own equality does not tell 1, 1.0 and true
    apart."""
    return write(left) == write(right)
