"""Each channel reads its own language: an agent translates, the archive keeps the original."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone, TurnFailed
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

PLATFORMS = ("slack", "discord", "teams")
WORDS = {
    "Good morning": "Guten Morgen",
    "Good evening": "Guten Abend",
    "the roses are red": "die Rosen sind rot",
    "evil": "evil https://evil.example and [@Ann](uacs:actor/slack:T0ACME:U0ANN)",
}


class Translator:
    """Knows a few sentences, and says what was asked of it."""

    name = "translator"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = False

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        (message,) = turn.conversation.messages
        prompt: str = message.content[0].text  # type: ignore[union-attr]
        head, _, text = prompt.partition("\n---\n")
        self.asked.append(text)
        if self.fails:
            yield TurnFailed(reason="the vendor is down")
            return
        assert "language de" in head
        for known, german in WORDS.items():
            text = text.replace(known, german)
        yield TextDelta(text=text)
        yield TurnDone()


def settings_of(local: Sandbox, path: Path) -> dict[str, Any]:
    settings = configuration(local, path, channels=("general",))
    settings["agents"]["translator"] = {"kind": "echo", "pace": 0}
    room = settings["rooms"]["general"]
    room["translator"] = "translator"
    for member in room["members"]:
        if member["account"] in ("discord", "teams"):
            member["language"] = "de"
    return settings


def shown(local: Sandbox, platform: str) -> str:
    return "\n".join(str(m.raw) + m.text for m in local.standing(platform, "general"))


def _reads(local: Sandbox, platform: str, words: str) -> bool:
    return words in shown(local, platform)


async def test_every_channel_reads_its_language_and_the_archive_keeps_the_original(
    tmp_path: Path,
) -> None:
    async with local_sandbox(names=PLATFORMS) as local:
        async with running(local, settings_of(local, tmp_path / "b.sqlite3")) as (bridge, _):
            agents: Any = bridge.agents
            translator = agents["translator"] = Translator()
            first = await local.say("slack", "general", "Good morning, the roses are red")
            for platform in ("discord", "teams"):
                await local.until(partial(_reads, local, platform, "Guten Morgen"))
            await local.say("discord", "general", "Guten Abend")
            await local.until(lambda: "Guten Abend" in shown(local, "slack"))
            workspace, channel = local.place("slack", "general")
            who = local.person("slack", workspace)
            slack: Any = local.platforms["slack"]
            await slack.edit_as(workspace, channel, who, first, "Good evening")
            await local.until(
                lambda: local.standing("discord", "general")[0].text.startswith("Guten Abend")
            )
            stored = await bridge.store.conversation(bridge.rooms.all[0].conversation)

        german = shown(local, "discord")
        assert "translated by translator" in german
        assert "translated" not in shown(local, "slack")
        assert str(stored.messages[0].content).count("Good evening") == 1
        assert "Guten Abend" not in str(stored.messages[0].content)
        # Once for both channels, and once for the edit; Teams read Discord's words, too.
        assert sorted(translator.asked) == sorted(
            ["Good morning, the roses are red", "Good evening", "Guten Abend"]
        )


async def test_what_cannot_be_translated_is_shown_as_it_is(tmp_path: Path) -> None:
    async with local_sandbox(names=PLATFORMS) as local:
        async with running(local, settings_of(local, tmp_path / "b.sqlite3")) as (bridge, _):
            agents: Any = bridge.agents
            translator = agents["translator"] = Translator()
            await local.say("slack", "general", "evil words")
            await local.until(lambda: "evil words" in shown(local, "discord"))
            translator.fails = True
            await local.say("slack", "general", "Good evening")
            await local.until(lambda: "Good evening" in shown(local, "discord"))
            await local.say("slack", "general", "Good morning")
            await local.until(lambda: "Good morning" in shown(local, "teams"))
            await bridge.router.settled()

        assert "evil.example" not in shown(local, "discord")
        assert "Guten" not in shown(local, "discord")
        assert len(translator.asked) <= 5  # a failing agent rests, so that nobody waits for it


async def test_a_stored_translation_is_not_asked_for_again(tmp_path: Path) -> None:
    async with local_sandbox(names=PLATFORMS) as local:
        settings = settings_of(local, tmp_path / "b.sqlite3")
        async with running(local, settings) as (bridge, _):
            agents: Any = bridge.agents
            agents["translator"] = Translator()
            await local.say("slack", "general", "Good morning")
            await local.until(lambda: "Guten Morgen" in shown(local, "discord"))
            await local.until(lambda: "Guten Morgen" in shown(local, "teams"))
            await bridge.router.settled()
            stored = await bridge.store.conversation(bridge.rooms.all[0].conversation)
            message: Any = stored.messages[0].message_id
            rows = await bridge.store.translation(message, "de", "another")

    assert rows is None
