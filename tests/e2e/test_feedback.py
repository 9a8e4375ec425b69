"""People say on each platform, by its own buttons, whether an answer is good; it stays with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.app.build import Bridge
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.model.turns import Feedback
from bridge.sandbox.feed import LocalMessage
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import hands

LAST = "my answer is shown on"
# How a person presses the thumbs: the control, and what is filled in beside it.
UP: dict[str, tuple[str, dict[str, Any]]] = {
    "slack": ("bridge.feedback", {}),
    "discord": ("bridge.feedback:good", {}),
    "teams": ("like", {"comment": "short and right"}),
}
DOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "slack": ("bridge.feedback", {"bridge.feedback": "negative"}),
    "discord": ("bridge.feedback:bad", {}),
    "teams": ("dislike", {}),
}


class Listener:
    """Hears what people think of the answers of another agent."""

    takes_feedback = True

    def __init__(self, agent: Any) -> None:
        self.name = agent.name
        self.run = agent.run
        self.received: list[Feedback] = []

    async def take_feedback(self, feedback: Feedback) -> None:
        self.received.append(feedback)


def answer(local: Sandbox, platform: str) -> LocalMessage | None:
    """The whole answer, as it stands there."""
    messages = local.standing(platform, "general")
    return next(
        (message for message in messages if LAST in orjson.dumps(message.raw).decode()), None
    )


async def feedback_by_platform(bridge: Bridge) -> dict[str, tuple[str, str]]:
    """Platform of the person -> what they said, as the archive has it."""
    room = bridge.rooms.all[0]
    conversation = await bridge.store.conversation(room.conversation)
    entries = read_bridge_metadata(conversation.messages[-1])[0].feedback
    return {entry.actor.partition(":")[0]: (entry.sense, entry.comment) for entry in entries}


async def test_feedback_of_every_platform_is_archived_with_the_answer_and_the_latest_counts(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"] |= {
            "agents": [{"agent": "echo", "listen": "always"}], "feedback": "on",
        }  # fmt: skip
        async with running(local, settings) as (bridge, _):
            agent = bridge.agents["echo"] = Listener(bridge.agents["echo"])
            await local.say("slack", "general", "what is new?")
            await local.until(
                lambda: all(
                    (one := answer(local, name)) and "feedback" in orjson.dumps(one.raw).decode()
                    for name in UP
                )
            )
            # It has no buttons, and may have the answer later.
            await local.until(
                lambda: any("Hello" in said.text for said in local.standing("irc", "general"))
            )
            before = {name: len(local.standing(name, "general")) for name in local.platforms}

            for number, (controls, name) in enumerate(
                (controls, name) for controls in (UP, DOWN) for name in UP
            ):
                action, values = controls[name]
                message = answer(local, name)
                assert message
                outcome = await hands(local)[name].press(message.id, action, values)
                assert outcome.sent, (name, outcome)
                assert not outcome.failed, (name, outcome)
                await local.until(lambda count=number: len(agent.received) == count + 1)
                if number == len(UP) - 1:
                    assert await feedback_by_platform(bridge) == {
                        "slack": ("good", ""), "discord": ("good", ""),
                        "teams": ("good", "short and right"),
                    }  # fmt: skip

            assert await feedback_by_platform(bridge) == dict.fromkeys(UP, ("bad", ""))
            assert [one.sense for one in agent.received] == ["good"] * 3 + ["bad"] * 3
            # It is noted as delivered after the agent has it.
            while await bridge.store.undelivered_feedback():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            after = {name: len(local.standing(name, "general")) for name in local.platforms}
            assert after == before


# Without IRC: it has no buttons.
@pytest.mark.parametrize("platform", ["slack", "discord", "teams"])
async def test_no_answer_has_feedback_buttons_if_the_room_disables_them(
    tmp_path: Path, platform: str
) -> None:
    async with local_sandbox(names=(platform,)) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings):
            await local.say(platform, "general", "what is new?")
            await local.until(lambda: answer(local, platform) is not None)

            message = answer(local, platform)
            assert message
            assert "feedback" not in orjson.dumps(message.raw).decode()
