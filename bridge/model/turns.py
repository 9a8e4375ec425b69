"""The input and the output of agents: turns, inputs during a turn, agent events."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic_core import to_json

from bridge.model.events import Sense
from bridge.model.floor import FloorView
from bridge.model.refs import ActorId, MessageId, RoomId, TurnId
from bridge.uacs import Conversation, Message, ToolCallPart, ToolResultPart

TurnState = Literal["queued", "running", "waiting", "done", "failed", "interrupted"]


MAX_STATE = 16_000  # bytes of an agent's private state


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(_Value):
    """One agent's answer to one trigger.

    `conversation` is what the agent may know: the room as the agent may see it, oldest message
    first, the trigger last. `platforms` are those on which people will read the answer.
    `overheard`: the trigger is not for the agent, which need not answer. `floor`: who may speak,
    where an agent decides that. `private`: nobody but the asker reads the answer.
    """

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    asked_at: AwareDatetime
    conversation: Conversation
    platforms: tuple[str, ...] = ()
    overheard: bool = False
    floor: FloorView | None = None
    private: bool = False


class MessageGiven(_Value):
    """A further message arrived while the agent was working."""

    type: Literal["message_given"] = "message_given"
    message: Message


class StopWanted(_Value):
    """A person asks the agent to stop; its output so far stays."""

    type: Literal["stop_wanted"] = "stop_wanted"
    by: ActorId | None = None


class Steered(_Value):
    """A person changes the task while the agent works on it."""

    type: Literal["steered"] = "steered"
    message: Message


class ApprovalGiven(_Value):
    """A person allowed or refused a tool call."""

    type: Literal["approval_given"] = "approval_given"
    tool_call_id: str
    allowed: bool
    by: ActorId


class ToolResultGiven(_Value):
    """The result of a tool that the bridge ran for the agent."""

    type: Literal["tool_result_given"] = "tool_result_given"
    part: ToolResultPart


AgentInput = Annotated[
    MessageGiven | StopWanted | Steered | ApprovalGiven | ToolResultGiven,
    Field(discriminator="type"),
]


class Feedback(_Value):
    """One person's rating of an agent's answer; the latest of several counts."""

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
    """A whole part of the answer; text deltas after it begin a new text part.

    `name`, `size` (bytes) and `path` (absolute, among the parts of the answer) describe a file, if
    known.
    """

    type: Literal["part_given"] = "part_given"
    part: JsonValue
    name: str = ""
    size: int | None = Field(default=None, ge=0)
    path: str = ""


class TextReplaced(_Value):
    """All text since the last part is replaced by `parts` (such as a model's reasoning) and then
    `text`, which text deltas continue."""

    type: Literal["text_replaced"] = "text_replaced"
    parts: tuple[JsonValue, ...] = ()
    text: str = ""


class MessageChanged(_Value):
    """An earlier message of this agent in this room has new content: `parts` replace all of it. A
    card answers a press in its own place this way."""

    type: Literal["message_changed"] = "message_changed"
    message: MessageId
    parts: tuple[JsonValue, ...]


class MessageSaid(_Value):
    """Somebody below the agent says a whole message under its own name: an agent that a supervisor
    directs, or (role `tool`) a tool.

    - `actor`: its id below the agent's; `name`: what people read, by default the id.
    - `parts`: UACS content parts; `id`: the agent's own id of the message, which is said once.
    """

    type: Literal["message_said"] = "message_said"
    actor: str = Field(min_length=1, max_length=100)
    parts: tuple[JsonValue, ...] = Field(min_length=1)
    name: str = Field(default="", max_length=100)
    role: Literal["assistant", "tool"] = "assistant"
    id: str = ""


class Whispered(_Value):
    """The agent says something to one person alone, who has spoken in the room. Where the platform
    cannot show it to one person, the archive alone has it, and a notice says so.

    - `to`: the person's id.
    - `parts`: UACS content parts.
    """

    type: Literal["whispered"] = "whispered"
    to: ActorId
    parts: tuple[JsonValue, ...] = Field(min_length=1)


class ToolCalled(_Value):
    """The agent calls a tool; the bridge never repeats an interrupted turn automatically after
    this."""

    type: Literal["tool_called"] = "tool_called"
    part: ToolCallPart


class ToolAnswered(_Value):
    """The result of a tool that the agent ran itself."""

    type: Literal["tool_answered"] = "tool_answered"
    part: ToolResultPart


class PlanStep(_Value):
    """A step of the agent's plan, or its new status.

    `details` describes the step, `output` its result, both as plain text. A `transient` step is the
    agent's current activity: people see it only until the answer begins.
    """

    type: Literal["plan_step"] = "plan_step"
    id: str
    title: str
    status: Literal["pending", "in_progress", "complete", "error"]
    details: str = ""
    output: str = ""
    transient: bool = False


class ApprovalWanted(_Value):
    """The agent needs permission for this tool call."""

    type: Literal["approval_wanted"] = "approval_wanted"
    part: ToolCallPart
    reason: str = ""


class UsageReported(_Value):
    """The usage of the answer so far; it is stored in the message's metadata."""

    type: Literal["usage_reported"] = "usage_reported"
    usage: dict[str, JsonValue]


class AnswerRecorded(_Value):
    """The provenance of the answer (model, digests of its input, tools, losses); it is stored in
    `metadata.record` of the message."""

    type: Literal["answer_recorded"] = "answer_recorded"
    record: dict[str, JsonValue]


class ModerationReported(_Value):
    """The result of a vendor's filters or of the model about the question or the answer; it is
    stored in `metadata.moderation` of the message."""

    type: Literal["moderation_reported"] = "moderation_reported"
    moderation: dict[str, JsonValue]


class StateKept(_Value):
    """Private state for the agent's next turns of this session; only the agent sees it, in
    `metadata.agents.<name>`. A key stays until it has a new value; null removes it."""

    type: Literal["state_kept"] = "state_kept"
    state: dict[str, JsonValue]

    @field_validator("state")
    @classmethod
    def _is_small(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        size = len(to_json(value))
        if size > MAX_STATE:
            raise ValueError(f"{size} bytes of state are too many: at most {MAX_STATE} bytes")
        return value


class TurnDone(_Value):
    """The answer is complete."""

    type: Literal["turn_done"] = "turn_done"


class TurnFailed(_Value):
    """The agent gives up; people may see `reason`."""

    type: Literal["turn_failed"] = "turn_failed"
    reason: str
    retry: bool = True


AgentEvent = Annotated[
    TextDelta
    | TextReplaced
    | PartGiven
    | MessageChanged
    | MessageSaid
    | Whispered
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
