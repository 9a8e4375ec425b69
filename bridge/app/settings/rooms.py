"""The rooms of the configuration file, and what their options mean to the router."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from bridge.app.settings.agent_memberships import MembershipSettings
from bridge.app.settings.quotas import QuotaSettings
from bridge.app.settings.strict import NativeGlob, NativeId, StrictSettings
from bridge.content.cards.tool_calls import ToolsShown
from bridge.content.text.globs import Glob, is_glob
from bridge.content.text.patterns import RegularExpression, Replacement, pattern_of
from bridge.router.rooms.options import (
    ALL_BUT_JOINS,
    OPEN,
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
    Tells,
    Threads,
)
from bridge.router.rooms.rooms import Undelivered
from bridge.runtime.renamed_keys import RenamedFrom


def _name_form(form: str) -> str:
    known = ("{name}", "{platform}", "{account}")
    rest = form
    for one in known:
        rest = rest.replace(one, "")
    if "{name}" not in form or "{" in rest or "}" in rest or len(rest) > 40:
        raise ValueError(f"it needs {{name}}, and may have {{platform}} and {{account}}: {form!r}")
    return form


class FilterSettings(StrictSettings):
    """Something is meant when it fits every key that is given."""

    authors: tuple[Glob, ...] = Field(
        default=(), description="Who said it: globs of names, or of ids (slack:T01:U01)."
    )
    kinds: tuple[Kind, ...] = Field(default=(), description="What it is: any of these kinds.")
    matching: RegularExpression | None = Field(
        default=None, description="A regular expression (RE2) that is found in its text."
    )

    @model_validator(mode="after")
    def _means_something(self) -> FilterSettings:
        if not self.authors and not self.kinds and self.matching is None:
            raise ValueError("it would mean everything; give authors, kinds or matching")
        return self


class ReplacementSettings(StrictSettings):
    """Something that is shown as something else."""

    find: RegularExpression = Field(description="A regular expression (RE2).")
    put: str = Field(description="What stands in its place, as it is: never markup, no mention.")


class RelaySettings(StrictSettings):
    """What passes, and how it is shown; of a room: for all its channels."""

    bots: bool | None = Field(default=None, description="Whether bots and apps are admitted.")
    include: tuple[FilterSettings, ...] = Field(
        default=(), description="Only what one of these means passes."
    )
    exclude: tuple[FilterSettings, ...] = Field(
        default=(), description="What one of these means does not pass."
    )
    replace: tuple[ReplacementSettings, ...] = Field(
        default=(), description="Replacements in the words that are shown."
    )
    rename: tuple[ReplacementSettings, ...] = Field(
        default=(), description="Replacements in the names that are shown."
    )
    names: Annotated[str, AfterValidator(_name_form)] | None = Field(
        default=None,
        description="How authors are called: a form with {name}, {platform} and {account} in it; "
        "null: by their name, and told apart where two look alike.",
    )
    everyone: bool | None = Field(
        default=None,
        description="Whether @everyone, @channel and @here of other channels ring here, too.",
    )
    files: Files | None = Field(
        default=None, description="keep: as files; link: as links; off: not at all."
    )
    threads: Threads | None = Field(
        default=None, description="keep: as threads; flat: in the channel, as replies."
    )
    reactions: Reactions | None = Field(
        default=None,
        description="native: our bot reacts as people elsewhere do; note: a line below the message "
        "says who reacts; off: not shown.",
    )
    max_delay: float | None = Field(
        default=None, gt=0, description="Seconds after which a post is late; null: never."
    )
    late: Late | None = Field(
        default=None,
        description="What becomes of a late post: mark: its time is shown; refuse: a dead letter.",
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
    """A channel in a room."""

    account: Glob = Field(
        description="The account that hears and speaks there; a glob takes all that match."
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
        description="in: what is said there comes into the room; out: the room is shown there.",
    )

    @property
    def is_pattern(self) -> bool:
        """Whether it may stand for several channels, which come and go."""
        return is_glob(self.channel) or is_glob(self.account) or self.category is not None


class RoomSettings(RelaySettings):
    """Channels and agents that share a conversation; a channel may be in several rooms."""

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
        description="Turns that agents and bots call after the last that a person did, in an hour.",
    )
    hand_over: bool = Field(
        default=False,
        description="Agents have a tool to hand over to another agent of the room, or to a person.",
    )
    undelivered: Undelivered = Field(
        default="note",
        description="note: what did not reach a channel is said where it was posted, with a button "
        "to try again; whisper: to its author alone, on Slack; reaction: it is marked, and the "
        "command `why` says the reason; off: `uacs-bridge dead-letters` lists it.",
    )
    history: History = Field(
        default="from_joining",
        description="from_joining: a channel or an agent that joins later knows what is said from "
        "then on; shared: agents read what was said before, and replies quote it.",
    )
    moderation: Moderation = Field(
        default="off",
        description="What a person's deletion or pin of a copy does: off, mirror or room.",
    )
    bots_per_minute: int | None = Field(
        default=120,
        ge=1,
        description="Posts of bots in a minute, with no person between, after which the room is "
        "paused; null: no limit.",
    )
    greet: Annotated[bool, RenamedFrom("greets")] = Field(
        default=True,
        description="Whether the bridge tells a channel that joins later what it is bridged to.",
    )
    private: tuple[str, ...] = Field(
        default=("!private",),
        description="Beginnings of messages that are neither carried nor kept.",
    )
    show_tools: ToolsShown = Field(
        default="names",
        description="What is seen of the tools that agents call: off: nothing; names: which ones; "
        "full: what they were given and said, too.",
    )
    feedback: Switch = Field(
        default="off",
        description="Whether people are asked for a thumb up or down on agents' answers: off, on.",
    )
    announce: Annotated[frozenset[Tells], RenamedFrom("tells")] = Field(
        default=ALL_BUT_JOINS,
        description="The events of a channel that the bridge announces in the room's others.",
    )


def room_options(room: RoomSettings) -> RoomOptions:
    """What holds for the room as a whole."""
    return RoomOptions(
        message_filter=_message_filter(room),
        history=room.history,
        moderation=room.moderation,
        bots_per_minute=room.bots_per_minute,
        greets=room.greet,
        private=tuple(one.casefold() for one in room.private if one),
        tells=room.announce,
        show_tools=room.show_tools,
        feedback=room.feedback,
    )


def member_options(room: RoomSettings, member: MemberSettings) -> MemberOptions:
    """How this channel takes part: its own keys, else the room's; replacements of both."""
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
    )


def _message_filter(wanted: RelaySettings) -> MessageFilter:
    message_filter = MessageFilter(
        include=tuple(map(_filter, wanted.include)),
        exclude=tuple(map(_filter, wanted.exclude)),
        bots=wanted.bots is not False,
    )
    return OPEN if message_filter == OPEN else message_filter


def _filter(wanted: FilterSettings) -> Filter:
    pattern = None if wanted.matching is None else pattern_of(wanted.matching)
    return Filter(wanted.authors, frozenset(wanted.kinds), pattern)


def _replacements(wanted: tuple[ReplacementSettings, ...]) -> tuple[Replacement, ...]:
    return tuple(Replacement(pattern_of(one.find), one.put) for one in wanted)
