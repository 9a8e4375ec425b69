"""What an agent is asked, told while it works, and says: turns, inputs, agent events."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic_core import to_json

from bridge.model.events import Sense
from bridge.model.refs import ActorId, MessageId, RoomId, TurnId
from bridge.uacs import Conversation, Message, ToolCallPart, ToolResultPart

TurnState = Literal["queued", "running", "waiting", "done", "failed", "interrupted"]


MOST_STATE = 16_000  # bytes of an agent's private state


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(_Value):
    """One agent's answer to one trigger.

    `conversation` is what the agent may know: the room as it is shown to it, oldest first, the
    trigger last. `platforms` are where the answer will be read.
    """

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    asked_at: AwareDatetime
    conversation: Conversation
    platforms: tuple[str, ...] = ()


class MessageGiven(_Value):
    """Somebody said more while the agent was working."""

    type: Literal["message_given"] = "message_given"
    message: Message


class StopWanted(_Value):
    """Somebody wants the agent to stop; what it has said so far stays."""

    type: Literal["stop_wanted"] = "stop_wanted"
    by: ActorId | None = None


class Steered(_Value):
    """Somebody changes the task while the agent works on it."""

    type: Literal["steered"] = "steered"
    message: Message


class ApprovalGiven(_Value):
    """Somebody allowed or refused a tool call."""

    type: Literal["approval_given"] = "approval_given"
    tool_call_id: str
    allowed: bool
    by: ActorId


class ToolResultGiven(_Value):
    """A tool that the bridge ran for the agent has answered."""

    type: Literal["tool_result_given"] = "tool_result_given"
    part: ToolResultPart


AgentInput = Annotated[
    MessageGiven | StopWanted | Steered | ApprovalGiven | ToolResultGiven,
    Field(discriminator="type"),
]


class Feedback(_Value):
    """What one person thinks of an answer that the agent gave: of several, the latest holds."""

    agent: str
    room: RoomId
    message: MessageId
    actor: ActorId
    sense: Sense
    comment: str = ""
    given_at: AwareDatetime


class TextDelta(_Value):
    """More text of the answer, in UACS Markdown."""

    type: Literal["text_delta"] = "text_delta"
    text: str


class PartGiven(_Value):
    """A whole part of the answer; text deltas after it begin a new text part. `name`, `size`
    (bytes) and `path` (absolute, among the parts of the answer) are those of a file, where they are
    known."""

    type: Literal["part_given"] = "part_given"
    part: JsonValue
    name: str = ""
    size: int | None = Field(default=None, ge=0)
    path: str = ""


class TextReplaced(_Value):
    """All text since the last part turns out to be something else: `parts` (say, what a model
    thought), and then `text`, which text deltas go on with."""

    type: Literal["text_replaced"] = "text_replaced"
    parts: tuple[JsonValue, ...] = ()
    text: str = ""


class MessageChanged(_Value):
    """A message that this agent said in this room before says something else from now on: `parts`
    are its whole new content. So a card answers a press in its own place."""

    type: Literal["message_changed"] = "message_changed"
    message: MessageId
    parts: tuple[JsonValue, ...]


class ToolCalled(_Value):
    """The agent calls a tool; from here on a broken turn is never run again by itself."""

    type: Literal["tool_called"] = "tool_called"
    part: ToolCallPart


class ToolAnswered(_Value):
    """A tool that the agent ran itself has answered."""

    type: Literal["tool_answered"] = "tool_answered"
    part: ToolResultPart


class PlanStep(_Value):
    """A step of the agent's plan, or its new status; `details` are what it is done with, `output`
    is what came of it, as plain text. A `transient` step is what the agent does just now: it is
    shown until the answer begins, and not beside it."""

    type: Literal["plan_step"] = "plan_step"
    id: str
    title: str
    status: Literal["pending", "in_progress", "complete", "error"]
    details: str = ""
    output: str = ""
    transient: bool = False


class ApprovalWanted(_Value):
    """The agent may go on with this tool call only when somebody allows it."""

    type: Literal["approval_wanted"] = "approval_wanted"
    part: ToolCallPart
    reason: str = ""


class UsageReported(_Value):
    """What the answer cost so far; goes to the message's metadata."""

    type: Literal["usage_reported"] = "usage_reported"
    usage: dict[str, JsonValue]


class AnswerRecorded(_Value):
    """What the answer is made of (model, digests of what it was told, tools, losses); goes to
    `metadata.record` of the message."""

    type: Literal["answer_recorded"] = "answer_recorded"
    record: dict[str, JsonValue]


class ModerationReported(_Value):
    """What a vendor's filters or the model said of the question or of the answer; goes to
    `metadata.moderation` of the message."""

    type: Literal["moderation_reported"] = "moderation_reported"
    moderation: dict[str, JsonValue]


class StateKept(_Value):
    """What the agent wants to find again in the next turns of this session: it is shown to it
    alone, in `metadata.agents.<name>`. Keys stay until they are given anew; null takes one away."""

    type: Literal["state_kept"] = "state_kept"
    state: dict[str, JsonValue]

    @field_validator("state")
    @classmethod
    def _is_small(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        size = len(to_json(value))
        if size > MOST_STATE:
            raise ValueError(f"{size} bytes of state are too many: at most {MOST_STATE} bytes")
        return value


class TurnDone(_Value):
    """The answer is complete."""

    type: Literal["turn_done"] = "turn_done"


class TurnFailed(_Value):
    """The agent gives up; `reason` may be shown to people."""

    type: Literal["turn_failed"] = "turn_failed"
    reason: str
    retry: bool = True


AgentEvent = Annotated[
    TextDelta
    | TextReplaced
    | PartGiven
    | MessageChanged
    | ToolCalled
    | ToolAnswered
    | PlanStep
    | ApprovalWanted
    | UsageReported
    | AnswerRecorded
    | ModerationReported
    | StateKept
    | TurnDone
    | TurnFailed,
    Field(discriminator="type"),
]
