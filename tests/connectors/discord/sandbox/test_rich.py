"""Embeds, components, files and polls that discord.py programs send, store and read again."""

from __future__ import annotations

import datetime
import io
from typing import Any

import aiohttp
import discord
import orjson
import pytest
import yarl

from bridge.errors import InvalidData
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import FileUpload, LocalUser
from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.discord.sandbox.running import Running, a_client, until
from tests.connectors.discord.sandbox.test_plain_programs import Recorder, text_channel
from tests.connectors.discord.sandbox.test_rich_refusals import (
    V2,
    button,
    container,
    gallery,
    menu,
    old,
    option,
    poll,
    row,
    section,
    text,
)

Json = dict[str, Any]
PNG = avatar_png("a picture")


def user_of(local: Running) -> LocalUser:
    return LocalUser(local.discord, local.guild, local.channel, local.person)


async def post(local: Running, body: Json) -> Json:
    status, answer, _ = await local.ask("POST", f"/channels/{local.channel}/messages", body)
    assert status == 200, answer
    return answer


async def upload(
    local: Running, files: dict[str, bytes], body: Json, path: str = ""
) -> Json:  # fmt: skip
    """Post a bot's message with files in the format of discord.py."""
    form = aiohttp.FormData(default_to_multipart=True, quote_fields=False)
    form.add_field("payload_json", orjson.dumps(body).decode(), content_type="application/json")
    for number, (name, data) in enumerate(files.items()):
        form.add_field(f"files[{number}]", io.BytesIO(data), filename=name)
    where = path or f"/channels/{local.channel}/messages"
    url = f"{local.context.base_url}/discord/api/v10{where}"
    headers = {"Authorization": f"Bot {local.app()['token']}"}
    async with local.http.request(
        "PATCH" if path else "POST", url, data=form, headers=headers
    ) as r:
        return await r.json()


async def fetched(local: Running, url: str) -> tuple[int, bytes]:
    async with local.http.get(yarl.URL(url, encoded=True)) as response:
        return response.status, await response.read()


async def test_an_embed_is_returned_with_the_fields_that_discord_adds(local: Running) -> None:
    embed = {
        "title": " T ", "description": "D", "url": "https://x.example", "color": 255,
        "timestamp": "2026-01-02T03:04:05Z", "fields": [{"name": "n", "value": "v"}],
        "footer": {"text": "F", "icon_url": "https://x.example/f.png"}, "author": {"name": "A"},
        "image": {"url": "https://x.example/i.png"}, "provider": {"name": "made up"},
    }  # fmt: skip

    embeds = (await post(local, {"embeds": [embed, {}]}))["embeds"]

    icon = embeds[0]["footer"].pop("proxy_icon_url")
    image = embeds[0]["image"].pop("proxy_url")
    assert embeds == [
        {
            "type": "rich", "title": "T", "description": "D", "url": "https://x.example",
            "color": 255, "timestamp": "2026-01-02T03:04:05.000000+00:00",
            "fields": [{"name": "n", "value": "v", "inline": False}],
            "footer": {"text": "F", "icon_url": "https://x.example/f.png"},
            "author": {"name": "A"}, "image": {"url": "https://x.example/i.png"},
            "content_scan_version": 0,
        }
    ]  # fmt: skip
    assert all(
        url.startswith(f"{local.context.base_url}/discord/external/") for url in (icon, image)
    )
    async with local.http.get(image, allow_redirects=False) as response:
        assert response.headers["location"] == "https://x.example/i.png"


async def test_components_are_returned_with_ids_in_reading_order(local: Running) -> None:
    components = [
        container(section(), gallery(2), {"type": 14}, row(button("c", emoji={"name": "👍"}))),
        text("end") | {"id": 2},
    ]

    stored = (await post(local, {"flags": V2, "components": components}))["components"]

    box = stored[0]
    assert [box["id"], *(c["id"] for c in box["components"]), stored[1]["id"]] == [1, 3, 6, 7, 8, 2]
    inner = box["components"]
    assert (inner[0]["components"][0]["id"], inner[0]["accessory"]["id"]) == (4, 5)
    assert inner[2] == {"type": 14, "id": 7, "divider": True, "spacing": 1}
    assert inner[3]["components"][0] == button("c", emoji={"name": "👍"}) | {"id": 9}
    assert inner[1]["items"][0]["media"]["url"] == "https://x.example/a.png"
    _, read, _ = await local.ask("GET", f"/channels/{local.channel}/messages")
    assert read[0]["components"] == stored


async def test_a_text_display_component_can_ping(local: Running) -> None:
    loud = await post(local, {"flags": V2, "components": [text(f"<@{local.person}>")]})

    assert [user["id"] for user in loud["mentions"]] == [local.person]


async def test_files_are_stored_and_served_until_their_url_expires(local: Running) -> None:
    payload = {"content": "two", "attachments": [{"id": 0, "description": "a face", "title": "T"}]}

    message = await upload(local, {"a.png": PNG, "ä b.txt": b"text"}, payload)

    first, second = message["attachments"]
    url, proxy = first.pop("url"), first.pop("proxy_url")
    address = (
        f"{local.context.base_url}/discord/attachments/{local.channel}/{first['id']}/a.png?ex="
    )
    assert url.startswith(address)
    assert first == {
        "id": first["id"], "filename": "a.png", "size": len(PNG), "content_type": "image/png",
        "content_scan_version": 0, "width": 64, "height": 64, "title": "T",
        "description": "a face",
    }  # fmt: skip
    assert (second["filename"], second["title"], second["content_type"]) == (
        "b.txt", "ä b", "text/plain",
    )  # fmt: skip
    assert await fetched(local, url) == await fetched(local, proxy) == (200, PNG)
    assert await fetched(local, url.replace("hm=", "hm=0")) == (
        404, b"This content is no longer available.",
    )  # fmt: skip
    local.discord.state.cdn._now = lambda: local.discord.state.now() + 25 * 3600  # pyright: ignore[reportPrivateUsage]  # a day passes
    assert (await fetched(local, url))[0] == 404
    _, refreshed, _ = await local.ask(
        "POST", "/attachments/refresh-urls", {"attachment_urls": [url]}
    )
    fresh = refreshed["refreshed_urls"][0]
    assert (fresh["original"], await fetched(local, fresh["refreshed"])) == (url, (200, PNG))


async def test_files_in_embeds_and_components_get_urls(local: Running) -> None:
    in_embed = await upload(
        local, {"a.png": PNG, "b.txt": b"b"}, {"embeds": [{"image": {"url": "attachment://a.png"}}]}
    )
    image = in_embed["embeds"][0]["image"]
    assert [a["filename"] for a in in_embed["attachments"]] == ["b.txt"]
    assert (image["width"], image["height"], "attachment_id" in image) == (64, 64, False)
    assert await fetched(local, image["url"]) == (200, PNG)

    newer = await upload(
        local, {"a.png": PNG, "b c.pdf": b"%PDF-1.4"},
        {"flags": V2, "components": [
            {"type": 12, "items": [{"media": {"url": "attachment://a.png"}}]},
            {"type": 13, "file": {"url": "attachment://b c.pdf"}, "spoiler": True},
        ]},
    )  # fmt: skip
    media, file = newer["components"][0]["items"][0]["media"], newer["components"][1]
    ids = [a["id"] for a in newer["attachments"]]
    assert [media["attachment_id"], file["file"]["attachment_id"]] == ids
    assert (media["content_type"], file["name"], file["size"]) == ("image/png", "b_c.pdf", 8)
    assert await fetched(local, file["file"]["url"]) == (200, b"%PDF-1.4")

    without = await local.ask(
        "PATCH", f"/channels/{local.channel}/messages/{in_embed['id']}", {"embeds": []}
    )
    assert [a["filename"] for a in without[1]["attachments"]] == ["a.png", "b.txt"]


async def test_an_edit_keeps_only_the_files_that_it_lists(local: Running) -> None:
    message = await upload(local, {"1.txt": b"1", "2.txt": b"2"}, {"content": "x"})
    first_id, second_id = (a["id"] for a in message["attachments"])
    path = f"/channels/{local.channel}/messages/{message['id']}"

    _, edited_message, _ = await local.ask("PATCH", path, {"content": "y"})
    _, fewer, _ = await local.ask("PATCH", path, {"attachments": [{"id": second_id}]})
    more = await upload(
        local, {"3.txt": b"3"}, {"attachments": [{"id": second_id}, {"id": 0}]}, path
    )
    _, refused, _ = await local.ask("PATCH", path, {"attachments": [{"id": first_id}]})

    assert [len(m["attachments"]) for m in (edited_message, fewer)] == [2, 1]
    assert [a["filename"] for a in more["attachments"]] == ["2.txt", "3.txt"]
    assert (
        refused["errors"]["attachments"]["0"]["id"]["_errors"][0]["code"] == "ATTACHMENT_NOT_FOUND"
    )


async def test_discord_py_posts_files_and_reads_them_again(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        embed = discord.Embed(title="Look").set_image(url="attachment://a.png")
        sent = await channel.send(
            embed=embed, file=discord.File(io.BytesIO(PNG), "a.png", description="a face")
        )
        secret = await channel.send(file=discord.File(io.BytesIO(b"x"), "s.txt", spoiler=True))
        webhook = await channel.create_webhook(name="relay")
        relayed = await webhook.send(
            "from afar", username="Zoë", files=[discord.File(io.BytesIO(b"hi"), "hi.txt")],
            wait=True,
        )  # fmt: skip
        await until(lambda: len(bot.messages) == 3)

        assert sent.embeds[0].image.url
        assert await fetched(local, sent.embeds[0].image.url) == (200, PNG)
        assert (secret.attachments[0].filename, secret.attachments[0].is_spoiler()) == (
            "SPOILER_s.txt", True,
        )  # fmt: skip
        assert await relayed.attachments[0].read() == b"hi"
        assert [len(m.attachments) for m in bot.messages] == [0, 1, 1]


async def test_discord_py_posts_a_layout_view(local: Running) -> None:
    class Card(discord.ui.LayoutView):
        box = discord.ui.Container(
            discord.ui.TextDisplay("# Hello"),
            discord.ui.Section("text", accessory=discord.ui.Thumbnail("attachment://a.png")),
            discord.ui.Separator(spacing=discord.SeparatorSpacing.large),
            discord.ui.File("attachment://a.png"),
            discord.ui.ActionRow(discord.ui.Button(label="Go", custom_id="go")),
            accent_colour=0x00FF00,
        )

    async with local.program(bot := a_client()):
        channel = text_channel(bot, local.channel)
        sent = await channel.send(view=Card(), file=discord.File(io.BytesIO(PNG), "a.png"))
        read = await channel.fetch_message(sent.id)

    view = discord.ui.LayoutView.from_message(read)
    assert read.flags.components_v2
    assert [type(item).__name__ for item in view.walk_children()] == [
        "Container", "TextDisplay", "Section", "TextDisplay", "Thumbnail", "Separator", "File",
        "ActionRow", "Button",
    ]  # fmt: skip


async def test_a_poll_is_voted_on_and_ended(local: Running) -> None:
    async with local.program(bot := Recorder()):
        votes: list[tuple[str, int]] = []
        bot.on_raw_poll_vote_add = _noting(votes, "add")  # type: ignore[attr-defined]
        bot.on_raw_poll_vote_remove = _noting(votes, "remove")  # type: ignore[attr-defined]
        channel = text_channel(bot, local.channel)
        poll_question = discord.Poll("Lunch?", duration=datetime.timedelta(hours=2))
        poll_question.add_answer(text="pizza", emoji="🍕").add_answer(text="pasta")
        sent = await channel.send(poll=poll_question)
        await user_of(local).choose(str(sent.id), "poll", "pizza")
        await user_of(local).choose(str(sent.id), "poll", "2")
        await until(lambda: len(votes) == 3)
        path = f"/channels/{local.channel}/polls/{sent.id}"
        _, voters, _ = await local.ask("GET", f"{path}/answers/2")
        _, ended, _ = await local.ask("POST", f"{path}/expire")
        status, wrong, _ = await local.ask(
            "POST", f"/channels/{local.channel}/polls/{(await local.say('no poll')).id}/expire"
        )

    assert votes == [("add", 1), ("remove", 1), ("add", 2)]
    assert [user["id"] for user in voters["users"]] == [local.person]
    assert ended["poll"]["results"] == {
        "is_finalized": True, "answer_counts": [{"id": 2, "count": 1, "me_voted": False}],
    }  # fmt: skip
    assert (status, wrong["code"]) == (400, 520006)
    assert sent.poll
    assert sent.poll.expires_at


def _noting(votes: list[tuple[str, int]], kind: str) -> Any:
    async def note(payload: discord.RawPollVoteActionEvent) -> None:
        votes.append((kind, payload.answer_id))

    return note


async def test_programs_receive_files_that_people_share(local: Running) -> None:
    async with local.program(bot := Recorder()):
        posted_message = await user_of(local).post_files(
            [
                FileUpload(name="a.png", data=PNG, alt="a face"),
                FileUpload(name="b.bin", data=b"\0\1", spoiler=True),
            ],
            text="look",
        )  # fmt: skip
        await until(lambda: bot.messages)
        first, second = bot.messages[0].attachments
        read = [await first.read(), await second.read()]

    assert (posted_message.text, bot.messages[0].content, read) == ("look", "look", [PNG, b"\0\1"])
    assert (first.description, first.width, second.is_spoiler()) == ("a face", 64, True)
    with pytest.raises(InvalidData):
        await user_of(local).post_files([])
    with pytest.raises(InvalidData):
        await user_of(local).post_file("big", bytes((10 << 20) + 1))


async def test_without_the_content_intent_rich_content_of_others_is_hidden(local: Running) -> None:
    await post(local, {"poll": poll()})
    await post(local, {"embeds": [{"title": "T"}]})

    _, messages, _ = await local.ask("GET", f"/channels/{local.channel}/messages", app="narrow")

    assert [(m["embeds"], m["components"], "poll" in m) for m in messages] == [([], [], False)] * 2


async def test_requested_faults_break_file_downloads(local: Running) -> None:
    message = await upload(local, {"1.txt": b"1"}, {"content": "x"})
    url = message["attachments"][0]["url"]
    local.context.faults.add(Fault(kind="status", where="discord:cdn:*", status=503))
    local.context.faults.add(Fault(kind="status", where="discord:message.create:*", status=502))

    assert (await fetched(local, url))[0] == 503
    assert await upload(local, {"2.txt": b"2"}, {"content": "x"}) == {
        "message": "502: Bad Gateway", "code": 0,
    }  # fmt: skip
    assert (await fetched(local, url))[0] == 200
    assert local.context.files.bytes == 1


async def test_plain_text_skips_the_rich_content_checks(
    local: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_more: Any) -> None:
        raise AssertionError

    for name in ("read_embeds", "read_components", "read_files", "read_poll"):
        monkeypatch.setattr(f"connectors.discord.sandbox.drafts.{name}", fail)
    monkeypatch.setattr("connectors.discord.sandbox.shapes.rich_json", fail)

    await post(local, {"content": "plain"})

    assert local.texts() == ["plain"]


def test_the_component_helpers_make_valid_rows() -> None:
    assert old(row(menu(option())))["components"][0]["type"] == 1
