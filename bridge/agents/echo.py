"""The agent that needs no key: it repeats what it received and reports what it can read of the
room."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bridge.content.messages.parts import message_text
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone
from bridge.ports.agent import AgentTools
from bridge.ports.clock import Clock
from bridge.uacs import Message, TextPart

_QUOTE = 300  # characters of the question that are repeated


class EchoSettings(BaseModel):
    """Settings of an agent of kind `echo`."""

    model_config = ConfigDict(extra="forbid")

    pace: float = Field(0.03, ge=0, description="seconds between two words of an answer")


class EchoAgent:
    """Answers from the archive alone, word by word, as a model would."""

    def __init__(self, name: str, settings: EchoSettings, clock: Clock) -> None:
        self.name = name
        self._pace = settings.pace
        self._clock = clock

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn. It asks nothing and ignores inputs."""
        for word in re.findall(r"\S+\s*", reply(turn)):
            yield TextDelta(text=word)
            await self._clock.sleep(self._pace)
        yield TurnDone()


def reply(turn: Turn) -> str:
    """Return the answer in UACS Markdown."""
    *before, trigger = turn.conversation.messages
    lines = [f"Hello {_name(trigger)}! I am **{turn.agent}**, and this is what reached me:", ""]
    lines += [f"> {line}" for line in _excerpt(trigger).split("\n")]
    lines += ["", f"- {_parts(trigger)}, said in {_where(trigger)}"]
    lines += [f"- {_memory(before)}"]
    if last_text := _last_of(trigger, before):
        lines.append(f"- the last time you spoke here you said: “{last_text}”")
    if turn.platforms:
        lines.append(f"- my answer is shown on {_joined(sorted(turn.platforms))}")
    return "\n".join(lines)


def _name(message: Message) -> str:
    return message.actor.name or message.actor.id


def _excerpt(message: Message) -> str:
    text, _ = message_text(message)
    return text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…"


def _parts(message: Message) -> str:
    kinds = Counter(str(part.type) for part in message.content)
    return _joined([f"{count} {kind} part{'s' * (count > 1)}" for kind, count in kinds.items()])


def _where(message: Message) -> str:
    return message.message_id.partition(":")[0].title()


def _memory(before: list[Message]) -> str:
    if not before:
        return "I remember nothing said in this room before that"
    people = list(dict.fromkeys(_name(message) for message in before))
    count = f"{len(before)} message{'s' * (len(before) > 1)}"
    return f"I remember {count} said in this room before that, by {_joined(people)}"


def _last_of(trigger: Message, before: list[Message]) -> str:
    for message in reversed(before):
        if message.actor.id == trigger.actor.id:
            texts = [part.text for part in message.content if isinstance(part, TextPart)]
            return " ".join(" ".join(texts).split())[:80]
    return ""


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"


class _EchoType:
    kind = "echo"
    settings = EchoSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> EchoAgent:
        return EchoAgent(name, settings, tools.clock)


agent_type = _EchoType()
