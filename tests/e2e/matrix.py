"""Every event, from every platform to every platform: how it is made, what must come of it, or why
it cannot be. `python -m tests.e2e.matrix` writes docs/features.md from this table."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from bridge.sandbox.user_actions import FileUpload, TakesUserActions
from tests.e2e.matrix_happenings import HAPPENINGS
from tests.e2e.matrix_reactions import MARKS
from tests.e2e.scene import LABELS, PLATFORMS, Row, Scene, columns

_GIF = base64.b64decode("R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==")
_PIECES = {"slack": 300, "discord": 70, "teams": 300}  # as long as a person may write there
PAGE = Path(__file__).parents[2] / "docs" / "features.md"


async def _post(scene: Scene) -> None:
    await scene.say("a post of the matrix")


async def _edit(scene: Scene) -> None:
    native = await scene.say("before the edit")
    await scene.arrived("before the edit")
    platform = scene.local.platforms[scene.origin]
    await platform.edit_as(*scene.home, scene.person, native, scene.words("after the edit"))


def _edited(scene: Scene, platform: str) -> bool:
    return bool(scene.messages_with(platform, "after the edit")) and not scene.messages_with(
        platform, "before the edit"
    )


async def _delete(scene: Scene) -> None:
    native = await scene.say("soon deleted")
    await scene.arrived("soon deleted")
    await scene.local.platforms[scene.origin].delete_as(*scene.home, scene.person, native)


async def _thread(scene: Scene) -> None:
    root = await scene.say("the root of a thread")
    await scene.arrived("the root of a thread")
    await scene.say("below the root", root)


async def _shorten(scene: Scene) -> None:
    long = [scene.words(f"piece {number}") for number in range(_PIECES.get(scene.origin, 70))]
    platform = scene.local.platforms[scene.origin]
    native = (await platform.post_as(*scene.home, scene.person, "\n".join(long))).id
    await scene.arrived(f"piece {len(long) - 1}")
    await platform.edit_as(*scene.home, scene.person, native, scene.words("piece 0, alone"))


def _short(scene: Scene, platform: str) -> bool:
    """The first copy says it, and none is left over."""
    alone = scene.messages_with(platform, "piece 0, alone")
    return (
        len(alone) == 1
        and len(
            [
                message
                for message in scene.there(platform)
                if "piece" in message.text and scene.origin in message.text
            ]
        )
        == 1
    )


async def _file(scene: Scene) -> None:
    uploads = [FileUpload(name="notes.txt", data=scene.words("in the file").encode())]
    platform = scene.local.platforms[scene.origin]
    assert isinstance(platform, TakesUserActions)
    await platform.post_files(*scene.home, scene.person, uploads, scene.words("see the notes"))


def _with_file(scene: Scene, platform: str) -> bool:
    """The words, and the file beside them or in the next message."""
    is_shown = bool(scene.messages_with(platform, "see the notes"))
    return is_shown and any(
        "notes.txt" in f"{message.text} {message.raw}" for message in scene.there(platform)
    )


async def _picture(scene: Scene) -> None:
    uploads = [FileUpload(name="red.gif", data=_GIF)]
    platform = scene.local.platforms[scene.origin]
    assert isinstance(platform, TakesUserActions)
    await platform.post_files(*scene.home, scene.person, uploads, scene.words("see the picture"))


def _with_picture(scene: Scene, platform: str) -> bool:
    """The words, and the picture beside them or in the next message; in Teams its name."""
    messages = scene.messages_with(platform, "see the picture")
    if platform == "teams" or not messages:
        return any("\N{FRAME WITH PICTURE}" in str(message.raw) for message in messages)
    key, kind = ("files", "mimetype") if platform == "slack" else ("attachments", "content_type")
    files = [file for message in scene.there(platform) for file in message.raw.get(key) or ()]
    return any(file[kind] == "image/gif" for file in files)


async def _bulk(scene: Scene) -> None:
    natives = [await scene.say(f"one of many {number}") for number in range(3)]
    await scene.arrived("one of many 2")
    moderator = {
        "Authorization": f"Bot {scene.local.platforms['discord'].world().apps[0]['token']}"
    }
    url = f"{scene.local.context.base_url}/discord/api/v10/channels/{scene.home[1]}/messages"
    async with (
        aiohttp.ClientSession(headers=moderator) as http,
        http.post(f"{url}/bulk-delete", json={"messages": natives}) as answer,
    ):
        assert answer.status == 204, await answer.text()


def _in_thread(scene: Scene, platform: str) -> bool:
    (root,) = scene.messages_with(platform, "the root of a thread")[:1]
    return any(
        message.thread is not None for message in scene.messages_with(platform, "below the root")
    ) and (root.thread is None or root.thread == root.id)


_ROWS: tuple[Row, ...] = (
    Row(
        "post",
        _post,
        lambda scene, there: len(scene.messages_with(there, "a post of the matrix")) == 1,
    ),
    Row("edit", _edit, _edited),
    Row("delete", _delete, lambda scene, there: not scene.messages_with(there, "soon deleted")),
    Row("thread", _thread, _in_thread),
    Row("edit to a shorter text", _shorten, _short),
    Row(
        "bulk delete",
        _bulk,
        lambda scene, there: not scene.messages_with(there, "one of many"),
        lacks=dict.fromkeys(("slack", "teams"), "messages are deleted one by one"),
    ),
    Row(
        "file",
        _file,
        _with_file,
        lacks={"teams": "in channels, apps receive only pictures"},
        shown_as={"teams": "a link, or the name if there is no link"},
    ),
    Row(
        "picture",
        _picture,
        _with_picture,
        shown_as={"teams": "a link, or the name if there is no link"},
    ),
    *MARKS,
    *HAPPENINGS,
)


def _with_columns(row: Row) -> Row:
    for platform, column in columns().items():
        row = column.added_to(row, platform)
    return row


ROWS = tuple(map(_with_columns, _ROWS))


@dataclass(frozen=True)
class Aside:
    """An event that is carried to no other channel: what becomes of it, and the test of that, as
    `file::function`."""

    event: str
    becomes: str
    test: str


# Which events of `bridge.model` the rows are, by the event's `type`.
EVENTS: dict[str, str] = {
    "message_posted": "post", "message_edited": "edit", "message_deleted": "delete",
    "messages_bulk_deleted": "bulk delete", "thread_started": "thread with a name",
    "thread_deleted": "thread deleted",
    "poll_ended": "poll result", "member_joined": "member joined",
    "member_left": "member left", "channel_renamed": "rename", "topic_changed": "topic",
    "reaction_added": "reaction", "reaction_removed": "reaction removed",
    "reactions_cleared": "reactions cleared", "message_pinned": "pin",
    "message_unpinned": "unpin", "typing_started": "typing",
    "command_given": "command (`/bridge`)",
}  # fmt: skip
ASIDES: tuple[Aside, ...] = (
    Aside(
        "action_pressed",
        "a press, a choice or a form goes to the agent of the card, from every platform",
        "tests/e2e/test_cards.py::test_an_agents_card_is_shown_on_every_platform_and_receives_presses",
    ),
    Aside(
        "answer_stopped",
        "Slack's Stop button ends the answer, or the running answers in its thread",
        "tests/e2e/test_working.py::test_slacks_stop_ends_a_turn_before_its_first_text",
    ),
    Aside(
        "feedback_given",
        "a thumb is stored with its answer and sent to the agent, from every platform",
        "tests/e2e/test_feedback.py"
        "::test_feedback_of_every_platform_is_archived_with_the_answer_and_the_latest_counts",
    ),
    Aside(
        "files_awaited",
        "a file that its platform returns late is added to its message, from every platform",
        "tests/e2e/test_awaited_files.py"
        "::test_a_file_that_its_platform_returns_later_is_added_to_its_message",
    ),
    Aside(
        "channel_created",
        "a new channel joins the rooms whose patterns it fits",
        "tests/e2e/test_patterns.py::test_all_channels_of_a_name_are_one_room_and_new_ones_join",
    ),
    Aside(
        "channel_closed",
        "stays in the inbox: messages for that channel become dead letters, with the reason",
        "tests/router/inbound/test_unrouted_events.py::test_an_event_that_is_carried_nowhere_is_kept_with_its_outcome",
    ),
    Aside(
        "account_revoked",
        "stays in the inbox: the account's status is refused",
        "tests/router/inbound/test_unrouted_events.py::test_an_event_that_is_carried_nowhere_is_kept_with_its_outcome",
    ),
    Aside(
        "unknown",
        "stays in the inbox unchanged, so that a newer version can decode it",
        "tests/router/inbound/test_unrouted_events.py::test_an_event_that_is_carried_nowhere_is_kept_with_its_outcome",
    ),
    Aside(
        "ignored",
        "none: pings, the bot's own joins, link unfurls",
        "tests/router/inbound/test_unrouted_events.py::test_an_event_that_is_carried_nowhere_is_kept_with_its_outcome",
    ),
)

# Kinds of messages that go another way than from one channel to all, each with its test.
KINDS: tuple[Aside, ...] = (
    Aside(
        "direct message",
        "goes to one other person only, if both agree, between any two platforms",
        "tests/e2e/test_directs.py::test_a_private_conversation_of_two_people_is_shown_to_nobody_else",
    ),
    Aside(
        "forum post",
        "from a forum of Discord its title is a heading above its first message, and its answers "
        "stand below it",
        "tests/e2e/test_threads.py::test_a_forum_post_keeps_its_title_and_its_replies",
    ),
    Aside(
        "post into a forum",
        "a message from another channel becomes a Discord forum post with a title",
        "tests/e2e/test_threads.py::test_a_message_of_another_platform_becomes_a_forum_post_with_a_title",
    ),
    Aside(
        "reactions of several people",
        "the bot reacts once for each emoji, on every copy, until the last person stops",
        "tests/e2e/test_reactions.py::test_reactions_on_copies_and_the_original_are_on_all",
    ),
    Aside(
        "reaction where bots cannot react",
        "a line below the message names the people who react, and is updated",
        "tests/e2e/test_reactions.py::test_a_note_names_who_reacts_where_bots_cannot",
    ),
    Aside(
        "deletion or pin of a copy",
        "as the room's `moderation` sets",
        "tests/e2e/test_moderation.py::test_a_moderators_deletion_follows_the_setting_of_the_room",
    ),
    Aside(
        "undelivered message",
        "a notice with a button, a whisper, or a reaction on it until it has arrived",
        "tests/e2e/test_undelivered.py::test_a_refused_message_has_a_reaction_until_it_has_arrived",
    ),
    Aside(
        "current activity of an agent",
        "a status in threads of Slack; Discord and chats of Teams show that the bot is "
        "typing, channels of Teams show nothing",
        "tests/e2e/test_working.py::"
        "test_the_work_of_an_agent_is_a_status_on_slack_and_typing_elsewhere",
    ),
)


# --- docs/features.md -----------------------------------------------------------------------

_INTRODUCTION = """# What happens to a message, from every platform to every platform

Generated by `python -m tests.e2e.matrix` from the table that `tests/e2e/test_matrix.py` runs. A
simulated person creates each event on each local platform that reports it (first table), and the
test checks its effect in a channel of each platform, including another workspace of the same
platform (second table). So each "yes" in the first table is tested with each entry of the second;
the other entries give the reason why the event is not possible. These tables and the two below
them cover every kind of event that a connector can report.
"""


def page() -> str:
    """The whole page."""
    received = _table(
        "Received from", [[row.name, *(_received_cell(row, p) for p in PLATFORMS)] for row in ROWS]
    )
    displayed = _table(
        "Shown on", [[row.name, *(_shown_cell(row, p) for p in PLATFORMS)] for row in ROWS]
    )
    head = ["Event", "Effect", "Test"]
    lines = [[f"`{aside.event}`", aside.becomes, f"`{aside.test}`"] for aside in ASIDES]
    others = [[kind.event, kind.becomes, f"`{kind.test}`"] for kind in KINDS]
    return "\n".join(
        (
            _INTRODUCTION,
            "## Received events\n",
            received,
            "## How it is shown\n",
            displayed,
            "## Events that are not carried to other channels\n",
            _ruled(head, lines),
            "## Special cases\n",
            _ruled(["Case", *head[1:]], others),
        )
    )


def _received_cell(row: Row, platform: str) -> str:
    return f"no: {row.lacks[platform]}" if platform in row.lacks else "yes"


def _shown_cell(row: Row, platform: str) -> str:
    if platform in row.cannot:
        return f"no: {row.cannot[platform]}"
    return row.shown_as.get(platform, "natively")


def _table(first: str, rows: list[list[str]]) -> str:
    return _ruled([first, *LABELS.values()], rows)


def _ruled(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page())
