"""An agent with policies before and after it. What it says is checked before it is shown; where a
policy breaks, nothing more is."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from pydantic import JsonValue

from bridge.errors import PolicyRefused
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    Feedback,
    MessageChanged,
    MessageGiven,
    ModerationReported,
    PartGiven,
    Steered,
    TextDelta,
    TextReplaced,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    Turn,
    TurnFailed,
)
from bridge.ports.agent import Agent, ChecksItself, TakesFeedback
from bridge.ports.findings import Finding
from bridge.ports.policy import AgentPolicy, TurnPolicy
from bridge.uacs import ToolCallPart, ToolResultPart, write

_KEPT = 200  # characters that are looked at again with every delta, at least
_NEWS = frozenset((
    "plan_step", "usage_reported", "answer_recorded", "moderation_reported", "state_kept",
))  # fmt: skip
_LONGEST_WORD = 400  # characters that are held back of a word that does not end


class GuardedAgent:
    """Policies are asked in their order, before and after."""

    def __init__(self, agent: Agent, policies: Sequence[AgentPolicy]) -> None:
        self.name = agent.name
        self._agent = agent
        self._policies = policies

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        policies = [policy.begin() for policy in self._policies]
        hold_back = max((policy.hold_back for policy in self._policies), default=0)
        try:
            for policy in policies:
                turn = await policy.before(turn)
            text = _Text(policies, hold_back)
            told = _told(inputs, policies)
            async with aclosing(self._agent.run(turn, told)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        if new := await text.take(event.text):
                            yield TextDelta(text=new)
                        continue
                    if isinstance(event, TextReplaced):
                        await text.end()  # what was held back is replaced, too
                        checked = await _checked(event, policies)
                        yield checked.model_copy(update={"text": await text.take(event.text)})
                        continue
                    if _ends_text(event) and (rest := await text.end()):
                        yield TextDelta(text=rest)
                    yield await _checked(event, policies)
        except PolicyRefused as error:
            yield TurnFailed(reason=str(error), retry=False)

    async def check(self) -> Sequence[Finding]:
        """What the agent finds; an agent without an API has nothing to ask."""
        return await self._agent.check() if isinstance(self._agent, ChecksItself) else ()

    @property
    def takes_feedback(self) -> bool:
        return isinstance(self._agent, TakesFeedback) and self._agent.takes_feedback

    async def take_feedback(self, feedback: Feedback) -> None:
        """What somebody wrote beside it is looked at as all else that the agent is told."""
        if not isinstance(self._agent, TakesFeedback):
            return
        comment: JsonValue = feedback.comment
        for policy in [policy.begin() for policy in self._policies] if comment else ():
            comment = await policy.given(comment)
        await self._agent.take_feedback(feedback.model_copy(update={"comment": str(comment)}))


class _Text:
    """One piece of text while it grows: what was checked, and how much of that was shown."""

    def __init__(self, policies: Sequence[TurnPolicy], hold_back: int) -> None:
        self._policies = policies
        self._hold_back = hold_back
        self._said = ""
        self._shown = ""
        self._kept = _KEPT + 2 * hold_back
        self._most = 2 * self._kept
        self._looked_at = 0

    async def take(self, more: str) -> str:
        """What may be shown beside what was."""
        self._said += more
        settled = self._settled()
        if len(settled) == self._looked_at:
            return ""
        self._looked_at = len(settled)
        new = self._beyond(await self._check(settled))
        if len(self._said) > self._most:
            await self._let_go()
        return new

    async def _let_go(self) -> None:
        """What was shown long ago is not looked at again, so that every delta costs the same."""
        settled = self._settled()
        at = _last_space(settled, len(settled) - self._kept)
        first, rest = await self._check(settled[:at]), await self._check(settled[at:])
        if at and first + rest == self._shown:
            self._said, self._shown = self._said[at:], rest
            self._looked_at -= at
        self._most = len(self._said) + self._kept

    async def end(self) -> str:
        """The rest; what comes then is another piece."""
        new = self._beyond(await self._check(self._said))
        self._said = self._shown = ""
        self._looked_at = 0
        return new

    def _settled(self) -> str:
        """Without what may still change: the last characters, and a word that has not ended."""
        upto = len(self._said) - self._hold_back
        lowest = upto - _LONGEST_WORD
        while upto > max(lowest, 0) and not self._said[upto - 1].isspace():
            upto -= 1
        return self._said[: max(upto, 0)]

    async def _check(self, text: str) -> str:
        for policy in self._policies:
            text = await policy.said(text)
        return text

    def _beyond(self, checked: str) -> str:
        if not checked.startswith(self._shown):
            if self._shown.startswith(checked):
                return ""
            raise PolicyRefused("a policy would have changed what is shown already")
        new = checked[len(self._shown) :]
        self._shown = checked
        return new


def _last_space(text: str, upto: int) -> int:
    """Where the last word before `upto` begins; 0 where there is none."""
    return max(text.rfind(space, 0, max(upto, 0)) for space in (" ", "\n")) + 1


def _ends_text(event: AgentEvent) -> bool:
    """All but plain news of how it goes."""
    return event.type not in _NEWS


async def _checked(event: AgentEvent, policies: Sequence[TurnPolicy]) -> AgentEvent:
    match event:
        case PartGiven(part=part):
            for policy in policies:
                part = await policy.given(part)
            return event.model_copy(update={"part": part})
        case ModerationReported(moderation=moderation):
            checked: JsonValue = moderation
            for policy in policies:
                checked = await policy.given(checked)
            return event.model_copy(update={"moderation": checked})
        case MessageChanged(parts=parts) | TextReplaced(parts=parts):
            changed = list(parts)
            for policy in policies:
                changed = [await policy.given(part) for part in changed]
            return event.model_copy(update={"parts": tuple(changed)})
        case ToolCalled(part=call):
            return event.model_copy(update={"part": await _call(call, policies)})
        case ToolAnswered(part=result):
            return event.model_copy(update={"part": await _result(result, policies)})
        case _:
            return event


async def _call(part: ToolCallPart, policies: Sequence[TurnPolicy]) -> ToolCallPart:
    dumped: JsonValue = json.loads(write(part))
    for policy in policies:
        dumped = await policy.given(dumped)
    return ToolCallPart.model_validate(dumped)


async def _result(part: ToolResultPart, policies: Sequence[TurnPolicy]) -> ToolResultPart:
    dumped: JsonValue = json.loads(write(part))
    for policy in policies:
        dumped = await policy.given(dumped)
    return ToolResultPart.model_validate(dumped)


async def _told(
    inputs: AsyncIterator[AgentInput], policies: Sequence[TurnPolicy]
) -> AsyncGenerator[AgentInput, None]:
    """What the agent is told while it works."""
    async for event in inputs:
        match event:
            case MessageGiven(message=message) | Steered(message=message):
                for policy in policies:
                    message = await policy.told(message)
                yield event.model_copy(update={"message": message})
            case ToolResultGiven(part=part):
                yield event.model_copy(update={"part": await _result(part, policies)})
            case _:
                yield event
