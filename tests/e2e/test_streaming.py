"""Answers that grow on the local platforms, with all their limits on."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bridge.app.translation.translate import translate
from bridge.content.markdown import markdown_to_text
from bridge.content.text.plain import text_to_plain
from bridge.model.turns import AgentEvent, AgentInput, PlanStep, TextDelta, Turn, TurnDone
from bridge.sandbox.feed import Change, LocalMessage
from bridge.uacs import Message, TextPart
from tests.benchmarks import streams
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.processes import SandboxProcess, Spot, bridge_beside, rooms_across, sandbox_beside

# Without IRC: the bridge posts an answer on IRC once, when it is whole.
PLATFORMS = ("slack", "discord", "teams")
BYLINE = "**echo**\n\n"  # above what somebody says on Teams


def words(length: int) -> str:
    """Paragraphs with a little of everything that is half written now and then."""
    written = [
        f"Paragraph {n} says **this much** and `that`, see [page {n}](https://a.example/{n})."
        for n in range(length // 70)
    ]
    return "\n\n".join(written)[:length].rsplit("\n\n", 1)[0]


class Writer:
    """Says a text in pieces, as fast as a model does; a piece that has a gate waits for it."""

    name = "echo"

    def __init__(self, text: str, *, pieces: int, seconds: float) -> None:
        size = -(-len(text) // pieces)
        self.pieces = [text[at : at + size] for at in range(0, len(text), size)]
        self.pause = seconds / pieces
        self.began = self.ended = 0.0
        self.gates: dict[int, Callable[[], bool]] = {}

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del turn, inputs
        self.began = asyncio.get_running_loop().time()
        yield PlanStep(id="1", title="Write it down", status="in_progress")
        for number, piece in enumerate(self.pieces):
            while number in self.gates and not self.gates[number]():  # noqa: ASYNC110 - as `until`
                await asyncio.sleep(0.01)
            self.ended = asyncio.get_running_loop().time()
            yield TextDelta(text=piece)
            await asyncio.sleep(self.pause)
        yield TurnDone()


@dataclass
class Seen:
    """When the answer was first seen on each platform, and in how many steps."""

    first: dict[str, float] = field(default_factory=dict[str, float])
    steps: dict[str, int] = field(default_factory=dict[str, int])

    def see(self, change: Change) -> None:
        message = change.message
        if "Paragraph" in message.text:
            self.first.setdefault(message.platform, asyncio.get_running_loop().time())
            self.steps[message.platform] = self.steps.get(message.platform, 0) + 1


@asynccontextmanager
async def watching(sandbox: Sandbox) -> AsyncGenerator[Seen, None]:
    recorder = Seen()

    async def watch() -> None:
        async for change in sandbox.context.feed.watch():
            recorder.see(change)

    task = asyncio.create_task(watch())
    try:
        yield recorder
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def with_personal_chat(sandbox: Sandbox, settings: dict[str, Any]) -> str:
    """The room of the personal chat alone; the chat's id."""
    teams = sandbox.platforms["teams"]
    person = teams.world().people[0].id
    chat: str = teams.personal_chat("bridge", person)  # type: ignore[attr-defined]
    workspace = teams.world().people[0].workspace
    member = {"account": "teams", "workspace": workspace, "channel": chat}
    settings["rooms"]["chat"] = {
        "members": [member],
        "agents": [{"agent": "echo", "listen": "always", "allow": ["**"]}],
    }  # fmt: skip
    return chat


def answers(messages: Sequence[LocalMessage]) -> list[LocalMessage]:
    return [message for message in messages if "Paragraph" in message.text]


def paragraphs(messages: Sequence[LocalMessage]) -> list[int]:
    """The numbers of the paragraphs in the order in which they stand there."""
    text = "\n".join(answer.text for answer in answers(messages))
    return [int(piece.split(" ", 1)[0]) for piece in text.split("Paragraph ")[1:]]


def limit_errors(sandbox: Sandbox) -> dict[str, int]:
    refused = ("429", "40", "not_in_streaming", "too_long", "conflict", "invalid")
    refusals = sandbox.context.feed.refusals
    return {
        what: count for what, count in refusals.items() if any(word in what for word in refused)
    }


def plain_words(messages: Sequence[LocalMessage]) -> list[str]:
    """The words that stand there, as our own reader of the platform understands them."""
    words: list[str] = []
    for answer in answers(messages):
        (message,) = translate(answer.raw, source=answer.platform, target="uacs").messages
        parts = Message.model_validate(message).content
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        words += text_to_plain(markdown_to_text("\n\n".join(texts).removeprefix(BYLINE))).split()
    return words


def whole(sandbox: Sandbox, text: str, platform: str) -> Callable[[], bool]:
    """Whether it stands there word by word; Teams marks it."""
    numbers = list(range(text.count("Paragraph ")))
    expected_words = [*expected(text), *(["AI", "generated"] if platform == "teams" else [])]

    def stands() -> bool:
        messages = sandbox.standing(platform, "general")
        return paragraphs(messages) == numbers and plain_words(messages) == expected_words

    return stands


def expected(text: str) -> list[str]:
    """The words of a Markdown text; an agent's link says where it leads."""
    open_links = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (\2)", text)
    return text_to_plain(markdown_to_text(open_links)).split()


async def test_a_long_answer_arrives_whole_everywhere_without_breaking_a_limit(
    tmp_path: Path,
) -> None:
    text = words(6_000)
    agent = Writer(text, pieces=100, seconds=2.5)
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        async with running(sandbox, settings) as (bridge, _), watching(sandbox) as recorder:
            bridge.agents["echo"] = agent
            for fifth in range(1, 5):  # each is said when all have seen the one before grow

                def has_grown(steps: int = fifth) -> bool:
                    return all(recorder.steps.get(platform, 0) >= steps for platform in PLATFORMS)

                agent.gates[20 * fifth] = has_grown
            root = await sandbox.say("slack", "general", "hello")
            await sandbox.say("slack", "general", "@echo write", thread=root)
            for platform in PLATFORMS:
                await sandbox.until(whole(sandbox, text, platform))

            raw = [message.raw for message in sandbox.standing("slack", "general")]
            errors = limit_errors(sandbox)

    assert errors == {}
    assert all(recorder.steps[platform] > 3 for platform in PLATFORMS)
    assert all(recorder.first[platform] < agent.ended for platform in PLATFORMS)
    streamed = [message["streaming_state"] for message in raw if "streaming_state" in message]
    assert streamed == ["completed"] * len(streamed) != []


async def test_an_answer_in_a_chat_of_teams_is_a_native_stream(tmp_path: Path) -> None:
    text = words(3_000)
    agent = Writer(text, pieces=60, seconds=3.2)
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        chat = with_personal_chat(sandbox, settings)
        async with running(sandbox, settings) as (bridge, _), watching(sandbox) as recorder:
            bridge.agents["echo"] = agent
            teams = sandbox.platforms["teams"]
            who = teams.world().people[0]
            await teams.post_as(who.workspace, chat, who.id, "write")
            numbers = list(range(text.count("Paragraph ")))
            await sandbox.until(lambda: paragraphs(teams.messages(who.workspace, chat)) == numbers)
            await sandbox.until(lambda: "final" in str(teams.messages(who.workspace, chat)[-1].raw))

            errors = limit_errors(sandbox)

    assert errors == {}
    assert recorder.steps["teams"] >= 3


@pytest.mark.parametrize("platform", ["slack", "teams"])
async def test_a_person_stops_a_growing_answer(platform: str, tmp_path: Path) -> None:
    agent = Writer(words(20_000), pieces=2_000, seconds=60.0)
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        chat = with_personal_chat(sandbox, settings)
        local = sandbox.platforms[platform]
        who = local.world().people[0]
        async with running(sandbox, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            if platform == "slack":
                workspace, chat = sandbox.place("slack", "general")
                root = await sandbox.say("slack", "general", "hello")
                await sandbox.say("slack", "general", "@echo write", thread=root)
            else:
                workspace = who.workspace
                await local.post_as(workspace, chat, who.id, "write")
            await sandbox.until(lambda: bool(answers(local.messages(workspace, chat))))
            answer = answers(local.messages(workspace, chat))[0]

            await local.stop_as(workspace, chat, who.id, answer.id)  # type: ignore[attr-defined]
            await sandbox.until(lambda: bridge.router.parts.turns.queue.idle)
            await sandbox.until(lambda: bridge.router.parts.outbound.lanes.idle)

            messages = answers(local.messages(workspace, chat))

    assert len(messages) == 1
    assert len(messages[0].text) < 3_000
    if platform == "slack":
        assert "stopped" in messages[0].text


@pytest.mark.timeout(180)
async def test_a_kill_in_the_middle_of_an_answer_leaves_one_whole_answer(tmp_path: Path) -> None:
    async with sandbox_beside(channels=1) as local:
        parts, (room, *_) = rooms_across(local)
        membership = {"agent": "echo", "listen": "mentions"}
        rooms = {
            name: {**room_settings, "agents": [membership]}
            for name, room_settings in parts["rooms"].items()
        }
        agents = {"echo": {"kind": "echo", "pace": 0.12}}
        store = {"path": str(tmp_path / "b.sqlite3")}
        settings = {**parts, "rooms": rooms, "agents": agents, "store": store}
        slack = next(spot for spot in room if spot.platform == "slack")
        async with bridge_beside(local, settings, tmp_path) as bridge:
            await bridge.start()
            await bridge.connected(60)
            root = await local.say(slack, slack.people[0], "hello")
            await local.say(slack, slack.people[0], "@echo what was said?", root.id)
            # A post to Teams that is under way at the kill would stay unproved, and not be shown.
            # The bridge edits it only when it knows that it stands.
            others = [spot for spot in room if spot != slack]
            while not all([await edited(local, spot) for spot in others]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await bridge.kill()
            left = await growing(local, slack)
            await bridge.start()
            await bridge.connected(60)
            async with asyncio.timeout(60):
                while not all([await ended(local, spot) for spot in room]):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            messages = {spot.platform: await local.standing(spot) for spot in room}

    assert left
    for in_channel in messages.values():
        assert (
            len([message for message in in_channel if "this is what reached me" in message.text])
            == 1
        )
    assert not [
        message
        for message in messages["slack"]
        if message.raw.get("streaming_state") == "in_progress"
    ]


async def growing(local: SandboxProcess, spot: Spot) -> bool:
    messages = await local.standing(spot)
    return any(message.raw.get("streaming_state") == "in_progress" for message in messages)


async def edited(local: SandboxProcess, spot: Spot) -> bool:
    return any(message.edited for message in await local.standing(spot))


async def ended(local: SandboxProcess, spot: Spot) -> bool:
    messages = await local.standing(spot)
    return any(
        "my answer is shown on" in message.text and "Teams" in message.text.title()
        for message in messages
    )


@pytest.mark.timeout(120)
async def test_turns_side_by_side_in_two_workspaces_all_end() -> None:
    result = await streams.measure(streams.QUICK, patience=60)

    assert result["whole"] == streams.QUICK.turns
    assert not [what for what in result["refused"] if "chat." in what]


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("size", [streams.FULL, streams.ONE_WORKSPACE])
async def test_a_hundred_turns_side_by_side_all_end(size: streams.Size) -> None:
    result = await streams.measure(size, patience=400)

    print(result)
    assert result["whole"] == size.turns
    assert not [what for what in result["refused"] if "chat." in what]


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_20000_characters_arrive_whole_everywhere(tmp_path: Path) -> None:
    text = words(20_000)
    agent = Writer(text, pieces=1_000, seconds=45.0)
    async with local_sandbox(channels=1) as local:
        settings = configuration(local, tmp_path / "b.sqlite3", channels=["general"])
        async with running(local, settings) as (bridge, _), watching(local) as recorder:
            bridge.agents["echo"] = agent
            root = await local.say("slack", "general", "hello")
            await local.say("slack", "general", "@echo write", thread=root)
            for platform in PLATFORMS:
                await local.until(whole(local, text, platform), 200)
                print(platform, recorder.first[platform] - agent.began, recorder.steps[platform],
                      asyncio.get_running_loop().time() - agent.ended)  # fmt: skip
            errors = limit_errors(local)

    assert errors == {}
