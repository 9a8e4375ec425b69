"""Feedback, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from bridge.model import ActorId, MessageId
from bridge.ports.feedback_store import GivenFeedback
from bridge.store.feedback import as_metadata


class MemoryFeedback:
    """The part of the memory store that keeps feedback."""

    def __init__(self) -> None:
        self._feedback: dict[tuple[MessageId, ActorId], GivenFeedback] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    def _rate(self, one: GivenFeedback) -> bool:
        """Whether it is a person's latest word."""
        known = self._feedback.get((one.message, one.actor))
        if known is not None and one.time <= known.time:
            return False
        self._feedback[one.message, one.actor] = one
        return True

    def _rated(self, message: MessageId) -> list[JsonValue]:
        found = [one for one in self._feedback.values() if one.message == message]
        found.sort(key=lambda one: (one.time, one.actor))
        return as_metadata((one.actor, one.sense, one.comment, one.time) for one in found)

    async def untold_feedback(self) -> Sequence[GivenFeedback]:
        found = [one for one in self._feedback.values() if one.tells is not None]
        return sorted(found, key=lambda one: one.time)

    async def feedback_told(self, given: GivenFeedback) -> None:
        self._must_be_open()
        key = (given.message, given.actor)
        known = self._feedback.get(key)
        if known is not None and known.time == given.time:
            self._feedback[key] = replace(known, tells=None)
