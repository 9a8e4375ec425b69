"""Rows of the matrix: reactions, pins, and that somebody writes."""

from __future__ import annotations

from collections.abc import Callable

from connectors.discord.sandbox import LocalDiscord
from tests.e2e.scene import PLATFORMS, Row, Scene, away

_THUMB = "👍"
_NO_PINS = "the Bot Framework does not report pins"
_NOTED = "a line below the message names the person who pinned it"
_PINNING = ("slack", "discord")  # the others say so in a line
_SILENT = "apps do not receive it"


async def _marked(scene: Scene, words: str) -> str:
    """The message at the origin: a copy, since there Teams tells of reactions alone."""
    speaker = "slack" if scene.origin == "teams" else "teams"
    where = away(scene.local, speaker, scene.room)
    person = scene.local.person(speaker, where[0])
    await scene.local.platforms[speaker].post_as(*where, person, scene.words(words))
    await scene.arrived(words)
    await scene.local.until(
        lambda: any(
            scene.words(words) in message.text
            for message in scene.local.platforms[scene.origin].messages(*scene.home)
        )
    )
    at_home = scene.local.platforms[scene.origin].messages(*scene.home)
    return next(message.id for message in at_home if scene.words(words) in message.text)


def _everywhere(scene: Scene, holds: Callable[[Scene, str], bool]) -> Callable[[], bool]:
    return lambda: all(holds(scene, there) for there in PLATFORMS)


async def _react(scene: Scene) -> None:
    message = await _marked(scene, "something to like")
    platform = scene.local.platforms[scene.origin]
    await platform.react_as(*scene.home, scene.person, message, _THUMB)


async def _unreact(scene: Scene) -> None:
    message = await _marked(scene, "liked for a moment")
    platform = scene.local.platforms[scene.origin]
    await platform.react_as(*scene.home, scene.person, message, _THUMB)
    await scene.local.until(_everywhere(scene, _has(_THUMB, "liked for a moment")))
    await platform.unreact_as(*scene.home, scene.person, message, _THUMB)


def _has(emoji: str, words: str) -> Callable[[Scene, str], bool]:
    return lambda scene, there: emoji in scene.messages_with(there, words)[0].reactions


def _has_none(words: str) -> Callable[[Scene, str], bool]:
    return lambda scene, there: not scene.messages_with(there, words)[0].reactions


async def _clear(scene: Scene) -> None:
    message = await _marked(scene, "liked until a moderator comes")
    discord = scene.local.platforms["discord"]
    assert isinstance(discord, LocalDiscord)
    await discord.react_as(*scene.home, scene.person, message, _THUMB)
    await scene.local.until(_everywhere(scene, _has(_THUMB, "liked until a moderator comes")))
    await discord.clear_reactions_as(*scene.home, scene.person, message)


async def _pin(scene: Scene) -> None:
    message = await scene.say("worth keeping")
    await scene.arrived("worth keeping")
    platform = scene.local.platforms[scene.origin]
    await platform.pin_as(*scene.home, scene.person, message)


async def _unpin(scene: Scene) -> None:
    message = await scene.say("kept for a moment")
    await scene.arrived("kept for a moment")
    platform = scene.local.platforms[scene.origin]
    await platform.pin_as(*scene.home, scene.person, message)
    await scene.local.until(_everywhere(scene, _is_pinned("kept for a moment")))
    await platform.pin_as(*scene.home, scene.person, message, pinned=False)


def _is_pinned(words: str) -> Callable[[Scene, str], bool]:
    def holds(scene: Scene, there: str) -> bool:
        if there not in _PINNING:
            return len(_pin_notes(scene, there, words)) == 1
        return scene.messages_with(there, words)[0].pinned

    return holds


def _is_not_pinned(scene: Scene, there: str) -> bool:
    if there not in _PINNING:
        return not _pin_notes(scene, there, "kept for a moment")
    return not scene.messages_with(there, "kept for a moment")[0].pinned


def _pin_notes(scene: Scene, there: str, words: str) -> list[str]:
    """Notices quote what they are about."""
    return [
        one.text
        for one in scene.there(there)
        if "pinned this message" in one.text and scene.words(words) in one.text
    ]


async def _type(scene: Scene) -> None:
    await scene.local.platforms[scene.origin].typing_as(*scene.home, scene.person)


def _is_typed(scene: Scene, there: str) -> bool:
    discord = scene.local.platforms[there]
    assert isinstance(discord, LocalDiscord)
    _, channel = away(scene.local, there, scene.room)
    return any(place == channel for place, _ in discord.typed)


MARKS: tuple[Row, ...] = (
    Row("reaction", _react, _has(_THUMB, "something to like")),
    Row("reaction removed", _unreact, _has_none("liked for a moment")),
    Row(
        "reactions cleared", _clear, _has_none("liked until a moderator comes"),
        lacks=dict.fromkeys(("slack", "teams"), "people can remove only their own reactions"),
    ),
    Row(
        "pin", _pin, _is_pinned("worth keeping"),
        lacks={"teams": _NO_PINS}, shown_as={"teams": _NOTED},
    ),
    Row(
        "unpin", _unpin, _is_not_pinned,
        lacks={"teams": _NO_PINS}, shown_as={"teams": "the line disappears"},
    ),
    Row(
        "typing", _type, _is_typed,
        lacks={"slack": _SILENT, "teams": "Teams reports it in chats, not in channels"},
        cannot={"slack": "bots cannot show it", "teams": "Teams shows it only in chats"},
        shown_as={"discord": "without a name: the bot is typing"},
    ),
)  # fmt: skip
