"""Every event, from every platform to every platform: how it is made, what must come of it, or why
it cannot be. `python -m tests.e2e.matrix` writes docs/features.md from this table."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from bridge.sandbox.hands import GivenFile, Handled
from tests.e2e.matrix_happenings import HAPPENINGS
from tests.e2e.matrix_marks import MARKS
from tests.e2e.scene import PLATFORMS, Row, Scene

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
    return bool(scene.found(platform, "after the edit")) and not scene.found(
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
    long = [scene.words(f"piece {number}") for number in range(_PIECES[scene.origin])]
    platform = scene.local.platforms[scene.origin]
    native = (await platform.post_as(*scene.home, scene.person, "\n".join(long))).id
    await scene.arrived(f"piece {len(long) - 1}")
    await platform.edit_as(*scene.home, scene.person, native, scene.words("piece 0, alone"))


def _short(scene: Scene, platform: str) -> bool:
    """The first copy says it, and none is left over."""
    alone = scene.found(platform, "piece 0, alone")
    return (
        len(alone) == 1
        and len(
            [
                one
                for one in scene.there(platform)
                if "piece" in one.text and scene.origin in one.text
            ]
        )
        == 1
    )


async def _file(scene: Scene) -> None:
    given = [GivenFile(name="notes.txt", data=scene.words("in the file").encode())]
    platform = scene.local.platforms[scene.origin]
    assert isinstance(platform, Handled)
    await platform.post_files(*scene.home, scene.person, given, scene.words("see the notes"))


def _with_file(scene: Scene, platform: str) -> bool:
    """The words, and the file beside them or in the next message."""
    said = bool(scene.found(platform, "see the notes"))
    return said and any("notes.txt" in f"{one.text} {one.raw}" for one in scene.there(platform))


async def _bulk(scene: Scene) -> None:
    natives = [await scene.say(f"one of many {number}") for number in range(3)]
    await scene.arrived("one of many 2")
    moderator = {
        "Authorization": f"Bot {scene.local.platforms['discord'].world().apps[0]['token']}"
    }
    url = f"{scene.local.around.base_url}/discord/api/v10/channels/{scene.home[1]}/messages"
    async with (
        aiohttp.ClientSession(headers=moderator) as http,
        http.post(f"{url}/bulk-delete", json={"messages": natives}) as answer,
    ):
        assert answer.status == 204, await answer.text()


def _in_thread(scene: Scene, platform: str) -> bool:
    (root,) = scene.found(platform, "the root of a thread")[:1]
    return any(one.thread is not None for one in scene.found(platform, "below the root")) and (
        root.thread is None or root.thread == root.id
    )


ROWS: tuple[Row, ...] = (
    Row("post", _post, lambda scene, there: len(scene.found(there, "a post of the matrix")) == 1),
    Row("edit", _edit, _edited),
    Row("delete", _delete, lambda scene, there: not scene.found(there, "soon deleted")),
    Row("thread", _thread, _in_thread),
    Row("edit that makes it shorter", _shorten, _short),
    Row(
        "bulk delete",
        _bulk,
        lambda scene, there: not scene.found(there, "one of many"),
        lacks=dict.fromkeys(("slack", "teams"), "messages are deleted one by one"),
    ),
    Row(
        "file",
        _file,
        _with_file,
        lacks={"teams": "apps are given the files of personal chats alone"},
        shown_as={"teams": "a link, or its name where there is none"},
    ),
    *MARKS,
    *HAPPENINGS,
)

# Which events of `bridge.model` the rows are, and where the others are shown.
EVENTS: dict[str, str] = {
    "message_posted": "post", "message_edited": "edit", "message_deleted": "delete",
    "messages_bulk_deleted": "bulk delete", "thread_started": "thread with a name",
    "poll_ended": "result of a poll", "member_joined": "member joined",
    "member_left": "member left", "channel_renamed": "rename", "topic_changed": "topic",
}  # fmt: skip
ELSEWHERE: dict[str, str] = {
    "action_pressed": "tests/e2e/test_cards.py", "form_submitted": "tests/e2e/test_cards.py",
}  # fmt: skip


# --- docs/features.md -----------------------------------------------------------------------

_INTRODUCTION = """# What happens to a message, from every platform to every platform

Generated by `python -m tests.e2e.matrix` from the table that `tests/e2e/test_matrix.py` runs: an
event is made by a person on each local platform that tells of it (first table), and must come true
in a channel of each platform, one of another workspace of the same platform included (second
table). So each pair of a yes above and a form below is a test; the rest says why it cannot be.
"""


def page() -> str:
    """The whole page."""
    heard = _table("Heard from", [[row.name, *(_heard(row, p) for p in PLATFORMS)] for row in ROWS])
    shown = _table("Shown on", [[row.name, *(_shown(row, p) for p in PLATFORMS)] for row in ROWS])
    return "\n".join((_INTRODUCTION, "## What is heard\n", heard, "## How it is shown\n", shown))


def _heard(row: Row, platform: str) -> str:
    return f"no: {row.lacks[platform]}" if platform in row.lacks else "yes"


def _shown(row: Row, platform: str) -> str:
    if platform in row.cannot:
        return f"no: {row.cannot[platform]}"
    return row.shown_as.get(platform, "natively")


def _table(first: str, rows: list[list[str]]) -> str:
    head = [first, *(name.capitalize() for name in PLATFORMS)]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page())
