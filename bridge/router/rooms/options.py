"""What a room and each of its channels let pass, and how it is shown there. Pure values.

A message passes into a room through its channel's filter and the room's, and out of it through the
filter of each channel that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.tool_calls import ToolsShown
from bridge.content.messages.parts import message_text
from bridge.content.text.globs import matches
from bridge.content.text.patterns import Pattern, Replacement
from bridge.model import (
    ActionPressed,
    AnswerStopped,
    ContentEvent,
    Event,
    FeedbackGiven,
    FilesAwaited,
    MessageDeleted,
    MessageEdited,
    MessagePinned,
    MessagePosted,
    MessagesBulkDeleted,
    MessageUnpinned,
    Person,
    PollEnded,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    ThreadDeleted,
    TypingStarted,
)
from bridge.uacs import AudioPart, FilePart, ImagePart, Message, StructuredDataPart, VideoPart

Kind = Literal[
    "posts", "bots", "files", "cards", "threads", "edits", "deletions", "reactions", "pins",
    "polls", "presses", "typing", "system",
]  # fmt: skip
Files = Literal["keep", "link", "off"]
Threads = Literal["keep", "flat"]
Reactions = Literal["native", "note", "off"]
Late = Literal["mark", "refuse"]
Moderation = Literal["off", "mirror", "room"]
History = Literal["shared", "from_joining"]
ChannelEventKind = Literal["topics", "names", "polls", "threads", "joins"]
Switch = Literal["off", "on"]
ALL_BUT_JOINS: frozenset[ChannelEventKind] = frozenset({"topics", "names", "polls", "threads"})

_MEDIA = (ImagePart, VideoPart, AudioPart, FilePart)
_KINDS: dict[type, Kind] = {
    MessagePosted: "posts",
    MessageEdited: "edits",
    FilesAwaited: "posts",
    MessageDeleted: "deletions",
    MessagesBulkDeleted: "deletions",
    ThreadDeleted: "deletions",
    ReactionAdded: "reactions",
    ReactionRemoved: "reactions",
    ReactionsCleared: "reactions",
    MessagePinned: "pins",
    MessageUnpinned: "pins",
    PollEnded: "polls",
    ActionPressed: "presses",
    FeedbackGiven: "presses",
    AnswerStopped: "presses",
    TypingStarted: "typing",
}


@dataclass(frozen=True)
class Filter:
    """Matches what fits all of its conditions that are set.

    - `authors`: globs of actor ids or of names.
    - `kinds`: one of them is enough.
    - `pattern`: is found in the text.
    """

    authors: tuple[str, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    pattern: Pattern | None = None


@dataclass(frozen=True)
class MessageFilter:
    """Decides what passes.

    - `include`: where there are any, only what one of these filters matches passes.
    - `exclude`: what one of these filters matches does not pass.
    - `bots`: whether messages of bots and apps pass at all.
    """

    include: tuple[Filter, ...] = ()
    exclude: tuple[Filter, ...] = ()
    bots: bool = True

    @property
    def asks_author(self) -> bool:
        """Whether a condition depends on the author."""
        return any(message_filter.authors for message_filter in (*self.include, *self.exclude))

    def refuses(self, filtered: FilteredMessage) -> str:
        """Return why the message does not pass; empty when it does. A deletion has no text, and
        often no known author: where no condition names deletions, what may come in may also be
        deleted."""
        if not self.bots and "bots" in filtered.kinds:
            return "bots are not admitted"
        if any(_means(message_filter, filtered) for message_filter in self.exclude):
            return "it is excluded"
        if self.include and not any(
            _lets_in(message_filter, filtered) for message_filter in self.include
        ):
            return "it is not included"
        return ""


OPEN = MessageFilter()


@dataclass(frozen=True)
class Translation:
    """The language that a channel reads (a BCP 47 tag), and the agent that translates."""

    language: str
    agent: str


@dataclass(frozen=True)
class MemberOptions:
    """How a channel takes part in its room.

    - `message_filter`: what passes between the channel and the room, in either direction.
    - `names`: the form of authors' names there, with {name}, {platform} and {account} in it; None:
      the name alone, with a suffix where two look alike.
    - `everyone`: whether mentions of everybody notify people there, too.
    - `replace`, `rename`: replacements in the texts and in the authors' names that it is shown.
    - `files`: shown as files, as links, or not at all; `threads`: `flat` shows the messages of
      threads in the channel itself, as replies.
    - `reactions`: how reactions from other channels are shown: our bot reacts, a note below the
      message names the people, or not at all.
    - `max_delay`: seconds after which a post is late; `late`: whether it is shown with its time
      then, or becomes a dead letter.
    - `translation`: the language that it is shown everything in; None: that of each author.
    """

    message_filter: MessageFilter = OPEN
    names: str | None = None
    everyone: bool = False
    replace: tuple[Replacement, ...] = ()
    rename: tuple[Replacement, ...] = ()
    files: Files = "keep"
    threads: Threads = "keep"
    reactions: Reactions = "native"
    max_delay: float | None = None
    late: Late = "mark"
    translation: Translation | None = None

    @property
    def changes_nothing(self) -> bool:
        """Whether nothing about a post is changed for this channel."""
        changed = self.replace or self.rename or self.files != "keep" or self.translation
        return not changed and self.max_delay is None

    def lateness_error(self, seconds: float) -> str:
        """Return why a post of this age is given up; empty where it is shown, if only with its
        time."""
        if self.late != "refuse" or self.max_delay is None or seconds <= self.max_delay:
            return ""
        return (
            f"it is {seconds:.0f} s late, and the channel wants none after {self.max_delay:g} s "
            "(max_delay); replay it if it is still wanted"
        )


@dataclass(frozen=True)
class RoomOptions:
    """What holds for the room as a whole.

    - `message_filter`: what passes into the room, from any channel.
    - `history`: whether channels and agents that joined later see earlier messages: agents read
      them, replies quote them. No message is posted again.
    - `moderation`: what happens when a person deletes or pins a copy of ours.
    - `bots_per_minute`: posts of bots after which the room is paused, because they may be a loop;
      None: no limit.
    - `greet`: whether a channel that joins gets a notice of what it is bridged to.
    - `private`: beginnings of messages that are not carried and not kept.
    - `announce`: which events of its channels are announced in the others.
    - `show_tools`: what people see of the tools that agents call: nothing, their names, or all.
    - `metadata`: what readers of the room's Conversation are shown of it.
    - `backfill`: how many seconds of their past are read into the archive when channels join; None:
      nothing; infinite: all.
    - `feedback`: whether people are asked what they think of agents' answers.
    """

    message_filter: MessageFilter = OPEN
    history: History = "from_joining"
    moderation: Moderation = "off"
    bots_per_minute: int | None = None
    greet: bool = True
    private: tuple[str, ...] = ()
    announce: frozenset[ChannelEventKind] = ALL_BUT_JOINS
    show_tools: ToolsShown = "names"
    feedback: Switch = "off"
    backfill: float | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


class FilteredMessage:
    """What a filter looks at. The text is made only when a pattern asks for it."""

    def __init__(
        self, kinds: frozenset[Kind], author: Person | None, message: Message | None
    ) -> None:
        self.kinds = kinds
        self.author = author
        self._message = message

    @cached_property
    def text(self) -> str:
        return "" if self._message is None else message_text(self._message)[0]


def filtered_event(event: Event, author: Person | None) -> FilteredMessage:
    """Return what a filter looks at of an event; `author` is who did it, as far as that is
    known."""
    kinds: set[Kind] = {_KINDS.get(type(event), "system")}
    message = event.message if isinstance(event, ContentEvent) else None
    kinds |= kinds_of(message, author, threaded=event.place.thread is not None)
    return FilteredMessage(frozenset(kinds), author, message)


def filtered_message(message: Message, author: Person, *, threaded: bool) -> FilteredMessage:
    """Return what a filter looks at of a message on its way out of the room."""
    kinds = kinds_of(message, author, threaded=threaded)
    kinds.add("system" if message.actor.role == "system" else "posts")
    return FilteredMessage(frozenset(kinds), author, message)


def kinds_of(message: Message | None, author: Person | None, *, threaded: bool) -> set[Kind]:
    """Return the kinds of a message beside what happened to it."""
    kinds: set[Kind] = set()
    is_ours = message is not None and message.actor.role == "system"
    if author is not None and author.bot and not is_ours:
        kinds.add("bots")
    if threaded:
        kinds.add("threads")
    parts = () if message is None else message.content
    if any(isinstance(part, _MEDIA) for part in parts):
        kinds.add("files")
    if any(isinstance(part, StructuredDataPart) for part in parts):
        kinds.add("cards")
    return kinds


def _lets_in(message_filter: Filter, filtered: FilteredMessage) -> bool:
    return _means(message_filter, filtered) or (
        "deletions" in filtered.kinds and not message_filter.kinds
    )


def _means(message_filter: Filter, filtered: FilteredMessage) -> bool:
    if message_filter.kinds and not message_filter.kinds & filtered.kinds:
        return False
    if message_filter.authors and not _is_author(message_filter.authors, filtered.author):
        return False
    return message_filter.pattern is None or message_filter.pattern.is_in(filtered.text)


def _is_author(globs: Sequence[str], author: Person | None) -> bool:
    if author is None:
        return False
    return any(matches(glob, author.id) or matches(glob, author.name) for glob in globs)


UNCHANGED = MemberOptions()
USUAL = RoomOptions()
