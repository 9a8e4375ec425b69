"""Images and files: people share them, and bots read them or request consent for their own."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from bridge.errors import InvalidData
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import FileUpload
from connectors.discord.sandbox.pictures import avatar_png
from connectors.teams.sandbox import drive as drive_module
from tests.connectors.teams.sandbox.cards import consent, message
from tests.connectors.teams.sandbox.inbox import Inbox, inbox
from tests.connectors.teams.sandbox.rest import activities, as_bot, bot_token
from tests.connectors.teams.sandbox.running import RunningTeams

Json = dict[str, Any]
PNG = avatar_png("teams")
DOWNLOAD = "application/vnd.microsoft.teams.file.download.info"


def chat_of(teams: RunningTeams, bot: str = "bridge") -> str:
    return teams.teams.personal_chat(bot, next(iter(teams.teams.tenant.people)))


async def shared(
    teams: RunningTeams, *files: FileUpload, where: str = "", text: str = ""
) -> LocalMessage:  # fmt: skip
    return await teams.do(teams.user(channel=where).post_files(files, text=text))


async def fetched(
    url: str, method: str = "GET", data: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = None if data is None else io.BytesIO(data)
    async with (
        aiohttp.ClientSession() as http,
        http.request(method, url, data=body, headers=named) as answer,
    ):
        return answer.status, await answer.read()


async def accepted(teams: RunningTeams, bot: Inbox, name: str = "notes.txt") -> Json:
    """Return the upload information that a bot receives after an accepted file."""
    chat = chat_of(teams)
    async with as_bot(teams) as rest:
        card = (await rest("POST", activities(chat), message(consent(name)))).body["id"]
    outcome = await teams.do(teams.user(channel=chat).press(card, "Accept"))
    assert outcome.answered
    return bot.invokes[-1]["value"]["uploadInfo"]


async def test_a_picture_is_read_with_the_bots_token(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        await shared(teams, FileUpload(name="cat.png", data=PNG, alt='a "cat"'), text="look")
        await teams.settled()
        token = await _token(teams)
        picture, html = bot.activities[0]["attachments"]
        status, data = await fetched(picture["contentUrl"], Authorization=f"Bearer {token}")
        other = await _token(teams, "plain")
        plain = (await fetched(picture["contentUrl"]))[0]
        stranger = (await fetched(picture["contentUrl"], Authorization=f"Bearer {other}"))[0]

    own_id = picture["contentUrl"].split("/")[-3]
    assert (picture["contentType"], list(picture)) == ("image/*", ["contentType", "contentUrl"])
    assert picture["contentUrl"].startswith(f"{teams.base_url}/teams/svc/v3/attachments/0-")
    assert (status, data, plain, stranger) == (200, PNG, 401, 200)
    assert bot.activities[0]["text"] == "look"
    assert html["content"] == (
        '<div><div>look</div><div><img alt="a &quot;cat&quot;" itemscope="image" '
        'itemtype="http://schema.skype.com/AMSImage" src="https://us-api.asm.skype.com/v1/objects/'
        f'{own_id}/views/imgo" id="x_{own_id}" style="width:64px; height:64px"></div>\n</div>'
    )


async def _token(teams: RunningTeams, key: str = "bridge") -> str:
    async with aiohttp.ClientSession() as http:
        return await bot_token(http, teams, key)


async def test_the_connector_service_describes_image_attachments(teams: RunningTeams) -> None:
    chat = chat_of(teams)
    async with inbox(teams) as bot:
        await shared(teams, FileUpload(name="cat.png", data=PNG), where=chat)
        await teams.settled()
    path = urlsplit(bot.activities[0]["attachments"][0]["contentUrl"]).path
    path = path[path.index("/v3/") :]
    own_id = path.split("/")[3]
    assert "text" not in bot.activities[0]

    async with as_bot(teams) as rest, as_bot(teams, "plain") as outsider:
        details = await rest("GET", f"/v3/attachments/{own_id}")
        missing = await rest("GET", "/v3/attachments/0-none")
        no_view = await rest("GET", f"/v3/attachments/{own_id}/views/huge")
        outside = await outsider("GET", f"/v3/attachments/{own_id}")
        await teams.fault(Fault(kind="status", where=f"teams:attachment.info:{chat}", status=503))
        broken = await rest("GET", f"/v3/attachments/{own_id}")

    views = [{"viewId": name, "size": len(PNG)} for name in ("original", "thumbnail")]
    assert details.body == {"name": "cat.png", "type": "image/png", "views": views}
    assert [missing.status, no_view.status, outside.status, broken.status] == [404, 404, 403, 503]
    assert outside.body["error"]["code"] == "BotNotInConversationRoster"


async def test_a_file_in_a_personal_chat_has_an_expiring_url(
    teams: RunningTeams, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inbox(teams) as bot:
        await shared(teams, FileUpload(name="a b.txt", data=b"notes"), where=chat_of(teams))
        await teams.settled()

    attachment, html = bot.activities[0]["attachments"]
    content = attachment["content"]
    assert (attachment["contentType"], attachment["name"]) == (DOWNLOAD, "a b.txt")
    assert (content["fileType"], html["contentType"]) == ("txt", "text/html")
    assert re.fullmatch(r"[0-9A-F-]{36}", content["uniqueId"])
    assert await fetched(content["downloadUrl"]) == (200, b"notes")
    assert (await fetched(attachment["contentUrl"]))[0] == 401
    assert (await fetched(content["downloadUrl"].replace("tempauth=", "tempauth=0")))[0] == 401
    await teams.fault(Fault(kind="status", where="teams:file.download:*", status=503))
    assert (await fetched(content["downloadUrl"]))[0] == 503

    now = drive_module.time.time()
    monkeypatch.setattr(drive_module.time, "time", lambda: now + 301)
    assert (await fetched(content["downloadUrl"]))[0] == 401


async def test_files_in_channels_and_groups_are_html_attachment_tags(teams: RunningTeams) -> None:
    group = teams.teams.world().apps[0]["group_chat"]
    async with inbox(teams) as bot:
        for where in (teams.channel, group):
            file = FileUpload(name="a.pdf", data=b"%PDF-1.7")
            await shared(teams, file, FileUpload(name="b.png", data=PNG), where=where, text="see")
        await teams.settled()

    for activity in bot.activities:
        picture, html = activity["attachments"]
        assert picture["contentType"] == "image/*"
        assert re.search(r'</div><attachment id="[0-9a-f-]{36}"></attachment>$', html["content"])


async def test_a_file_share_is_visible_to_people(teams: RunningTeams) -> None:
    posted = await shared(
        teams, FileUpload(name="a.txt", data=b"notes"), FileUpload(name="b.png", data=PNG, alt="me")
    )

    attachments = posted.raw["attachments"]
    assert [(a["name"], a["contentType"], a.get("alt")) for a in attachments] == [
        ("a.txt", "text/plain", None), ("b.png", "image/png", "me"),
    ]  # fmt: skip
    assert [await fetched(a["contentUrl"]) for a in attachments] == [(200, b"notes"), (200, PNG)]
    with pytest.raises(InvalidData):
        await shared(teams)


async def test_a_bot_uploads_a_file_after_consent(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        place = await accepted(teams, bot)
        value = bot.invokes[0]["value"]
        put = await fetched(place["uploadUrl"], "PUT", b"notes", Content_Range="bytes 0-4/5")
        again = await fetched(place["uploadUrl"], "PUT", b"notes", Content_Range="bytes 0-4/5")
        done = {
            "contentType": "application/vnd.microsoft.teams.card.file.info", "name": place["name"],
            "contentUrl": place["contentUrl"],
            "content": {"uniqueId": place["uniqueId"], "fileType": place["fileType"]},
        }  # fmt: skip
        async with as_bot(teams) as rest:
            notice = await rest("POST", activities(chat_of(teams)), message(done))

    assert bot.invokes[0]["name"] == "fileConsent/invoke"
    assert {name: value[name] for name in ("type", "action", "context")} == {
        "type": "fileUpload", "action": "accept", "context": {"n": 1},
    }  # fmt: skip
    assert (place["name"], place["fileType"]) == ("notes.txt", "txt")
    assert (put[0], again[0], notice.status) == (201, 404, 201)
    assert teams.teams.drive.read(place["uniqueId"]) == b"notes"


async def test_a_declined_file_has_no_upload_url(teams: RunningTeams) -> None:
    chat = chat_of(teams)
    async with inbox(teams) as bot:
        async with as_bot(teams) as rest:
            card = (await rest("POST", activities(chat), message(consent()))).body["id"]
        outcome = await teams.do(teams.user(channel=chat).press(card, "decline"))
        bot.answers = [500]
        failed = await teams.do(teams.user(channel=chat).press(card, "accept"))
        with pytest.raises(InvalidData):
            await teams.do(teams.user(channel=chat).press(card, "accept", {"x": "y"}))

    assert outcome.answered
    assert bot.invokes[0]["value"] == {
        "type": "fileUpload", "action": "decline", "context": {"n": 2},
    }  # fmt: skip
    assert failed.failed == "Unable to reach app. Please try again."


async def test_a_file_is_uploaded_in_pieces(teams: RunningTeams) -> None:
    data = bytes(range(256)) * 40
    total = len(data)
    async with inbox(teams) as bot:
        url = (await accepted(teams, bot, "big.bin"))["uploadUrl"]
        own_id = bot.invokes[0]["value"]["uploadInfo"]["uniqueId"]
    pieces = [(0, 4000), (4000, 8000), (8000, total)]
    answers: list[int] = []
    for first, end in pieces:
        where = f"bytes {first}-{end - 1}/{total}"
        status, body = await fetched(url, "PUT", data[first:end], Content_Range=where)
        answers.append(status)
        if status == 202:
            assert f'"nextExpectedRanges":["{end}-"]' in body.decode()

    assert answers == [202, 202, 201]
    assert teams.teams.drive.read(own_id) == data
    assert len(teams.context.files) == 1


@pytest.mark.parametrize(
    ("where", "data", "status", "code"),
    [
        ("", b"notes", 400, "invalidRequest"),
        ("bytes 0-4", b"notes", 400, "invalidRequest"),
        ("bytes 4-0/5", b"notes", 400, "invalidRequest"),
        ("bytes 0-9/5", b"notes", 400, "invalidRequest"),
        ("bytes 0-4/5", b"longer than told", 400, "invalidRequest"),
        ("bytes 0-4/5", b"few", 400, "invalidRequest"),
        ("bytes 5-9/10", b"notes", 416, "invalidRange"),
        (f"bytes 0-{61 << 20}/{1 << 30}", b"notes", 413, "fragmentTooLarge"),
    ],
)
async def test_invalid_upload_pieces_are_refused(
    teams: RunningTeams, where: str, data: bytes, status: int, code: str
) -> None:
    async with inbox(teams) as bot:
        url = (await accepted(teams, bot))["uploadUrl"]
    headers = {"Content_Range": where} if where else {}

    answer_status, body = await fetched(url, "PUT", data, **headers)

    assert (answer_status, f'"code":"{code}"' in body.decode()) == (status, True)
    assert len(teams.context.files) == 0


async def test_upload_sessions_report_progress_can_be_cancelled_and_expire(
    teams: RunningTeams, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inbox(teams) as bot:
        url = (await accepted(teams, bot))["uploadUrl"]
        other = (await accepted(teams, bot))["uploadUrl"]
        third = (await accepted(teams, bot))["uploadUrl"]
    await fetched(url, "PUT", b"no", Content_Range="bytes 0-1/5")
    progress = await fetched(url)
    await teams.fault(Fault(kind="status", where="teams:file.upload:*", status=503))
    broken = await fetched(url)
    await teams.fault(Fault(kind="lose_answer", where="teams:file.upload:*"))
    with contextlib.suppress(aiohttp.ClientError):  # aiohttp tries a PUT once more
        await fetched(other, "PUT", b"notes", Content_Range="bytes 0-4/5")
    cancelled = await fetched(url, "DELETE")
    after_cancel = await fetched(url)

    assert b'"nextExpectedRanges":["2-"]' in progress[1]
    assert [broken[0], cancelled[0], after_cancel[0]] == [503, 204, 404]
    assert len(teams.context.files) == 1  # the one whose answer was lost
    now = drive_module.time.time()
    monkeypatch.setattr(drive_module.time, "time", lambda: now + 3601)
    assert (await fetched(third))[0] == 404
