"""The words of the bridge as frozen, persisted values: refs, events, operations, receipts."""

from bridge.model.capabilities import Capabilities, Level, Rate
from bridge.model.events import (
    EVENT,
    AccountRevoked,
    ActionPressed,
    ChannelClosed,
    ChannelCreated,
    ChannelRenamed,
    CommandGiven,
    Event,
    FormSubmitted,
    Ignored,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageEdited,
    MessagePinned,
    MessagePosted,
    MessagesBulkDeleted,
    MessageUnpinned,
    PollEnded,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    ThreadStarted,
    TopicChanged,
    TypingStarted,
    Unknown,
)
from bridge.model.loss import Loss
from bridge.model.operations import (
    OPERATION,
    AddReaction,
    BudgetKey,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    Operation,
    PinMessage,
    PostMessage,
    Quoted,
    RemoveReaction,
    ShowTyping,
    UnpinMessage,
    Upload,
    deletion_of,
    edit_of,
)
from bridge.model.people import Byline, Person
from bridge.model.raw import Echo, Raw
from bridge.model.receipts import Receipt
from bridge.model.refs import (
    AccountId,
    ActorId,
    ChannelRef,
    LaneId,
    MessageId,
    OperationId,
    PersonId,
    Place,
    RoomId,
    TurnId,
    actor_id_of,
    channel_of_key,
    conversation_id_of,
    join_key,
    message_id_of,
    split_key,
)
from bridge.model.requests import Answer, ModalWanted, OptionsWanted, Request, SubmissionGiven

__all__ = [
    "EVENT", "OPERATION", "AccountId", "AccountRevoked", "ActionPressed", "ActorId", "AddReaction",
    "Answer", "BudgetKey", "Byline", "Call", "Capabilities", "ChannelClosed", "ChannelCreated",
    "ChannelRef", "ChannelRenamed", "CommandGiven", "DeleteMessage", "Delivery", "Echo",
    "EditMessage", "Encoded", "Event", "FormSubmitted", "Ignored", "LaneId", "Level", "Loss",
    "MemberJoined", "MemberLeft", "MessageDeleted", "MessageEdited", "MessageId", "MessagePinned",
    "MessagePosted", "MessageUnpinned", "MessagesBulkDeleted", "ModalWanted", "Operation",
    "OperationId", "OptionsWanted", "Person", "PersonId", "PinMessage", "Place", "PollEnded",
    "PostMessage", "Quoted", "Rate", "Raw", "ReactionAdded", "ReactionRemoved", "ReactionsCleared",
    "Receipt", "RemoveReaction", "Request", "RoomId", "ShowTyping", "SubmissionGiven",
    "ThreadStarted", "TopicChanged", "TurnId", "TypingStarted", "Unknown", "UnpinMessage",
    "Upload", "actor_id_of", "channel_of_key", "conversation_id_of", "deletion_of", "edit_of",
    "join_key", "message_id_of", "split_key",
]  # fmt: skip
