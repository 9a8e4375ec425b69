"""IRC's column of the table of events (`tests/e2e/matrix.py`)."""

from __future__ import annotations

from bridge.sandbox.feed import LocalMessage
from connectors.irc.bylines import GAP
from connectors.irc.sandbox import LocalIrc
from tests.e2e.scene import Column, Scene

_WORDS = "a message of the bridge"
_LINK = "a link, or the name if there is no link"
_NO_THREADS = "IRC has no threads"
_NO_EDITS = "nobody can change a line of IRC"
_NO_FILES = "IRC carries no files"
_NO_POLLS = "the platform has no polls"
_EDITED = "another line, which begins with `(edited)`"
_REDACTED = (
    "a redaction, if the server has `draft/message-redaction`; else the line stays, as do its "
    "`(edited)` lines"
)
_QUOTED = "in the channel, with a tag and a quote of the root"


def _server(scene: Scene) -> LocalIrc:
    local = scene.local.platforms["irc"]
    assert isinstance(local, LocalIrc)
    return local


def _text(shown: LocalMessage) -> str:
    """The text as people read it: nobody sees the gap in a name."""
    return shown.text.replace(GAP, "")


async def _reply(scene: Scene) -> None:
    root = await scene.say("what a reply answers")
    await scene.arrived("what a reply answers")
    await scene.say("the reply itself", root)


async def _bot_post(scene: Scene) -> None:
    """Another bot speaks by a NOTICE, as bots of IRC do."""
    network, channel = scene.home
    words = scene.words("posted by a machine")
    _server(scene).server(network).say("newsbot", channel, words, notice=True)


def _is_corrected(words: str) -> bool:
    return words.startswith("(edited) ")


def _edited(scene: Scene, there: str) -> bool:
    corrections = scene.messages_with(there, "after the edit")
    return [_is_corrected(_text(message).partition("> ")[2]) for message in corrections] == [True]


def _shortened(scene: Scene, there: str) -> bool:
    corrections = scene.messages_with(there, "piece 0, alone")
    return [_is_corrected(_text(message).partition("> ")[2]) for message in corrections] == [True]


def _answers_the_root(scene: Scene, there: str) -> bool:
    (root,) = scene.messages_with(there, "the root of a thread")[:1]
    answers = scene.messages_with(there, "below the root")
    return [message.raw["tags"].get("+reply") for message in answers] == [root.id]


def _names_the_author(scene: Scene, there: str) -> bool:
    people = scene.local.platforms[scene.origin].world().people
    author = next(person.name for person in people if person.id == scene.person)
    replies = scene.messages_with(there, "the reply itself")
    return [f"↪ {author} “" in _text(message) for message in replies] == [True]


def _thread_is_named(scene: Scene, there: str) -> bool:
    return sum("Where to eat?" in message.text for message in scene.there(there)) == 1


def _names_the_picture(scene: Scene, there: str) -> bool:
    """By its file name, or by its type where it has none."""
    pictures = scene.messages_with(there, "see the picture")
    return ["red.gif" in message.text or "image/gif" in message.text for message in pictures] == [
        True
    ]


def _names_the_recording(scene: Scene, there: str) -> bool:
    return any(f"voice-of-{scene.origin}" in message.text for message in scene.there(there))


COLUMN = Column(
    lacks={
        "edit": _NO_EDITS,
        "thread": f"{_NO_THREADS}: see reply",
        "edit to a shorter text": _NO_EDITS,
        "bulk delete": "messages are deleted one by one",
        "file": _NO_FILES,
        "picture": _NO_FILES,
        "reactions cleared": "people can remove only their own reactions",
        "pin": "IRC has no pins",
        "unpin": "IRC has no pins",
        "rename": "a channel keeps its name",
        "thread with a name": _NO_THREADS,
        "thread deleted": _NO_THREADS,
        "poll": _NO_POLLS,
        "poll result": _NO_POLLS,
        "also sent to the channel": _NO_THREADS,
        "command (`/bridge`)": "bots have no commands on IRC; people mention the bot",
        "message visible to one person": "apps receive only messages that are meant for them",
        "scheduled post": "people cannot schedule posts",
        "sticker": "it has none",
        "forward": "people copy the words",
        "voice message": _NO_FILES,
    },
    cannot={
        "typing": "the bridge does not show it",
        "message visible to one person": "it is not for other people",
    },
    shown_as={
        "edit": _EDITED,
        "delete": _REDACTED,
        "thread": _QUOTED,
        "edit to a shorter text": _EDITED,
        "bulk delete": "redactions, if the server has `draft/message-redaction`",
        "file": _LINK,
        "picture": _LINK,
        "reaction": "natively, if the server relays client tags; else a line",
        "pin": "a line below the message names the person who pinned it",
        "unpin": "the line disappears, if the server has `draft/message-redaction`",
        "member left": _WORDS,
        "member joined": _WORDS,
        "topic": _WORDS,
        "rename": _WORDS,
        "thread with a name": _WORDS,
        "poll": "its question and answers; votes are counted on its own platform",
        "poll result": _WORDS,
        "also sent to the channel": _QUOTED,
        "reply": "a tag, and a quote of the original message",
        "command (`/bridge`)": "nothing: only the person who asked sees the answer",
        "command by a mention": "nothing: the answer stays in the channel of the command",
        "sticker": "its name",
        "forward": "the forwarded message in a separate block",
        "voice message": _LINK,
    },
    does={"reply": _reply, "post of a bot or an app": _bot_post},
    checks={
        "edit": _edited,
        "thread": _answers_the_root,
        "edit to a shorter text": _shortened,
        "picture": _names_the_picture,
        "thread with a name": _thread_is_named,
        "reply": _names_the_author,
        "voice message": _names_the_recording,
    },
)
