"""An agent behind content policies, which check its input and its output before people see it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from pydantic import JsonValue

from bridge.errors import ContentRefused
from bridge.model.floor import FloorChange, FloorWish
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    Feedback,
    MessageChanged,
    MessageGiven,
    MessageSaid,
    ModerationReported,
    PartGiven,
    Steered,
    TextDelta,
    TextReplaced,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    Turn,
    TurnDone,
    TurnFailed,
    Whispered,
)
from bridge.ports.agent import (
    Agent,
    ChecksItself,
    Convenes,
    HasAddresses,
    IsInvited,
    KeepsFiles,
    TakesFeedback,
)
from bridge.ports.content_policy import ContentPolicy, TurnFilter
from bridge.ports.findings import Finding
from bridge.uacs import ToolCallPart, ToolResultPart, write

_RECHECKED = 200  # characters that are checked again with every delta, at least
_NOT_CONTENT = frozenset((
    "plan_step", "usage_reported", "answer_recorded", "moderation_reported", "state_kept",
))  # fmt: skip
_MAX_WORD = 400  # characters of an incomplete word that are held back


class GuardedAgent:
    """An agent whose input and output pass the policies, in the order of the policies."""

    def __init__(self, agent: Agent, policies: Sequence[ContentPolicy]) -> None:
        self.name = agent.name
        self._agent = agent
        self._policies = policies

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Runs the agent's turn and yields its events as the policies allow them.

        A policy that raises `ContentRefused` ends the turn with a `TurnFailed`, whose reason is the
        error's text. Any other error of a policy is raised: people see nothing unchecked.
        """
        filters = [policy.begin() for policy in self._policies]
        holdback = max((policy.holdback for policy in self._policies), default=0)
        try:
            shown = turn
            for turn_filter in filters:
                turn = await turn_filter.filter_turn(turn)
            note = _Note(shown, turn)
            text = _GrowingText(filters, holdback)
            checked_inputs = _checked_inputs(inputs, filters)
            async with aclosing(self._agent.run(turn, checked_inputs)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        if new := await text.add(event.text):
                            yield TextDelta(text=new)
                        continue
                    if isinstance(event, AnswerRecorded):
                        yield note.added_to(event)
                        continue
                    if isinstance(event, TurnDone) and (last := note.at_end(text)) is not None:
                        yield last
                    if isinstance(event, TextReplaced):
                        await text.end()  # the event replaces the text held back, too
                        checked = await _checked(event, filters)
                        yield checked.model_copy(update={"text": await text.add(event.text)})
                        continue
                    if _ends_text(event) and (rest := await text.end()):
                        yield TextDelta(text=rest)
                    checked_event = await _checked(event, filters)
                    note.changed = note.changed or checked_event != event
                    yield checked_event
        except ContentRefused as error:
            yield TurnFailed(reason=str(error), retry=False)

    async def check(self) -> Sequence[Finding]:
        """Returns the findings of the agent's own check; none for an agent that has no check."""
        return await self._agent.check() if isinstance(self._agent, ChecksItself) else ()

    @property
    def addresses(self) -> Sequence[str]:
        """URIs that name the agent; none for one that has a name alone."""
        return self._agent.addresses if isinstance(self._agent, HasAddresses) else ()

    @property
    def invited_seconds(self) -> float | None:
        """Seconds after which an agent that nobody asks has to leave; None: never."""
        return self._agent.invited_seconds if isinstance(self._agent, IsInvited) else None

    async def tell(self, conversation: str, change: FloorChange) -> None:
        """Tells the agent that it may not speak any more, or has to leave."""
        if isinstance(self._agent, IsInvited):
            await self._agent.tell(conversation, change)

    async def decide(self, conversation: str, wish: FloorWish) -> Sequence[FloorChange]:
        """Returns what the agent decides on a wish, whose words the policies check; nothing for an
        agent that cannot decide."""
        if not isinstance(self._agent, Convenes):
            return ()
        words: JsonValue = wish.text
        for policy in self._policies if words else ():
            words = await policy.begin().filter_part(words)
        return await self._agent.decide(conversation, replace(wish, text=str(words)))

    async def forget_files(self, is_stored: Callable[[str], Awaitable[bool]]) -> int:
        """Deletes what the agent keeps of files that are no longer stored; returns how many."""
        if not isinstance(self._agent, KeepsFiles):
            return 0
        return await self._agent.forget_files(is_stored)

    @property
    def takes_feedback(self) -> bool:
        """Whether the agent wants to know what people think of its answers."""
        return isinstance(self._agent, TakesFeedback) and self._agent.takes_feedback

    async def take_feedback(self, feedback: Feedback) -> None:
        """Passes feedback to the agent; the policies check its comment like any other input."""
        if not isinstance(self._agent, TakesFeedback):
            return
        comment: JsonValue = feedback.comment
        for policy in self._policies if comment else ():
            comment = await policy.begin().filter_part(comment)
        await self._agent.take_feedback(feedback.model_copy(update={"comment": str(comment)}))


class _Note:
    """What the policies did, for the record of the answer: in how many messages they changed
    something, and whether they changed the answer. It has no words of either."""

    def __init__(self, before: Turn, after: Turn) -> None:
        pairs = zip(before.conversation.messages, after.conversation.messages, strict=False)
        self._messages = sum(old.content != new.content for old, new in pairs)
        self._record: dict[str, JsonValue] | None = None
        self.changed = False

    def added_to(self, event: AnswerRecorded) -> AnswerRecorded:
        """Return the record with the note."""
        self._record = event.record
        note: dict[str, JsonValue] = {}
        if self._messages:
            note["changed_messages"] = self._messages
        if self.changed:
            note["changed_answer"] = True
        return AnswerRecorded(record={**event.record, "policies": note}) if note else event

    def at_end(self, text: _GrowingText) -> AnswerRecorded | None:
        """Return the record anew where the answer was changed since, or where the agent made
        none."""
        self.changed = self.changed or text.changed
        if not self.changed and (self._record is not None or not self._messages):
            return None
        return self.added_to(AnswerRecorded(record=self._record or {}))


class _GrowingText:
    """One piece of text while it grows: the original, and the checked text that was released."""

    def __init__(self, filters: Sequence[TurnFilter], holdback: int) -> None:
        self._filters = filters
        self._holdback = holdback
        self._text = ""
        self._released = ""
        self._window = _RECHECKED + 2 * holdback
        self._max_length = 2 * self._window
        self._checked_length = 0
        self.changed = False

    async def add(self, delta: str) -> str:
        """Adds a delta and returns the checked text to release in addition."""
        self._text += delta
        settled = self._settled()
        if len(settled) == self._checked_length:
            return ""
        self._checked_length = len(settled)
        new = self._beyond_released(await self._check(settled))
        if len(self._text) > self._max_length:
            await self._drop_old_text()
        return new

    async def _drop_old_text(self) -> None:
        """Drops text released long ago, so that every delta costs the same."""
        settled = self._settled()
        at = _last_space(settled, len(settled) - self._window)
        old, recent = await self._check(settled[:at]), await self._check(settled[at:])
        if at and old + recent == self._released:
            self._text, self._released = self._text[at:], recent
            self._checked_length -= at
        self._max_length = len(self._text) + self._window

    async def end(self) -> str:
        """Returns the rest of the text; the next delta begins another piece."""
        new = self._beyond_released(await self._check(self._text))
        self._text = self._released = ""
        self._checked_length = 0
        return new

    def _settled(self) -> str:
        """The text without its last characters and without an incomplete word."""
        end = len(self._text) - self._holdback
        lowest = end - _MAX_WORD
        while end > max(lowest, 0) and not self._text[end - 1].isspace():
            end -= 1
        return self._text[: max(end, 0)]

    async def _check(self, text: str) -> str:
        checked = text
        for turn_filter in self._filters:
            checked = await turn_filter.filter_text(checked)
        self.changed = self.changed or checked != text
        return checked

    def _beyond_released(self, checked: str) -> str:
        if not checked.startswith(self._released):
            if self._released.startswith(checked):
                return ""
            raise ContentRefused("a policy would have changed text that people already see")
        new = checked[len(self._released) :]
        self._released = checked
        return new


def _last_space(text: str, end: int) -> int:
    """The start of the last word before `end`; 0 if there is none."""
    return max(text.rfind(space, 0, max(end, 0)) for space in (" ", "\n")) + 1


def _ends_text(event: AgentEvent) -> bool:
    """Whether the text after this event is a new piece."""
    return event.type not in _NOT_CONTENT


async def _checked(event: AgentEvent, filters: Sequence[TurnFilter]) -> AgentEvent:
    match event:
        case PartGiven(part=part):
            return event.model_copy(update={"part": await _checked_json(part, filters)})
        case ModerationReported(moderation=moderation):
            checked = await _checked_json(moderation, filters)
            return event.model_copy(update={"moderation": checked})
        case (
            MessageChanged(parts=parts)
            | MessageSaid(parts=parts)
            | TextReplaced(parts=parts)
            | Whispered(parts=parts)
        ):
            changed = [await _checked_json(part, filters) for part in parts]
            return event.model_copy(update={"parts": tuple(changed)})
        case ToolCalled(part=call):
            dumped = await _checked_json(json.loads(write(call)), filters)
            return event.model_copy(update={"part": ToolCallPart.model_validate(dumped)})
        case ToolAnswered(part=result):
            return event.model_copy(update={"part": await _checked_result(result, filters)})
        case _:
            return event


async def _checked_json(value: JsonValue, filters: Sequence[TurnFilter]) -> JsonValue:
    for turn_filter in filters:
        value = await turn_filter.filter_part(value)
    return value


async def _checked_result(part: ToolResultPart, filters: Sequence[TurnFilter]) -> ToolResultPart:
    dumped = await _checked_json(json.loads(write(part)), filters)
    return ToolResultPart.model_validate(dumped)


async def _checked_inputs(
    inputs: AsyncIterator[AgentInput], filters: Sequence[TurnFilter]
) -> AsyncGenerator[AgentInput, None]:
    """What the agent receives while it works."""
    async for agent_input in inputs:
        match agent_input:
            case MessageGiven(message=message) | Steered(message=message):
                for turn_filter in filters:
                    message = await turn_filter.filter_message(message)
                yield agent_input.model_copy(update={"message": message})
            case ToolResultGiven(part=part):
                result = await _checked_result(part, filters)
                yield agent_input.model_copy(update={"part": result})
            case _:
                yield agent_input
