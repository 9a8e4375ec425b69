"""Rows of the matrix: what happens to a channel, and the kinds of posts that not all know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aiohttp

from bridge.sandbox.user_actions import FileUpload
from connectors.discord.sandbox import LocalDiscord
from tests.e2e.scene import LABELS, PLATFORMS, Row, Scene

SOUND = b"OggS\x00\x02" + bytes(60)  # enough to be known as sound
_WORDS = "a message of the bridge"
_POLL_AS_TEXT = "its question and answers; votes are counted on its own platform"


def _platform(scene: Scene) -> Any:
    """The local platform with all of its own user actions."""
    return scene.local.platforms[scene.origin]


def _discord(scene: Scene) -> LocalDiscord:
    platform = scene.local.platforms["discord"]
    assert isinstance(platform, LocalDiscord)
    return platform


def _is_stated(words: Callable[[Scene], str]) -> Callable[[Scene, str], bool]:
    """Whether the destination shows these words, once."""
    return lambda scene, there: (
        [words(scene) in message.text for message in scene.there(there)].count(True) == 1
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
    messages = [message for message in scene.there(there) if "Where to eat?" in message.text]
    return len(messages) == 1 and messages[0].thread is not None


async def _delete_thread(scene: Scene) -> None:
    root = await scene.say("the root that stays")
    await scene.arrived("the root that stays")
    await scene.say("soon gone with its thread", root)
    await scene.arrived("soon gone with its thread")
    owner = scene.local.person("discord", scene.home[0])
    await _discord(scene).delete_thread_as(*scene.home, owner, root)


def _thread_is_gone(scene: Scene, there: str) -> bool:
    gone = not scene.messages_with(there, "soon gone with its thread")
    return gone and len(scene.messages_with(there, "the root that stays")) == 1


# --- polls ------------------------------------------------------------------------------------


async def _poll(scene: Scene) -> None:
    await _discord(scene).poll_as(*scene.home, scene.person, "Which cake?", ["Plum", "Nut"])


async def _poll_result(scene: Scene) -> None:
    answers = ["Soup", "Salad", "Pizza"]
    poll = await _discord(scene).poll_as(*scene.home, scene.person, "Which lunch?", answers)
    await scene.local.until(
        lambda: all(_contains("Which lunch?")(scene, there) for there in ("slack", "teams"))
    )
    await _discord(scene).vote_as(*scene.home, scene.person, poll.id, [2])
    await _discord(scene).vote_as(*scene.home, _someone(scene), poll.id, [3])
    await _discord(scene).vote_as(*scene.home, _someone(scene), poll.id, [2])
    await _discord(scene).end_poll_as(*scene.home, scene.person, poll.id)


def _contains(*words: str) -> Callable[[Scene, str], bool]:
    """Whether one message shows all these words, in this order, however it is made."""

    def holds(scene: Scene, there: str) -> bool:
        return any(
            _in_order(str(message.raw) + message.text, words) for message in scene.there(there)
        )

    return holds


def _in_order(text: str, words: tuple[str, ...]) -> bool:
    at = 0
    for word in words:
        at = text.find(word, at) + 1
        if not at:
            return False
    return True


# --- kinds of posts ---------------------------------------------------------------------------


async def _me(scene: Scene) -> None:
    await _platform(scene).me_as(*scene.home, scene.person, scene.words("waves"))


async def _broadcast(scene: Scene) -> None:
    root = await scene.say("the root of a broadcast")
    await scene.arrived("the root of a broadcast")
    words = scene.words("said to thread and channel")
    await _platform(scene).broadcast_as(*scene.home, scene.person, words, root)


def _is_in_the_channel(scene: Scene, there: str) -> bool:
    messages = scene.messages_with(there, "said to thread and channel")
    if there == "slack":
        in_both = [message.raw.get("subtype") == "thread_broadcast" for message in messages]
        return in_both == [True] and messages[0].thread is not None
    return [message.thread for message in messages] == [None]


async def _schedule(scene: Scene) -> None:
    """It has its place in the order when it is posted, not when it was written."""
    await _platform(scene).schedule_as(*scene.home, scene.person, scene.words("planned"), 0.3)
    await scene.say("said while another waits")


def _planned_comes_last(scene: Scene, there: str) -> bool:
    words = scene.words("planned"), scene.words("said while another waits")
    texts = [
        message.text
        for message in scene.there(there)
        if any(word in message.text for word in words)
    ]
    return len(texts) == 2 and words[0] in texts[1]


async def _reply(scene: Scene) -> None:
    root = await scene.say("what a reply answers")
    await scene.arrived("what a reply answers")
    words = scene.words("the reply itself")
    await _discord(scene).reply_as(*scene.home, scene.person, root, words)


def _says_what_it_answers(scene: Scene, there: str) -> bool:
    """By a quote of it, or its author's name and a link."""
    messages = scene.messages_with(there, "the reply itself")
    author = next(
        person.name for person in _platform(scene).world().people if person.id == scene.person
    )
    return [author in f"{message.text} {message.raw}" for message in messages] == [True]


async def _sticker(scene: Scene) -> None:
    await _discord(scene).sticker_as(*scene.home, scene.person, "Wumpus waves")


async def _forward(scene: Scene) -> None:
    message = await scene.say("words that are passed on")
    await scene.arrived("words that are passed on")
    workspace, channel = scene.home
    await _platform(scene).forward_as(workspace, channel, scene.person, message, channel)


def _forward_is_shown(scene: Scene, there: str) -> bool:
    words = scene.words("words that are passed on")
    return [words in str(message.raw) + message.text for message in scene.there(there)].count(
        True
    ) == 2


async def _voice(scene: Scene) -> None:
    file = FileUpload(name=f"voice-of-{scene.origin}.ogg", data=SOUND, content_type="audio/ogg")
    await _platform(scene).voice_as(*scene.home, scene.person, file, 1.5)


def _recording_is_shown(scene: Scene, there: str) -> bool:
    """A file of sound of the platform's own; in Teams its name, and a link where there is one."""
    name = f"voice-of-{scene.origin}"
    if there == "teams":
        return _contains(name)(scene, there)
    key, kind = ("files", "mimetype") if there == "slack" else ("attachments", "content_type")
    files = [file for message in scene.there(there) for file in message.raw.get(key) or ()]
    return [file[kind] for file in files if name in str(file)] == ["audio/ogg"]


# --- commands ---------------------------------------------------------------------------------


async def _command(scene: Scene) -> None:
    place = _platform(scene)
    if scene.origin == "discord":
        await scene.local.until(lambda: any(app.commands for app in place.state.apps.values()))
    outcome = await place.command_as(*scene.home, scene.person, "/bridge", "status")
    assert outcome.answered
    await scene.local.until(lambda: "bridged to" in _whispered(scene))
    await scene.say("said after a command")


def _whispered(scene: Scene) -> str:
    whispers = _platform(scene).whispers(scene.home[0], scene.person)
    return "\n".join(whisper.text for whisper in whispers)


async def _mention_command(scene: Scene) -> None:
    platform = _platform(scene)
    app = platform.world().apps[0]
    bot = {"slack": "bot_user", "discord": "bot_id"}.get(scene.origin)
    mention = f"<@{app[bot]}>" if bot else "@Bridge"
    await platform.post_as(*scene.home, scene.person, f"{mention} status")
    at_home = lambda: [message.text for message in platform.messages(*scene.home)]  # noqa: E731
    await scene.local.until(lambda: any("bridged to" in text for text in at_home()))
    await scene.say("said after a mention")


def _nothing_but(words: str) -> Callable[[Scene, str], bool]:
    """Neither the command nor its answer stands there, though what was said after it does."""
    return lambda scene, there: (
        bool(scene.messages_with(there, words))
        and not any("bridged to" in message.text for message in scene.there(there))
    )


async def _bot_post(scene: Scene) -> None:
    """The app "plain" of the platform speaks, by a bare request."""
    apps = scene.local.platforms[scene.origin].world().apps
    app = next(app for app in apps if app["name"] == "plain")
    words, channel = scene.words("posted by a machine"), scene.home[1]
    if scene.origin == "slack":
        url, token = f"{app['api_url']}chat.postMessage", f"Bearer {app['bot_token']}"
        body = {"channel": channel, "text": words}
    else:
        base = f"{scene.local.context.base_url}/discord/api/v10"
        url, token = f"{base}/channels/{channel}/messages", f"Bot {app['token']}"
        body = {"content": words}
    async with (
        aiohttp.ClientSession(headers={"Authorization": token}) as http,
        http.post(url, json=body) as answer,
    ):
        answer.raise_for_status()


def _only(platform: str, why: str) -> dict[str, str]:
    """Why the others never tell of it."""
    return {name: why for name in PLATFORMS if name != platform}


async def _nobody_does(scene: Scene) -> None:
    raise AssertionError(f"{scene.origin} tells nothing of it")


def _never(scene: Scene, there: str) -> bool:
    raise AssertionError(f"{there} is never shown it, from {scene.origin}")


_FOR_THE_ASKER = "nothing: only the person who asked sees the answer"
_OTHERS_WHISPERS = "apps receive only messages that are meant for them"
_ONLY_DISCORD_POLLS = _only("discord", "the platform has no polls")

HAPPENINGS: tuple[Row, ...] = (
    Row(
        "member left",
        _leave,
        _is_stated(lambda scene: f" left ({LABELS[scene.origin]})"),
        lacks={"discord": "only apps with a privileged intent learn who leaves"},
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
        rooms={"slack": "random", "teams": "general"},
    ),
    Row(
        "member joined",
        _join,
        _is_stated(lambda scene: f" joined ({LABELS[scene.origin]})"),
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
        rooms={"slack": "random", "discord": "general", "teams": "general"},
    ),
    Row(
        "topic",
        _topic,
        _is_stated(lambda scene: scene.words("Lunch & plans")),
        lacks={"teams": "channels have no topic"},
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
    ),
    Row(
        "rename",
        _rename,
        _is_stated(lambda scene: f"#plans-of-{scene.origin}"),
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
        rooms={"slack": "random"},
    ),
    Row(
        "thread with a name",
        _name_thread,
        _thread_is_named,
        lacks={
            "slack": "threads have no names",
            "teams": "apps do not receive the title of a post",
        },
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
    ),
    Row(
        "thread deleted",
        _delete_thread,
        _thread_is_gone,
        lacks=dict.fromkeys(("slack", "teams"), "messages are deleted one by one"),
    ),
    Row(
        "poll",
        _poll,
        _contains("Which cake?", "Plum", "Nut"),
        lacks=_ONLY_DISCORD_POLLS,
        shown_as=dict.fromkeys(
            ("slack", "discord", "teams"),
            "its question and answers; votes are counted on its own platform",
        ),
    ),
    Row(
        "poll result",
        _poll_result,
        _contains("Soup: 0", "Salad: 2", "Pizza: 0"),
        lacks=_ONLY_DISCORD_POLLS,
        shown_as={"slack": _WORDS, "discord": _WORDS, "teams": _WORDS},
    ),
    Row(
        "/me",
        _me,
        lambda scene, there: len(scene.messages_with(there, "waves")) == 1,
        lacks=_only("slack", "people write it as ordinary text"),
        shown_as=dict.fromkeys(PLATFORMS, "emphasised"),
    ),
    Row(
        "also sent to the channel",
        _broadcast,
        _is_in_the_channel,
        lacks=_only("slack", "a reply is either in its thread or in the channel"),
        shown_as={
            "discord": "in the channel, with a line that names the root",
            "teams": "in the channel, with a quote of the root",
        },
    ),
    Row(
        "reply",
        _reply,
        _says_what_it_answers,
        lacks={
            "slack": "a reply is a thread message: see thread",
            "teams": "a reply in a channel is a thread message: see thread",
        },
        shown_as={
            "slack": "a quote of the original message",
            "discord": "a line with a link to the original message",
            "teams": "a quote of the original message",
        },
    ),
    Row(
        "command (`/bridge`)",
        _command,
        _nothing_but("said after a command"),
        lacks={"teams": "Teams has no commands; people mention the bot"},
        shown_as=dict.fromkeys(PLATFORMS, _FOR_THE_ASKER),
    ),
    Row(
        "command by a mention",
        _mention_command,
        _nothing_but("said after a mention"),
        shown_as=dict.fromkeys(
            PLATFORMS, "nothing: the answer stays in the channel of the command"
        ),
    ),
    Row(
        "message visible to one person",
        _nobody_does,
        _never,
        lacks=dict.fromkeys(PLATFORMS, _OTHERS_WHISPERS),
        cannot=dict.fromkeys(PLATFORMS, "it is not for other people"),
    ),
    Row(
        "scheduled post",
        _schedule,
        _planned_comes_last,
        lacks={
            "discord": "people cannot schedule posts",
            "teams": "apps receive it as an ordinary post when it is posted",
        },
    ),
    Row(
        "sticker",
        _sticker,
        _contains("Wumpus waves"),
        lacks={"slack": "it has none", "teams": "stickers are ordinary pictures"},
        shown_as={"slack": "a picture", "discord": "a picture", "teams": "a picture"},
    ),
    Row(
        "forward",
        _forward,
        _forward_is_shown,
        lacks={"teams": "apps receive its text as an ordinary message"},
        shown_as=dict.fromkeys(PLATFORMS, "the forwarded message in a separate block"),
    ),
    Row(
        "voice message",
        _voice,
        _recording_is_shown,
        lacks={"teams": "voice messages are files, which apps do not receive"},
        shown_as={
            "slack": "an audio file",
            "discord": "an audio file",
            "teams": "a link, or the name if there is no link",
        },
    ),
    Row(
        "post of a bot or an app",
        _bot_post,
        lambda scene, there: len(scene.messages_with(there, "posted by a machine")) == 1,
        lacks={"teams": "bots do not receive other bots' messages"},
    ),
)
