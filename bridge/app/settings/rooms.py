"""Settings of rooms, and the options that the router takes from them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
    model_validator,
)

from bridge.app.settings.agent_memberships import MembershipSettings
from bridge.app.settings.keep import KeepSettings
from bridge.app.settings.quotas import QuotaSettings
from bridge.app.settings.strict import NativeGlob, NativeId, StrictSettings
from bridge.content.cards.tool_calls import ToolsShown
from bridge.content.text.globs import Glob, is_glob
from bridge.content.text.patterns import RegularExpression, Replacement, pattern_of
from bridge.router.rooms.options import (
    ALL_BUT_JOINS,
    OPEN,
    ChannelEventKind,
    Files,
    Filter,
    History,
    Kind,
    Late,
    MemberOptions,
    MessageFilter,
    Moderation,
    Reactions,
    RoomOptions,
    Switch,
    Threads,
    Translation,
)
from bridge.router.rooms.rooms import Undelivered
from bridge.runtime.renamed_keys import RenamedFrom


def _name_form(form: str) -> str:
    remainder = form
    for placeholder in ("{name}", "{platform}", "{account}"):
        remainder = remainder.replace(placeholder, "")
    if "{name}" not in form or "{" in remainder or "}" in remainder or len(remainder) > 40:
        raise ValueError(f"it needs {{name}}, and may have {{platform}} and {{account}}: {form!r}")
    return form


def _own_metadata(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    for reserved in ("uacs_bridge", "tools", "agents"):
        if reserved in metadata:
            raise ValueError(f"{reserved!r} is the bridge's own; choose another name")
    return metadata


LanguageTag = Annotated[
    str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$", max_length=35)
]


class FilterSettings(StrictSettings):
    """A filter: a message matches if it fits every given key."""

    authors: tuple[Glob, ...] = Field(
        default=(), description="Who wrote it: globs of names or ids (slack:T01:U01)."
    )
    kinds: tuple[Kind, ...] = Field(default=(), description="Its kind: any of these.")
    matching: RegularExpression | None = Field(
        default=None, description="A regular expression (RE2) that its text must contain."
    )

    @model_validator(mode="after")
    def _means_something(self) -> FilterSettings:
        if not self.authors and not self.kinds and self.matching is None:
            raise ValueError("it would match every message; give authors, kinds or matching")
        return self


class ReplacementSettings(StrictSettings):
    """Text that copies show instead of other text."""

    find: RegularExpression = Field(description="A regular expression (RE2).")
    put: str = Field(
        description="The text in its place, as it is: it never becomes markup or a mention."
    )


class RelaySettings(StrictSettings):
    """What the bridge carries, and how copies show it; of a room: in all its channels."""

    bots: bool | None = Field(default=None, description="Whether bots and apps are admitted.")
    include: tuple[FilterSettings, ...] = Field(
        default=(), description="Only messages that match one of these filters are carried."
    )
    exclude: tuple[FilterSettings, ...] = Field(
        default=(), description="Messages that match one of these filters are not carried."
    )
    replace: tuple[ReplacementSettings, ...] = Field(
        default=(), description="Replacements in the text of copies."
    )
    rename: tuple[ReplacementSettings, ...] = Field(
        default=(), description="Replacements in the names of authors."
    )
    names: Annotated[str, AfterValidator(_name_form)] | None = Field(
        default=None,
        description="The format of authors' names, with {name}, {platform} and {account}; null: "
        "the plain name, with its platform where two names look alike.",
    )
    everyone: bool | None = Field(
        default=None,
        description="Whether @everyone, @channel and @here of other channels ping here, too.",
    )
    files: Files | None = Field(
        default=None,
        description="keep: files stay files; link: they become links; off: they are left out.",
    )
    threads: Threads | None = Field(
        default=None,
        description="keep: threads stay threads; flat: their messages are replies in the channel.",
    )
    reactions: Reactions | None = Field(
        default=None,
        description="native: the bridge's bot adds the reactions; note: a line below the message "
        "says who reacted; off: reactions are left out.",
    )
    max_delay: float | None = Field(
        default=None, gt=0, description="Seconds after which a post is late; null: never."
    )
    language: LanguageTag | None = Field(
        default=None,
        description="The language that the channel reads (a BCP 47 tag: de, pt-BR): messages in "
        "others are translated by the `translator`; null: nothing is translated.",
    )
    translator: str | None = Field(
        default=None, description="The agent that translates; it need not be in the room."
    )
    late: Late | None = Field(
        default=None,
        description="What happens to a late post: mark: it shows its time; refuse: it becomes a "
        "dead letter.",
    )

    @field_validator("*", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: object, info: ValidationInfo) -> object:
        """YAML reads `off` as false, and `on` as true."""
        yes_or_no = info.field_name in ("bots", "everyone", "greet", "hand_over")
        if yes_or_no or not isinstance(value, bool):
            return value
        return "on" if value else "off"


class MemberSettings(RelaySettings):
    """Settings of a channel in a room."""

    account: Glob = Field(
        description="The account that reads and posts there; a glob takes all that match."
    )
    channel: NativeGlob = Field(
        description="The channel's id, or its name (#general); a glob (#team-*) takes all that "
        "match, also those that appear later."
    )
    category: Glob | None = Field(
        default=None,
        description="Only channels under this category (a glob), where the platform has them.",
    )
    workspace: NativeId | None = Field(
        default=None,
        description="Id or name of the workspace, guild or tenant, if the account is in many.",
    )
    flow: Literal["in", "out", "both"] = Field(
        default="both",
        description="in: its messages come into the room; out: it shows the room's messages; both.",
    )

    @property
    def is_pattern(self) -> bool:
        """Whether it may match several channels, which may appear and disappear."""
        return is_glob(self.channel) or is_glob(self.account) or self.category is not None


class RoomSettings(RelaySettings):
    """Settings of a room: channels and agents that share a conversation."""

    members: tuple[MemberSettings, ...] = Field(min_length=1, description="The room's channels.")
    agents: tuple[MembershipSettings, ...] = Field(default=(), description="The room's agents.")
    quota: Annotated[QuotaSettings, RenamedFrom("budget")] = Field(
        default=QuotaSettings(), description="What agents may cost in this room."
    )
    agents_talk: Literal["off", "mention"] = Field(
        default="off",
        description="mention: agents call one another by @name in their answers; off: never.",
    )
    agents_turns: int = Field(
        default=4,
        ge=0,
        le=100,
        description="The most turns within an hour that agents and bots may start after the last "
        "turn that a person started.",
    )
    hand_over: bool = Field(
        default=False,
        description="Whether agents have a tool that hands over to another agent of the room, or "
        "to a person.",
    )
    undelivered: Undelivered = Field(
        default="note",
        description="How the bridge reports a message that did not reach a channel: note: where it "
        "was posted, with a button to try again; whisper: only to its author, on Slack; reaction: "
        "by a mark, and the command `why` shows the reason; off: in `uacs-bridge dead-letters`.",
    )
    history: History = Field(
        default="from_joining",
        description="from_joining: a channel or an agent that joins later knows the messages from "
        "then on; shared: agents read earlier messages, too, and replies quote them.",
    )
    moderation: Moderation = Field(
        default="off",
        description="What happens if a person deletes or pins a copy: off, mirror or room.",
    )
    bots_per_minute: int | None = Field(
        default=120,
        ge=1,
        description="Posts of bots in a minute, without a person's message in between, after which "
        "the bridge pauses the room; null: no limit.",
    )
    greet: Annotated[bool, RenamedFrom("greets")] = Field(
        default=True,
        description="Whether the bridge tells a channel that joins later what it is bridged to.",
    )
    keep: KeepSettings | None = Field(
        default=None,
        description="How long the room's messages are kept; null: as `archive` says.",
    )
    metadata: Annotated[dict[str, JsonValue], AfterValidator(_own_metadata)] = Field(
        default_factory=dict[str, JsonValue],
        description="JSON that the room's Conversation has in its metadata: in the archive, "
        "exports, `/v1` and MCP.",
    )
    backfill: Literal["all"] | Annotated[int, Field(gt=0)] | None = Field(
        default=None,
        description="How many days of their past the bridge reads into the archive, once for each "
        "channel; all: everything; null: nothing.",
    )
    private: tuple[str, ...] = Field(
        default=("!private",),
        description="The bridge neither carries nor stores messages that begin with one of these.",
    )
    show_tools: ToolsShown = Field(
        default="names",
        description="What people see of agents' tool calls: off: nothing; names: the tools' names; "
        "full: also arguments and results.",
    )
    feedback: Switch = Field(
        default="off",
        description="Whether the bridge asks people for a thumb up or down on agents' answers: "
        "off, on.",
    )
    announce: Annotated[frozenset[ChannelEventKind], RenamedFrom("tells")] = Field(
        default=ALL_BUT_JOINS,
        description="The events of a channel that the bridge announces in the room's others.",
    )


def _seconds_of(days: Literal["all"] | int | None) -> float | None:
    if days is None:
        return None
    return math.inf if days == "all" else days * 86_400.0


def room_options(room: RoomSettings) -> RoomOptions:
    """The router's options of the room as a whole."""
    return RoomOptions(
        message_filter=_message_filter(room),
        history=room.history,
        moderation=room.moderation,
        bots_per_minute=room.bots_per_minute,
        greet=room.greet,
        private=tuple(prefix.casefold() for prefix in room.private if prefix),
        announce=room.announce,
        show_tools=room.show_tools,
        feedback=room.feedback,
        backfill=_seconds_of(room.backfill),
        metadata=room.metadata,
    )


def member_options(room: RoomSettings, member: MemberSettings) -> MemberOptions:
    """The router's options of a channel: its own keys, else the room's; replacements of both."""
    return MemberOptions(
        message_filter=_message_filter(member),
        names=member.names or room.names,
        everyone=bool(room.everyone if member.everyone is None else member.everyone),
        replace=_replacements(room.replace + member.replace),
        rename=_replacements(room.rename + member.rename),
        files=member.files or room.files or "keep",
        threads=member.threads or room.threads or "keep",
        reactions=member.reactions or room.reactions or "native",
        max_delay=member.max_delay or room.max_delay,
        late=member.late or room.late or "mark",
        translation=_translation(room, member),
    )


def _translation(room: RoomSettings, member: MemberSettings) -> Translation | None:
    language = member.language or room.language
    translator = member.translator or room.translator
    return Translation(language, translator) if language and translator else None


def _message_filter(settings: RelaySettings) -> MessageFilter:
    bots = settings.bots is not False
    if bots and not settings.include and not settings.exclude:
        return OPEN
    return MessageFilter(
        include=tuple(map(_filter, settings.include)),
        exclude=tuple(map(_filter, settings.exclude)),
        bots=bots,
    )


def _filter(settings: FilterSettings) -> Filter:
    pattern = None if settings.matching is None else pattern_of(settings.matching)
    return Filter(settings.authors, frozenset(settings.kinds), pattern)


def _replacements(replacements: tuple[ReplacementSettings, ...]) -> tuple[Replacement, ...]:
    return tuple(
        Replacement(pattern_of(replacement.find), replacement.put) for replacement in replacements
    )
