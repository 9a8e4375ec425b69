"""Discord's objects, with the fields that the bridge reads; others stay in the inbox row."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

Snowflake = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]


class _Json(BaseModel):
    """Base of the models: unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class MemberData(_Json):
    nick: str | None = None
    avatar: str | None = None


class UserData(_Json):
    id: Snowflake
    username: str = ""
    global_name: str | None = None
    avatar: str | None = None
    bot: bool = False
    member: MemberData | None = None


class AttachmentData(_Json):
    filename: str = "file"
    title: str | None = None
    description: str | None = None
    url: str = ""


class NamedValueData(_Json):
    name: str | None = None
    value: str | None = None
    text: str | None = None
    url: str | None = None


class EmbedData(_Json):
    type: str = "rich"
    title: str | None = None
    description: str | None = None
    url: str | None = None
    author: NamedValueData | None = None
    footer: NamedValueData | None = None
    image: NamedValueData | None = None
    fields: tuple[NamedValueData, ...] = ()


class StickerData(_Json):
    id: Snowflake
    name: str = "sticker"
    format_type: int = 1


class EmojiData(_Json):
    id: Snowflake | None = None
    name: str | None = None


class PollMediaData(_Json):
    text: str | None = None
    emoji: EmojiData | None = None


class PollAnswerData(_Json):
    answer_id: int = 0
    poll_media: PollMediaData = PollMediaData()


class AnswerCountData(_Json):
    id: int
    count: int = 0


class PollResultsData(_Json):
    is_finalized: bool = False
    answer_counts: tuple[AnswerCountData, ...] = ()


class PollData(_Json):
    question: PollMediaData = PollMediaData()
    answers: tuple[PollAnswerData, ...] = ()
    results: PollResultsData | None = None


class ReferenceData(_Json):
    type: int = 0
    message_id: Snowflake | None = None
    channel_id: Snowflake | None = None


class InteractionMetadata(_Json):
    """The user of the command or button that a message answers."""

    user: UserData | None = None


class ContentData(_Json):
    """The content of a message, or of the message within a forward."""

    content: str = ""
    mentions: tuple[UserData, ...] = ()
    attachments: tuple[AttachmentData, ...] = ()
    embeds: tuple[EmbedData, ...] = ()
    sticker_items: tuple[StickerData, ...] = ()
    components: tuple[JsonValue, ...] = ()
    poll: PollData | None = None
    flags: int = 0


class SnapshotData(_Json):
    message: ContentData


class MessageData(ContentData):
    mention_roles: tuple[Snowflake, ...] | None = None
    mention_everyone: bool | None = None
    id: Snowflake
    channel_id: Snowflake
    type: int = 0
    author: UserData
    member: MemberData | None = None
    timestamp: AwareDatetime
    edited_timestamp: AwareDatetime | None = None
    webhook_id: Snowflake | None = None
    application_id: Snowflake | None = None
    message_reference: ReferenceData | None = None
    interaction_metadata: InteractionMetadata | None = None
    message_snapshots: tuple[SnapshotData, ...] = ()


class OwnershipData(_Json):
    """Our ids and our part in the event.

    `webhook`: it came through our webhook; `bridge`: through another bridge's webhook; `unpinned`:
    the bridge itself removed the pin.
    """

    user: str = ""
    application: str = ""
    webhook: bool = False
    bridge: bool = False
    unpinned: bool = False


class Wrapped(_Json):
    """A gateway event with what the receiver adds.

    `at` is when it was received (seconds since 1970), `names` maps ids in the text to names, and
    `title` is the name of the forum post that the message begins.
    """

    own: OwnershipData = OwnershipData()
    at: Annotated[float, Field(ge=0, lt=253_402_300_799)] | None = None
    names: dict[str, str] = {}


class WrappedMessage(Wrapped):
    d: MessageData
    title: str = ""


class UpdateData(_Json):
    id: Snowflake
    channel_id: Snowflake
    content: str | None = None
    author: UserData | None = None
    edited_timestamp: AwareDatetime | None = None
    poll: PollData | None = None


class WrappedUpdate(Wrapped):
    d: UpdateData


class DeleteData(_Json):
    id: Snowflake
    channel_id: Snowflake


class WrappedDelete(Wrapped):
    d: DeleteData


class BulkData(_Json):
    ids: tuple[Snowflake, ...]
    channel_id: Snowflake


class WrappedBulk(Wrapped):
    d: BulkData


class ReactionData(_Json):
    user_id: Snowflake | None = None
    channel_id: Snowflake
    message_id: Snowflake
    emoji: EmojiData | None = None


class WrappedReaction(Wrapped):
    d: ReactionData


class TypingData(_Json):
    user_id: Snowflake
    channel_id: Snowflake


class WrappedTyping(Wrapped):
    d: TypingData


class ChannelData(_Json):
    id: Snowflake
    name: str | None = None
    owner_id: Snowflake | None = None
    parent_id: Snowflake | None = None
    topic: str | None = None
    newly_created: bool = False


class WrappedChannel(Wrapped):
    """`changed`: which of name and topic changed; `forum`: whether it is a forum post."""

    d: ChannelData
    changed: tuple[str, ...] = ()
    forum: bool = False


class WrappedInteraction(Wrapped):
    d: dict[str, JsonValue]
