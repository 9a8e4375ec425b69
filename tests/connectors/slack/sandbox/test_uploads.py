"""Files: two-step uploads, sharing, look-ups, downloads, and refusals."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from bridge.errors import InvalidData, NotFound
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import FileUpload, LocalUser
from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, RANDOM, Running, refused, until
from tests.connectors.slack.sandbox.desk import Desk
from tests.connectors.slack.sandbox.test_events import listening

Json = dict[str, Any]
PNG = avatar_png("a picture")
QUIET = "C0ACMEQUIET"


async def complete(desk: Desk, own_id: str, **more: Any) -> Json:
    files = [{"id": own_id, "title": "A title"}]
    return await desk.call(
        "files.completeUploadExternal", files=files, channel_id=GENERAL, **more
    )  # fmt: skip


async def test_a_file_is_uploaded_in_two_steps_and_shared_in_the_channel(desk: Desk) -> None:
    root = await desk.says("look at this")
    own_id = await desk.upload("a.png", PNG, alt_txt="a face")

    answer = await complete(desk, own_id, thread_ts=root, initial_comment="*here*")

    base = f"http://sandbox/slack/files-pri/T0ACME-{own_id}"
    thumbs = f"http://sandbox/slack/files-tmb/T0ACME-{own_id}"
    file = {
        "id": own_id, "created": 1_700_000_000, "timestamp": 1_700_000_000, "name": "a.png",
        "title": "A title", "mimetype": "image/png", "filetype": "png", "pretty_type": "PNG",
        "user": "U0ACMEBOT1", "user_team": "T0ACME", "editable": False, "size": len(PNG),
        "mode": "hosted", "is_external": False, "external_type": "", "is_public": False,
        "public_url_shared": False, "display_as_bot": False, "username": "",
        "url_private": f"{base}/a.png", "url_private_download": f"{base}/download/a.png",
        "media_display_type": "unknown",
        "permalink": f"https://acme.slack.com/files/U0ACMEBOT1/{own_id}/a.png",
        "permalink_public": f"https://slack-files.com/T0ACME-{own_id}-{own_id.lower()}",
        "is_starred": False, "has_rich_preview": False, "file_access": "visible",
        "alt_txt": "a face", "original_w": 64, "original_h": 64,
        "thumb_64": f"{thumbs}/a_64.png", "thumb_80": f"{thumbs}/a_80.png",
        "thumb_160": f"{thumbs}/a_160.png", "thumb_360": f"{thumbs}/a_360.png",
        "thumb_360_w": 64, "thumb_360_h": 64,
    }  # fmt: skip
    assert answer == {"ok": True, "files": [file]}
    message = (await desk.call("conversations.replies", channel=GENERAL, ts=root))["messages"][1]
    assert (message["text"], message["thread_ts"], message.get("subtype")) == ("*here*", root, None)
    assert message["files"] == [file | {"is_public": True}]
    file_object = (await desk.call("files.info", file=own_id))["file"]
    assert (file_object["channels"], file_object["shares"]["public"][GENERAL][0]["ts"]) == (
        [GENERAL], message["ts"],
    )  # fmt: skip


async def test_a_private_file_url_needs_the_bots_token(desk: Desk) -> None:
    own_id = await desk.upload("a.png", PNG)
    file = (await complete(desk, own_id))["files"][0]
    url, download = file["url_private"], file["url_private_download"]

    own, small = await desk.get(url), await desk.get(file["thumb_64"])
    saved = await desk.get(download)
    strangers = [await desk.get(url, token) for token in ("", "xoxb-nobody", "xoxb-sandbox-globex")]

    assert (own.content, own.headers["content-type"], small.content) == (PNG, "image/png", PNG)
    assert saved.headers["content-disposition"] == "attachment; filename*=UTF-8''a.png"
    assert [answer.status_code for answer in strangers] == [302] * 3
    page = await desk.get(strangers[0].headers["location"])
    assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html")
    desk.without("files:read")
    assert (await desk.get(url)).status_code == 302


async def test_an_upload_may_come_as_a_form(desk: Desk) -> None:
    opened = await desk.call("files.getUploadURLExternal", filename="n.txt", length=4)

    answer = await desk.http.post(
        opened["upload_url"], files={"filename": ("n.txt", b"note", "text/plain")}
    )

    assert (answer.status_code, answer.text) == (200, "OK - 4")
    assert await desk.error("files.info", file=opened["file_id"]) == "file_not_found"  # not yet
    (file,) = (await complete(desk, opened["file_id"]))["files"]
    assert (await desk.call("files.info", file=file["id"]))["file"]["mimetype"] == "text/plain"


async def test_an_upload_url_takes_the_announced_size_once(desk: Desk) -> None:
    opened = await desk.call("files.getUploadURLExternal", filename="n.txt", length=4)
    url = opened["upload_url"]

    answers = [
        await desk.http.post(url, content=data) for data in (b"no", b"longer", b"note", b"note")
    ]

    assert [answer.status_code for answer in answers] == [400, 413, 200, 404]
    assert desk.context.files.bytes == 4


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("files.getUploadURLExternal", {"length": 1}, "invalid_arguments"),
        ("files.getUploadURLExternal", {"filename": "a"}, "invalid_arguments"),
        ("files.getUploadURLExternal", {"filename": "a", "length": 0}, "invalid_arguments"),
        ("files.getUploadURLExternal", {"filename": "a", "length": "ten"}, "invalid_arguments"),
        (
            "files.getUploadURLExternal", {"filename": "a", "length": 2 << 30},
            "file_upload_size_restricted",
        ),
        (
            "files.getUploadURLExternal", {"filename": "a", "length": 1, "alt_txt": "x" * 1001},
            "alt_txt_too_large",
        ),
        ("files.completeUploadExternal", {}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": []}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": "[{"}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": [{"title": "x"}]}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": [{"id": "F0NONE"}]}, "file_not_found"),
        ("files.completeUploadExternal", {"files": [{"id": "NO BYTES"}]}, "file_not_found"),
        (
            "files.completeUploadExternal", {"files": [{"id": "DONE"}], "channel_id": "C0NONE"},
            "channel_not_found",
        ),
        (
            "files.completeUploadExternal", {"files": [{"id": "DONE"}], "channel_id": QUIET},
            "not_in_channel",
        ),
        (
            "files.completeUploadExternal", {"files": [{"id": "DONE"}], "channels": "C0ACMEATTIC"},
            "is_archived",
        ),
        (
            "files.completeUploadExternal",
            {"files": [{"id": "DONE"}], "channel_id": GENERAL, "thread_ts": "soon"},
            "invalid_thread_ts",
        ),
        (
            "files.completeUploadExternal",
            {"files": [{"id": "DONE"}], "channel_id": GENERAL, "blocks": [{"type": "x"}]},
            "invalid_blocks",
        ),
        ("files.info", {}, "invalid_arguments"),
        ("files.info", {"file": "F0NONE"}, "file_not_found"),
    ],
)  # fmt: skip
async def test_uploads_that_slack_refuses_are_refused(
    desk: Desk, method: str, args: Json, error: str
) -> None:
    opened = await desk.call("files.getUploadURLExternal", filename="a", length=1)
    done = await desk.upload("b", b"b")
    names = {"NO BYTES": opened["file_id"], "DONE": done}
    if isinstance(files := args.get("files"), list):
        files = [{k: names.get(v, v) for k, v in each.items()} for each in files]
        args = args | {"files": files}

    assert await desk.error(method, **args) == error
    assert desk.changes == []


async def test_files_need_their_scopes(desk: Desk) -> None:
    desk.without("files:read", "files:write")

    answers = [
        await desk.call("files.getUploadURLExternal", filename="a", length=1),
        await desk.call("files.completeUploadExternal", files=[{"id": "F"}]),
        await desk.call("files.info", file="F"),
    ]

    assert [(a["error"], a["needed"]) for a in answers] == [
        ("missing_scope", "files:write"), ("missing_scope", "files:write"),
        ("missing_scope", "files:read"),
    ]  # fmt: skip


async def test_a_file_is_shared_once_and_only_by_its_owner(desk: Desk) -> None:
    own_id = await desk.upload("a.png", PNG)
    desk.token = "xoxb-sandbox-acme-plain"
    by_another = await complete(desk, own_id)
    desk.token = "xoxb-sandbox-acme"
    first, again = await complete(desk, own_id), await complete(desk, own_id)

    assert [a.get("error") for a in (by_another, first, again)] == [
        "file_not_found", None, "file_not_found",
    ]  # fmt: skip


async def test_an_app_sees_no_files_of_channels_it_is_not_in(desk: Desk) -> None:
    team = desk.slack.slack.workspaces["T0ACME"]
    shared = await LocalUser(desk.slack, "T0ACME", QUIET, ADA).post_file("a.png", PNG)
    file = shared.raw["files"][0]

    hidden = (await desk.error("files.info", file=file["id"]), await desk.get(file["url_private"]))
    team.channels[QUIET].members[desk.app.bot_user] = None
    download = await desk.get(file["url_private"])

    assert (hidden[0], hidden[1].status_code, download.content) == ("file_not_found", 404, PNG)


async def test_a_deleted_file_leaves_a_tombstone_in_its_messages(desk: Desk) -> None:
    own_id = await desk.upload("a.png", PNG)
    await complete(desk, own_id, initial_comment="look")

    assert await desk.error("files.delete", file=own_id) == ""
    assert await desk.error("files.info", file=own_id) == "file_not_found"
    (standing,) = desk.slack.messages("T0ACME", GENERAL)
    assert standing.raw["files"] == [{"id": own_id, "mode": "tombstone"}]
    assert "edited" not in standing.raw


async def test_a_file_that_is_deleted_before_slack_shares_it_is_not_shared(desk: Desk) -> None:
    desk.slack.pace.share_seconds = 0.02
    first, second = await desk.upload("1.txt", b"1"), await desk.upload("2.txt", b"2")
    for own_id in (first, second):
        await complete(desk, own_id)

    await desk.call("files.delete", file=first)
    await until(lambda: bool(desk.slack.messages("T0ACME", GENERAL)))

    (standing,) = desk.slack.messages("T0ACME", GENERAL)
    assert [file["id"] for file in standing.raw["files"]] == [second]


async def test_a_message_with_only_a_deleted_file_is_deleted(desk: Desk) -> None:
    ada = LocalUser(desk.slack, "T0ACME", GENERAL, ADA)
    alone = await ada.post_file("a.png", PNG)
    await desk.slack.remove_file_as("T0ACME", GENERAL, ADA, alone.id, "a.png")

    assert desk.slack.messages("T0ACME", GENERAL) == []


async def test_an_update_keeps_only_the_files_that_it_lists(desk: Desk) -> None:
    first, second = await desk.upload("1.txt", b"1"), await desk.upload("2.txt", b"2")
    files = [{"id": first}, {"id": second}]
    await desk.call("files.completeUploadExternal", files=files, channel_id=GENERAL)
    ts = desk.slack.messages("T0ACME", GENERAL)[0].id

    await desk.call("chat.update", channel=GENERAL, ts=ts, file_ids=[second])

    remaining = desk.slack.messages("T0ACME", GENERAL)[0].raw["files"]
    assert [file["id"] for file in remaining] == [second]


async def test_the_app_receives_files_that_people_share(running: Running) -> None:
    ada = LocalUser(running.slack, "T0ACME", GENERAL, ADA)
    async with listening(running) as app:
        root = await running.says("root")
        await ada.post_files(
            [FileUpload(name="a.png", data=PNG), FileUpload(name="ä b.bin", data=b"\0\1")],
            text="two @Ben Ortiz", thread=root,
        )  # fmt: skip
        await until(lambda: len(app.envelopes) == 2)

    event = app.events[1]
    assert (event["subtype"], event["text"], event["thread_ts"], event["upload"]) == (
        "file_share", "two <@U0ACME02>", root, False,
    )  # fmt: skip
    assert [(f["name"], f["mimetype"], f["filetype"], f["user"]) for f in event["files"]] == [
        ("a.png", "image/png", "png", ADA), ("ä b.bin", "application/octet-stream", "binary", ADA),
    ]  # fmt: skip
    token = {"Authorization": f"Bearer {running.app()['bot_token']}"}
    async with aiohttp.ClientSession(headers=token) as http:
        for file, data in zip(event["files"], (PNG, b"\0\1"), strict=True):
            async with http.get(file["url_private"]) as answer:
                assert await answer.read() == data


async def test_an_impossible_file_share_raises_an_error(desk: Desk) -> None:
    with pytest.raises(InvalidData):
        await desk.ada.post_files([])
    with pytest.raises(NotFound):
        await LocalUser(desk.slack, "T0ACME", GENERAL, "U0NOBODY").post_file("a", b"a")


async def test_a_plain_program_uploads_and_downloads_files(running: Running) -> None:
    client = running.client()

    answer: Any = await client.files_upload_v2(
        channel=GENERAL, initial_comment="two of them",
        file_uploads=[
            {"content": b"one", "filename": "1.txt", "title": "First"},
            {"content": PNG, "filename": "2.png", "alt_txt": "second"},
        ],
    )  # fmt: skip

    # Slack answers before it shares.
    early: Any = await client.files_info(file=answer["files"][1]["id"])
    assert early["file"]["shares"] == {}
    await until(lambda: running.texts() == ["two of them"])
    message = running.slack.messages("T0ACME", GENERAL)[0]
    assert [(f["title"], f["mimetype"]) for f in message.raw["files"]] == [
        ("First", "text/plain"), ("2.png", "image/png"),
    ]  # fmt: skip
    assert [file["id"] for file in answer["files"]] == [f["id"] for f in message.raw["files"]]
    info: Any = await client.files_info(file=answer["files"][1]["id"])
    assert info["file"]["shares"]["public"][GENERAL][0]["ts"] == message.id


async def test_uploads_and_downloads_fail_on_request(running: Running) -> None:
    client, faults = running.client(), running.context.faults
    client.retry_handlers.clear()
    faults.add(Fault(kind="status", where="slack:files.upload:*", status=503))
    with pytest.raises(Exception, match="503"):
        await client.files_upload_v2(channel=GENERAL, content="x", filename="x.txt")
    faults.add(Fault(kind="rate_limited", where="slack:files.completeUploadExternal:*", seconds=2))
    with refused("ratelimited"):
        await client.files_upload_v2(channel=RANDOM, content="x", filename="x.txt")
    shared = await LocalUser(running.slack, "T0ACME", GENERAL, ADA).post_file("a.png", PNG)
    token = {"Authorization": f"Bearer {running.app()['bot_token']}"}
    url = shared.raw["files"][0]["url_private"]
    for kind in ("status", "rate_limited", "hang", "lose_answer", "lose_answer"):
        faults.add(Fault(kind=kind, where="slack:files.download:*", seconds=0.01))

    answers: list[Any] = []
    async with aiohttp.ClientSession(headers=token) as http:  # retries when an answer is lost
        for _ in range(5):
            try:
                async with http.get(url) as answer:
                    answers.append(answer.status)
            except aiohttp.ClientConnectionError:
                answers.append("broken")

    assert answers == [500, 429, 504, "broken", 200]
