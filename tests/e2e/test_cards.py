"""Cards, presses and files cross the platforms through the real SDKs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import SCHEMA_ID
from bridge.model import Call, Delivery, Encoded, MessageId
from bridge.model.turns import AgentEvent, AgentInput, MessageChanged, PartGiven, Turn, TurnDone
from bridge.ports.connector import Connector
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import FileUpload, LocalUser, TakesUserActions
from bridge.uacs import StructuredDataPart, TextPart
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

NODES: list[JsonValue] = [
    {"type": "fields", "items": [{"label": "Service", "value": "payments"}]},
    {"type": "divider"},
    {
        "type": "actions",
        "items": [
            {"type": "button", "label": "Ship it", "id": "ship", "value": 42},
            {"type": "button", "label": "Wait", "id": "wait"},
        ],
    },
]
CARD: dict[str, JsonValue] = {"type": "card"}
# Without IRC: cards of IRC are answered by numbers: see test_irc.py.
PLATFORMS = ("slack", "discord", "teams")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fccf"
    "c0f01f0005000201a2d4d5c90000000049454e44ae426082"
)


class Deployer:
    """Shows a card when it is mentioned; says what was pressed."""

    name = "echo"

    def __init__(self) -> None:
        self.presses: list[dict[str, Any]] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        first = turn.conversation.messages[-1].content[0]
        if isinstance(first, StructuredDataPart) and first.schema_id == SCHEMA_ID:
            pressed = orjson.loads(first.model_dump_json())["data"]
            self.presses.append(pressed)
            yield card(f"# Shipped {len(self.presses)}", message=pressed["message"])
        else:
            yield card("# Deploy 4.2?")
        yield TurnDone()


def card(head: str, message: str = "", *, bar: int | None = None) -> AgentEvent:
    """The card under this heading: said anew, or in the place of what was said before. `bar`: its
    color at the side, which Slack shows as an attachment."""
    nodes: list[JsonValue] = [head, *NODES]
    if bar is not None:
        nodes = [{"type": "container", "color": bar, "nodes": nodes}]
    part: JsonValue = {
        "type": "structured_data", "schema_id": "application/vnd.uacs.card+json",
        "data": {**CARD, "nodes": nodes},
    }  # fmt: skip
    if message:
        return MessageChanged(message=MessageId(message), parts=(part,))
    return PartGiven(part=part)


def raw_of(local: Sandbox, platform: str) -> list[str]:
    return [orjson.dumps(message.raw).decode() for message in local.standing(platform, "general")]


def with_words(local: Sandbox, platform: str, words: str) -> LocalMessage | None:
    messages = local.standing(platform, "general")
    return next(
        (message for message in messages if words in orjson.dumps(message.raw).decode()), None
    )


async def test_an_agents_card_is_shown_on_every_platform_and_receives_presses(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            agent = Deployer()
            bridge.agents["echo"] = agent
            await local.say("slack", "general", "please deploy")
            await local.until(
                lambda: all(with_words(local, platform, "Ship it") for platform in local.platforms)
            )

            for platform, local_user in hands(local).items():
                card = with_words(local, platform, "Ship it")
                assert card
                before = len(agent.presses)
                outcome = await local_user.press(card.id, "Ship it")
                assert outcome.sent, (platform, outcome)
                assert not outcome.failed, (platform, outcome)
                await local.until(lambda count=before: len(agent.presses) > count)
                assert (agent.presses[-1]["id"], agent.presses[-1]["value"]) == ("ship", 42)
                answer = f"Shipped {len(agent.presses)}"
                await local.until(
                    lambda words=answer: all(
                        with_words(local, platform, words) for platform in PLATFORMS
                    )
                )
                assert not any(with_words(local, platform, "Deploy 4.2?") for platform in PLATFORMS)

    assert len(agent.presses) == len(PLATFORMS)


class Turner:
    """Says something, and turns it into what it is asked for: a card, or words."""

    name = "echo"

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        answers = [
            message.message_id
            for message in turn.conversation.messages
            if message.actor.role == "assistant"
        ]
        question = turn.conversation.messages[-1].content[0]
        words: JsonValue = {"type": "text", "text": "Nothing but words."}
        if not answers:
            yield PartGiven(part=words)
        elif isinstance(question, TextPart) and "card" in question.text:
            yield card("# Deploy 4.2?", message=answers[0], bar=0xD00000)
        else:
            yield MessageChanged(message=MessageId(answers[0]), parts=(words,))
        yield TurnDone()


async def test_an_edit_turns_a_text_into_a_card_and_back(tmp_path: Path) -> None:
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = Turner()

            def stands(words: str, not_these: str) -> bool:
                texts = [" ".join(raw_of(local, platform)) for platform in PLATFORMS]
                return all(words in raw and not_these not in raw for raw in texts)

            await local.say("slack", "general", "say something")
            await local.until(lambda: stands("Nothing but words.", "Deploy 4.2?"))
            for _ in range(2):
                await local.say("slack", "general", "as a card")
                await local.until(lambda: stands("Deploy 4.2?", "Nothing but words."))
                assert all(with_words(local, platform, "Ship it") for platform in PLATFORMS)
                await local.say("slack", "general", "as words")
                await local.until(lambda: stands("Nothing but words.", "Deploy 4.2?"))
                assert not any(with_words(local, platform, "Ship it") for platform in PLATFORMS)


BROKEN: dict[str, dict[str, JsonValue]] = {
    "slack": {"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]},
    "discord": {"components": [{"type": 10, "content": ""}]},
    "teams": {"attachments": [{"content": {}}]},
}


async def test_a_card_that_the_platforms_refuse_is_posted_as_text(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = Deployer()
            for connector in bridge.connectors.values():
                spoil(connector)
            await local.say("slack", "general", "please deploy")
            await local.until(
                lambda: all(
                    with_words(local, platform, "Deploy 4.2?") for platform in local.platforms
                )
            )

            for platform in local.platforms:
                message = with_words(local, platform, "Deploy 4.2?")
                assert message
                assert all(words in message.text for words in ("Service", "payments", "Ship it"))
            assert await bridge.store.dead_letters() == []


def spoil(connector: Connector) -> None:
    """Into every rich body of this connector goes something that its platform refuses."""
    encode = connector.encode

    def spoiled(delivery: Delivery) -> Encoded:
        encoded = encode(delivery)
        return encoded.model_copy(update={"calls": tuple(map(spoiled_call, encoded.calls))})

    def spoiled_call(call: Call) -> Call:
        more = BROKEN.get(connector.capabilities.platform, {})  # a text cannot be broken so
        blocks = {
            name: [*listed, *added]
            for name, added in more.items()
            if isinstance(listed := call.body.get(name), list) and isinstance(added, list)
        }
        return call.model_copy(update={"body": {**call.body, **blocks}})

    connector.encode = spoiled  # type: ignore[method-assign]


def hands(local: Sandbox) -> dict[str, LocalUser]:
    """Somebody in the channel, on each platform where people can press."""
    users: dict[str, LocalUser] = {}
    for name, platform in local.platforms.items():
        if isinstance(platform, TakesUserActions):
            workspace, channel = local.place(name, "general")
            users[name] = LocalUser(platform, workspace, channel, local.person(name, workspace))
    return users


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_picture_that_a_person_posts_is_carried_as_a_file(
    tmp_path: Path, platform: str
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["files"] = {"allow_loopback": True}
        local_user = local.platforms[platform]
        if not isinstance(local_user, TakesUserActions):
            pytest.skip(f"nobody can share files on the local {platform} yet")
        async with running(local, settings):
            workspace, channel = local.place(platform, "general")
            file = FileUpload(name="cat.png", data=PIXEL, alt="a cat")
            person = local.person(platform, workspace)
            await local_user.post_files(workspace, channel, person, [file], "look at this")
            other = "discord" if platform == "slack" else "slack"
            name = "a cat" if platform == "teams" else "cat.png"  # there pictures have no name
            await local.until(lambda: with_words(local, other, name) is not None)
            await local.until(lambda: with_words(local, "teams", "a cat") is not None)

            assert any("look at this" in raw for raw in raw_of(local, other))


def in_personal_chat(local: Sandbox, settings: dict[str, Any]) -> tuple[str, LocalUser]:
    """Make the chat of a person with the bridge the room's member on Teams; return the person."""
    settings["files"] = {"allow_loopback": True}
    teams = local.platforms["teams"]
    workspace, _ = local.place("teams", "general")
    person = local.person("teams", workspace)
    chat: str = teams.personal_chat("bridge", person)  # type: ignore[attr-defined]
    members = settings["rooms"]["general"]["members"]
    next(member for member in members if member["account"] == "teams")["channel"] = chat
    assert isinstance(teams, TakesUserActions)
    return chat, LocalUser(teams, workspace, chat, person)


async def test_a_document_of_a_personal_chat_of_teams_is_carried_as_a_file(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        _, local_user = in_personal_chat(local, settings)
        async with running(local, settings):
            file = FileUpload(name="notes.txt", data=b"remember the milk")
            await local_user.post_files([file], text="look at this")
            for other in ("slack", "discord"):
                await local.until(
                    lambda name=other: with_words(local, name, "notes.txt") is not None
                )

            assert any("look at this" in raw for raw in raw_of(local, "slack"))
            assert any('"size":17' in raw.replace(" ", "") for raw in raw_of(local, "discord"))


@pytest.mark.parametrize("answer", ["Accept", "Decline"])
async def test_a_file_is_uploaded_to_a_personal_chat_of_teams_after_consent(
    tmp_path: Path, answer: str
) -> None:
    data = bytes(range(256)) * 5000
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        chat, local_user = in_personal_chat(local, settings)
        slack, teams = local.platforms["slack"], local.platforms["teams"]
        assert isinstance(slack, TakesUserActions)
        tenant, _ = local.place("teams", "general")

        def standing(words: str) -> LocalMessage | None:
            messages = teams.messages(tenant, chat)
            return next(
                (message for message in messages if words in orjson.dumps(message.raw).decode()),
                None,
            )

        async with running(local, settings):
            workspace, channel = local.place("slack", "general")
            person = local.person("slack", workspace)
            file = FileUpload(name="notes.bin", data=data)
            await local_user.post_files(
                [FileUpload(name="a.txt", data=b"so that the chat is known")]
            )
            await slack.post_files(workspace, channel, person, [file], "take this")
            await local.until(lambda: standing("file.consent") is not None)
            question = standing("file.consent")
            assert question
            outcome = await local_user.press(question.id, answer)
            assert outcome.answered

            await local.until(lambda: standing("file.consent") is None)
            now = next(
                message for message in teams.messages(tenant, chat) if message.id == question.id
            )
            if answer == "Accept":
                own = now.raw["attachments"][0]["content"]["uniqueId"]
                assert teams.drive.read(own) == data  # type: ignore[attr-defined]
            else:
                assert now.text == "📎 notes.bin"
