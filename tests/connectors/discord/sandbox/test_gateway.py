"""Gateway sessions: identify, intents, resume, expiry, and refused frames."""

from __future__ import annotations

import asyncio
import zlib
from typing import Any

import aiohttp
import discord
import orjson
import pytest

from tests.connectors.discord.sandbox.running import READY_AFTER_S, Running, a_client, until
from tests.connectors.discord.sandbox.test_plain_programs import Recorder
from tests.waiting import LONGEST_WAIT

GUILD_MESSAGES = 1 << 9
MESSAGE_CONTENT = 1 << 15


class Sessions(Recorder):
    """Counts its ready and resumed events."""

    async def on_ready(self) -> None:
        self.events.append("ready")

    async def before_identify_hook(self, *_: Any, **__: Any) -> None:
        """discord.py waits five seconds here before it identifies again."""

    async def on_resumed(self) -> None:
        self.events.append("resumed")


class Socket:
    """A bare gateway client."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws

    @classmethod
    async def open(cls, local: Running, query: str = "?v=10&encoding=json") -> Socket:
        return cls(await local.http.ws_connect(f"{local.context.base_url}/discord/gateway{query}"))

    async def ask(self, op: int, data: Any) -> None:
        await self.ws.send_json({"op": op, "d": data})

    async def next(self, op: int | None = None, name: str | None = None) -> dict[str, Any]:
        """Return the next frame, or the next with this op or dispatch name."""
        async with asyncio.timeout(LONGEST_WAIT):
            while True:
                frame: dict[str, Any] = await self.ws.receive_json()
                if op in (None, frame["op"]) and name in (None, frame["t"]):
                    return frame

    async def close_code(self) -> int | None:
        async with asyncio.timeout(LONGEST_WAIT):
            while not self.ws.closed:
                await self.ws.receive()
        return self.ws.close_code

    async def identify(self, token: str, intents: int = GUILD_MESSAGES) -> dict[str, Any]:
        await self.ask(2, {"token": token, "intents": intents, "properties": {}})
        return (await self.next(name="READY"))["d"]


@pytest.mark.parametrize("reason", ["", "reconnect"])
async def test_a_cut_socket_resumes_without_missing_messages(local: Running, reason: str) -> None:
    async with local.program(bot := Sessions()):
        await local.say("before")
        await local.discord.disconnect(reason)
        for number in range(20):
            await local.say(f"while away {number}")
        await until(lambda: len(bot.messages) == 21 and "resumed" in bot.events)
        await local.say("after")
        await until(lambda: len(bot.messages) == 22)

    assert [m.content for m in bot.messages] == local.texts()
    assert bot.events == ["ready", "resumed"]


async def test_an_invalidated_session_starts_again_and_misses_messages(
    local: Running,
) -> None:
    async with local.program(bot := Sessions()):
        await local.say("before")
        await until(lambda: bot.messages)
        await local.discord.disconnect("invalidate")
        await local.say("while away")
        await until(lambda: bot.events == ["ready", "ready"], 10)
        await local.say("after")
        await until(lambda: len(bot.messages) == 2)

    assert [m.content for m in bot.messages] == ["before", "after"]


async def test_a_wrong_token_fails_the_login(local: Running) -> None:
    client = a_client()
    try:
        with pytest.raises(discord.LoginFailure):
            await client.start("local-wrong.not-a-token")
    finally:
        await client.close()


async def test_an_intent_that_was_not_granted_is_refused(local: Running) -> None:
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with local.program(a_client(), "narrow"):
            pass


async def test_without_the_content_intent_only_own_messages_and_mentions_have_text(
    local: Running,
) -> None:
    intents = discord.Intents.default()
    client = Recorder(intents)
    async with local.program(client, "narrow"):
        assert client.user is not None
        await local.say("secret")
        await local.say(f"<@{client.user.id}> open")
        channel = client.get_channel(int(local.channel))
        assert isinstance(channel, discord.TextChannel)
        await channel.send("mine")
        await local.discord.post_as("@me", str(client.user.id), local.person, "in private")
        await until(lambda: len(client.messages) == 4)

        history = [m.content async for m in channel.history()]

    assert [m.content for m in client.messages] == [
        "", f"<@{client.user.id}> open", "mine", "in private",
    ]  # fmt: skip
    assert history == ["mine", f"<@{client.user.id}> open", ""]


async def test_a_channel_without_access_sends_no_events_and_refuses_posts(local: Running) -> None:
    hidden = local.app()["no_access"][local.guild]
    owner = local.discord.world().people[0].id
    async with local.program(bot := Recorder()):
        await local.discord.post_as(local.guild, hidden, owner, "among us")
        await local.say("for all")
        await until(lambda: bot.messages)

        with pytest.raises(discord.Forbidden) as refused:
            await bot.fetch_channel(int(hidden))

    assert refused.value.code == 50001
    assert [m.content for m in bot.messages] == ["for all"]


async def test_members_are_sent_on_request(local: Running) -> None:
    intents = discord.Intents.all()
    intents.presences = False
    client = discord.Client(
        intents=intents, chunk_guilds_at_startup=False, guild_ready_timeout=READY_AFTER_S
    )
    async with local.program(client):
        guild = client.guilds[0]
        before = [m.name for m in guild.members]
        members = await guild.query_members("Ch")
        await guild.chunk()

        assert before == ["bridge"]
        assert [m.display_name for m in members] == ["Chen Wei"]
        assert len(guild.members) == 7


async def test_frames_are_compressed_when_the_url_requests_it(local: Running) -> None:
    socket = await Socket.open(local, "?v=10&encoding=json&compress=zlib-stream")
    inflate = zlib.decompressobj()

    first = await socket.ws.receive_bytes()
    await socket.ask(1, None)
    second = await socket.ws.receive_bytes()

    assert first.endswith(b"\x00\x00\xff\xff")
    assert orjson.loads(inflate.decompress(first))["op"] == 10
    assert orjson.loads(inflate.decompress(second))["op"] == 11
    await socket.ws.close()


async def test_an_unknown_session_cannot_resume(local: Running) -> None:
    socket = await Socket.open(local)
    await socket.ask(6, {"token": local.app()["token"], "session_id": "never", "seq": 1})

    assert (await socket.next(op=9))["d"] is False
    await socket.ws.close()


async def test_a_session_closed_by_its_client_cannot_resume(local: Running) -> None:
    token = local.app()["token"]
    first = await Socket.open(local)
    ready = await first.identify(token)
    await first.ws.close(code=1000)
    gateway = local.discord._gateway  # pyright: ignore[reportPrivateUsage]  # no public access
    await until(lambda: gateway.session(ready["session_id"]) is None)

    second = await Socket.open(local)
    await second.ask(6, {"token": token, "session_id": ready["session_id"], "seq": 1})

    assert (await second.next(op=9))["d"] is False
    await second.ws.close()


async def test_a_lost_session_resumes_after_its_last_dispatch(local: Running) -> None:
    token = local.app()["token"]
    first = await Socket.open(local)
    ready = await first.identify(token, GUILD_MESSAGES | MESSAGE_CONTENT)
    await local.say("seen")
    last_frame = await first.next(name="MESSAGE_CREATE")
    await first.ws.close(code=4000)
    await local.say("missed")

    second = await Socket.open(local)
    await second.ask(
        6, {"token": token, "session_id": ready["session_id"], "seq": last_frame["s"]}
    )  # fmt: skip
    missed = await second.next(op=0)
    resumed = await second.next(op=0)

    assert (missed["s"], missed["d"]["content"]) == (last_frame["s"] + 1, "missed")
    assert (resumed["s"], resumed["t"]) == (last_frame["s"] + 2, "RESUMED")
    await second.ws.close()


async def test_ready_has_a_local_url_for_resuming(local: Running) -> None:
    socket = await Socket.open(local)
    ready = await socket.identify(local.app()["token"])

    assert ready["resume_gateway_url"] == (
        local.context.base_url.replace("http", "ws") + "/discord/gateway"
    )
    assert [set(guild) for guild in ready["guilds"]] == [{"id", "unavailable"}] * 2
    await socket.ws.close()


FORBIDDEN: list[tuple[str, int, int]] = [  # frame, repetitions, close code
    ("{", 1, 4002),
    ("[]", 1, 4002),
    ('{"op": 2, "d": null}', 1, 4002),
    ('{"op": 99, "d": null}', 1, 4001),
    ('{"op": [], "d": null}', 1, 4001),
    ('{"op": 3, "d": {}}', 1, 4003),
    ('{"op": 2, "d": {"token": "wrong", "intents": 512}}', 1, 4004),
    ('{"op": 2, "d": {"token": "TOKEN"}}', 1, 4013),
    ('{"op": 2, "d": {"token": "TOKEN", "intents": 1073741824}}', 1, 4013),
    ('{"op": 2, "d": {"token": "TOKEN", "intents": 0}}', 2, 4005),
    ('{"op": 1, "d": null}', 121, 4008),
    ('{"op": 1, "d": "' + "x" * 4096 + '"}', 1, 4002),
]


async def test_an_invalid_frame_closes_the_socket(local: Running) -> None:
    closed: list[tuple[str, int, int | None]] = []
    for text, times, _ in FORBIDDEN:
        socket = await Socket.open(local)
        for _ in range(times):
            await socket.ws.send_str(text.replace("TOKEN", local.app()["token"]))
        closed.append((text, times, await socket.close_code()))

    assert closed == FORBIDDEN


async def test_an_old_version_is_refused(local: Running) -> None:
    socket = await Socket.open(local, "?v=6")

    assert await socket.close_code() == 4012
