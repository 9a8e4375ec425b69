"""Rows of the matrix: what happens to a channel, and the kinds of posts that not all know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.sandbox.discord import LocalDiscord
from bridge.sandbox.slack import LocalSlack
from bridge.sandbox.teams import LocalTeams
from tests.e2e.scene import Row, Scene

Local = LocalSlack | LocalDiscord | LocalTeams
_WORDS = "words of the bridge"
_ASKED = "its question and answers: votes are counted where it was asked"


def _platform(scene: Scene) -> Any:
    """What people do there; each platform has its own deeds."""
    return scene.local.platforms[scene.origin]


def _discord(scene: Scene) -> LocalDiscord:
    found = scene.local.platforms["discord"]
    assert isinstance(found, LocalDiscord)
    return found


def _told(words: Callable[[Scene], str]) -> Callable[[Scene, str], bool]:
    """Whether the destination shows these words, once."""
    return lambda scene, there: (
        [words(scene) in one.text for one in scene.there(there)].count(True) == 1
    )


def _someone(scene: Scene) -> str:
    """A person who may leave."""
    return scene.local.person(scene.origin, scene.home[0], 1)


# --- people -----------------------------------------------------------------------------------


async def _leave(scene: Scene) -> None:
    await _platform(scene).leave_as(*scene.home, _someone(scene))


async def _join(scene: Scene) -> None:
    await _platform(scene).leave_as(*scene.home, scene.local.person(scene.origin, scene.home[0], 2))
    await _platform(scene).join_as(*scene.home, scene.local.person(scene.origin, scene.home[0], 2))


# --- the channel ------------------------------------------------------------------------------


async def _topic(scene: Scene) -> None:
    await _platform(scene).set_topic_as(*scene.home, scene.person, scene.words("Lunch & plans"))


async def _rename(scene: Scene) -> None:
    """There and back: the other rows find the channel by its name."""
    where = *scene.home, scene.person
    await _platform(scene).rename_as(*where, f"plans-of-{scene.origin}")
    await _platform(scene).rename_as(*where, scene.room)


async def _name_thread(scene: Scene) -> None:
    root = await scene.say("the root of a named thread")
    await scene.arrived("the root of a named thread")
    await _discord(scene).start_thread_as(*scene.home, scene.person, "Where to eat?", root)


def _thread_is_named(scene: Scene, there: str) -> bool:
    told = [one for one in scene.there(there) if "Where to eat?" in one.text]
    return len(told) == 1 and told[0].thread is not None


# --- polls ------------------------------------------------------------------------------------


async def _poll(scene: Scene) -> None:
    await _discord(scene).poll_as(*scene.home, scene.person, "Which cake?", ["Plum", "Nut"])


async def _poll_result(scene: Scene) -> None:
    answers = ["Soup", "Salad", "Pizza"]
    poll = await _discord(scene).poll_as(*scene.home, scene.person, "Which lunch?", answers)
    await scene.local.until(
        lambda: all(_says("Which lunch?")(scene, there) for there in ("slack", "teams"))
    )
    await _discord(scene).vote_as(*scene.home, scene.person, poll.id, [2])
    await _discord(scene).vote_as(*scene.home, _someone(scene), poll.id, [3])
    await _discord(scene).vote_as(*scene.home, _someone(scene), poll.id, [2])
    await _discord(scene).end_poll_as(*scene.home, scene.person, poll.id)


def _says(*words: str) -> Callable[[Scene, str], bool]:
    """Whether one message shows all these words, in this order, however it is made."""

    def holds(scene: Scene, there: str) -> bool:
        return any(_in_order(str(one.raw) + one.text, words) for one in scene.there(there))

    return holds


def _in_order(text: str, words: tuple[str, ...]) -> bool:
    at = 0
    for word in words:
        at = text.find(word, at) + 1
        if not at:
            return False
    return True


_ONLY_DISCORD_POLLS = dict.fromkeys(("slack", "teams"), "it has no polls of its own")

HAPPENINGS: tuple[Row, ...] = (
    Row(
        "member left",
        _leave,
        _told(lambda scene: f" left ({scene.origin.title()})"),
        lacks={"discord": "who leaves is told to apps with a privileged intent alone"},
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
        rooms={"slack": "random", "teams": "general"},
    ),
    Row(
        "member joined",
        _join,
        _told(lambda scene: f" joined ({scene.origin.title()})"),
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
        rooms={"slack": "random", "discord": "general", "teams": "general"},
    ),
    Row(
        "topic",
        _topic,
        _told(lambda scene: scene.words("Lunch & plans")),
        lacks={"teams": "its channels have no topic"},
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
    ),
    Row(
        "rename",
        _rename,
        _told(lambda scene: f"#plans-of-{scene.origin}"),
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
        rooms={"slack": "random"},
    ),
    Row(
        "thread with a name",
        _name_thread,
        _thread_is_named,
        lacks={
            "slack": "its threads have no names",
            "teams": "apps are not told what a post is called",
        },
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
    ),
    Row(
        "poll",
        _poll,
        _says("Which cake?", "Plum", "Nut"),
        lacks=_ONLY_DISCORD_POLLS,
        shown_as=dict.fromkeys(
            ("slack", "discord", "teams"),
            "its question and answers: votes are counted where it was asked",
        ),
    ),
    Row(
        "result of a poll",
        _poll_result,
        _says("Soup: 0", "Salad: 2", "Pizza: 0"),
        lacks=_ONLY_DISCORD_POLLS,
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
    ),
)
