"""People on the local IRC write, react, redact, come and go; the feed tells what they see."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.faults import Fault
from bridge.sandbox.platform import SandboxContext, Starts, TakesNewcomers
from connectors.irc import connector_type
from connectors.irc.sandbox import LOCAL, LocalIrc
from connectors.irc.sandbox.text import action_in, multiline_of, without_codes

PLACE = ("harbour", "#general")


@pytest.fixture
async def context() -> SandboxContext:
    return SandboxContext(base_url="http://127.0.0.1:0", channels=2)


@pytest.fixture
async def irc(context: SandboxContext) -> AsyncIterator[LocalIrc]:
    local = LOCAL.build(context)
    assert isinstance(local, LocalIrc)
    await local.start()
    yield local
    await local.close()


class Reader:
    """A plain client of the first network that reads lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *lines: str) -> None:
        self.writer.write("".join(f"{line}\r\n" for line in lines).encode())

    async def line(self, part: str) -> str:
        """The next line with `part` in it."""
        async with asyncio.timeout(10):
            while part not in (line := (await self.reader.readline()).decode().rstrip("\r\n")):
                assert line
        return line


@pytest.fixture
async def reader(irc: LocalIrc) -> AsyncIterator[Reader]:
    app = irc.world().apps[0]
    client = Reader(*await asyncio.open_connection(app["host"], app["port"]))
    client.send("NICK reader", "USER reader 0 * :reader", "JOIN #general")
    await client.line(" 366 ")
    yield client
    client.writer.close()
    await asyncio.gather(client.writer.wait_closed(), return_exceptions=True)


def test_the_connector_type_has_settings_for_each_network_of_its_local_platform() -> None:
    local = LOCAL.build(SandboxContext(base_url="http://127.0.0.1:0"))
    settings = [connector_type.sandbox_settings(app, "") for app in local.world().apps]

    assert connector_type.local_platform() is LOCAL
    assert isinstance(local, Starts)
    assert isinstance(local, TakesNewcomers)
    assert [setting["network"] for setting in settings] == ["harbour", "meadow"]
    for setting in settings:
        connector_type.settings.model_validate({**setting, "port": 6667})


async def test_each_server_listens_on_the_first_free_port_of_those_that_the_sandbox_names() -> None:
    with socket.socket() as taken, socket.socket() as free:
        for listener in (taken, free):
            listener.bind(("127.0.0.1", 0))
        taken.listen()
        ports = [listener.getsockname()[1] for listener in (taken, free)]
        local = LOCAL.build(SandboxContext(base_url="http://127.0.0.1:0", server_ports=ports))
        assert isinstance(local, LocalIrc)
        free.close()
        await local.start()
        first, second = (app["port"] for app in local.world().apps)
        await local.close()

    assert first == ports[1]
    assert second not in (0, *ports)


async def test_the_seeded_networks_have_the_channels_and_people_of_the_sandbox(
    irc: LocalIrc,
) -> None:
    world = irc.world()

    assert {place.workspace for place in world.places} == {"harbour", "meadow"}
    assert [place.channel for place in world.places] == ["#general", "#random"] * 2
    assert "mika" in [person.id for person in world.people]
    assert world.apps[0]["port"] not in (0, world.apps[1]["port"])


async def test_a_persons_message_is_delivered_and_listed(irc: LocalIrc, reader: Reader) -> None:
    shown = await irc.post_as(*PLACE, "mika", "hello \x02all\x02")

    assert "PRIVMSG #general :hello \x02all\x02" in await reader.line("PRIVMSG")
    assert irc.messages(*PLACE) == [shown]
    assert (shown.author, shown.bot, shown.raw["text"]) == ("mika", False, "hello \x02all\x02")


async def test_a_post_of_several_lines_is_one_message_and_a_long_line_is_not_cut(
    irc: LocalIrc,
) -> None:
    text = "first\n" + "long " * 150

    shown = await irc.post_as(*PLACE, "mika", text)

    assert shown.text == text
    assert irc.server("harbour").truncated == 0
    assert [concat for _, concat in multiline_of(text)] == [False, False, True]


async def test_a_reply_names_the_message_that_it_answers(irc: LocalIrc) -> None:
    root = await irc.post_as(*PLACE, "mika", "who?")

    reply = await irc.post_as(*PLACE, "ines", "me", root.id)

    assert reply.raw["tags"] == {"+reply": root.id}
    with pytest.raises(NotFound):
        await irc.post_as(*PLACE, "ines", "me", "m999999")


async def test_an_action_is_shown_as_its_text(irc: LocalIrc) -> None:
    shown = await irc.me_as(*PLACE, "mika", "waves")

    assert (shown.text, action_in(shown.raw["text"])) == ("waves", "waves")


async def test_a_reaction_is_listed_until_its_removal(
    irc: LocalIrc, context: SandboxContext
) -> None:
    root = await irc.post_as(*PLACE, "mika", "like it?")
    changes = aiter(context.feed.watch())
    first = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    await irc.react_as(*PLACE, "ines", root.id, "👍")
    await irc.react_as(*PLACE, "yara", root.id, "👍")
    await irc.unreact_as(*PLACE, "ines", root.id, "👍")
    await irc.unreact_as(*PLACE, "ines", root.id, "👍")  # nothing to take back

    kinds = [(await first).kind, (await anext(changes)).kind, (await anext(changes)).kind]
    assert irc.messages(*PLACE)[0].reactions == {"👍": ("yara",)}
    assert kinds == ["marked"] * 3


async def test_people_redact_only_their_own_messages_and_cannot_edit_or_pin(irc: LocalIrc) -> None:
    root = await irc.post_as(*PLACE, "ines", "oops")

    with pytest.raises(Refused):
        await irc.delete_as(*PLACE, "tomas", root.id)
    with pytest.raises(Refused):
        await irc.edit_as(*PLACE, "ines", root.id, "better")
    with pytest.raises(Refused):
        await irc.pin_as(*PLACE, "ines", root.id)
    await irc.delete_as(*PLACE, "ines", root.id)

    assert irc.messages(*PLACE) == []


async def test_people_leave_join_and_set_the_topic(irc: LocalIrc, reader: Reader) -> None:
    await irc.set_topic_as(*PLACE, "mika", "lunch")
    await irc.leave_as(*PLACE, "ines")
    with pytest.raises(Refused):
        await irc.post_as(*PLACE, "ines", "am I here?")
    await irc.join_as(*PLACE, "ines")
    irc.add_person("newcomer")

    assert "TOPIC #general :lunch" in await reader.line("TOPIC")
    assert "ines!" in await reader.line("PART")
    assert "ines!" in await reader.line("JOIN")
    assert "newcomer!" in await reader.line("JOIN")


async def test_input_that_no_server_accepts_is_refused(irc: LocalIrc) -> None:
    for text in ("", "\r\0", "x" * 5000):
        with pytest.raises(InvalidData):
            await irc.post_as(*PLACE, "mika", text)
    with pytest.raises(InvalidData):
        await irc.set_topic_as(*PLACE, "mika", "x" * 400)
    with pytest.raises(InvalidData):
        irc.add_person("no nick")
    with pytest.raises(NotFound):
        await irc.post_as("nowhere", "#general", "mika", "hello")
    with pytest.raises(NotFound):
        await irc.post_as("harbour", "#nowhere", "mika", "hello")
    with pytest.raises(NotFound):
        await irc.post_as(*PLACE, "nobody", "hello")


async def test_a_shared_fault_happens_to_the_message_of_an_app(
    irc: LocalIrc, context: SandboxContext, reader: Reader
) -> None:
    context.faults.add(Fault(kind="status", where="irc:PRIVMSG:#general"))

    reader.send("PRIVMSG #general :refused", "PRIVMSG #general :taken")

    assert " 404 " in await reader.line(" 404 ")
    await irc.post_as(*PLACE, "mika", "after it")
    await reader.line("after it")
    assert [shown.text for shown in irc.messages(*PLACE)] == ["taken", "after it"]


async def test_closing_it_ends_every_connection_and_may_be_repeated(
    irc: LocalIrc, reader: Reader
) -> None:
    await irc.close()
    await irc.close()

    async with asyncio.timeout(10):
        assert await reader.reader.read() == b"" or reader.reader.at_eof()


def test_formatting_codes_are_removed_from_text() -> None:
    assert without_codes("\x0304,01red\x03 \x02bold\x02 \x04ff0000hex\x0f") == "red bold hex"
