"""discord.py programs register slash commands, receive them and answer in time."""

from __future__ import annotations

from typing import Any

import discord
import pytest
from discord import app_commands

from bridge.errors import InvalidData, NotFound, Refused
from connectors.discord.sandbox.permissions import Permission
from tests.connectors.discord.sandbox.running import READY_AFTER_S, Running, until

Json = dict[str, Any]


class Office(discord.Client):
    """A program with the command `/plain`, whose text selects the answer."""

    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.default(), guild_ready_timeout=READY_AFTER_S)
        self.interactions: list[discord.Interaction] = []
        self.tree = app_commands.CommandTree(self)

        @self.tree.command(name="plain", description="Does what it is told")
        async def _plain(interaction: discord.Interaction, text: str = "") -> None:
            self.interactions.append(interaction)
            match text:
                case "say":
                    await interaction.response.send_message("to all")
                case "whisper":
                    await interaction.response.send_message("to you", ephemeral=True)
                case "think":
                    await interaction.response.defer(ephemeral=True, thinking=True)
                    await interaction.edit_original_response(content="thought about")
                    await interaction.followup.send("and more", ephemeral=True)
                case _:
                    pass


async def own_commands(local: Running) -> str:
    _, application, _ = await local.ask("GET", "/applications/@me")
    return f"/applications/{application['id']}/commands"


async def test_a_program_registers_commands_and_receives_them(local: Running) -> None:
    office = Office()
    async with local.program(office):
        (synced,) = await office.tree.sync()
        synced_again = await office.tree.sync()
        outcome = await local.discord.command_as(
            local.guild, local.channel, local.person, "/plain", "say"
        )

    assert [command.id for command in synced_again] == [
        synced.id
    ]  # a command with the same name keeps its id
    assert outcome.answered
    (interaction,) = office.interactions
    data: Any = interaction.data
    assert interaction.type is discord.InteractionType.application_command
    assert (data["id"], data["name"], data["type"]) == (str(synced.id), "plain", 1)
    assert data["options"] == [{"type": 3, "name": "text", "value": "say"}]
    assert str(interaction.user.id) == local.person
    assert local.texts() == ["to all"]


async def test_a_command_answer_may_be_ephemeral(local: Running) -> None:
    office = Office()
    async with local.program(office):
        await office.tree.sync()
        for text in ("whisper", "think"):
            outcome = await local.discord.command_as(
                local.guild, local.channel, local.person, "/plain", text
            )
            assert outcome.answered
        whispers = local.discord.whispers
        await until(lambda: len(whispers(local.guild, local.person)) == 3)

    whispered = [whisper.text for whisper in local.discord.whispers(local.guild, local.person)]
    assert whispered == ["to you", "thought about", "and more"]
    assert local.texts() == []


async def test_a_command_fails_when_the_answer_is_late(local: Running) -> None:
    local.discord.dispatcher.deadline_s = 0.2
    office = Office()
    async with local.program(office):
        await office.tree.sync()
        outcome = await local.discord.command_as(local.guild, local.channel, local.person, "/plain")
        await until(lambda: office.interactions)

    assert len(office.interactions) == 1
    assert outcome.failed == "The application did not respond"


async def test_only_registered_commands_are_used_by_people_with_the_permission(
    local: Running,
) -> None:
    async def give(command: str, text: str = "") -> None:
        await local.discord.command_as(local.guild, local.channel, local.person, command, text)

    with pytest.raises(NotFound, match="has a command"):
        await give("/plain")
    path = await own_commands(local)
    status, created, _ = await local.ask("POST", path, {"name": "plain", "description": "x"})
    assert status == 201
    status, updated, _ = await local.ask("POST", path, {"name": "plain", "description": "y"})
    assert (status, updated["id"], updated["description"]) == (200, created["id"], "y")
    assert updated["version"] != created["version"]
    with pytest.raises(InvalidData, match="takes no text"):
        await give("/plain", "words")
    guild = local.discord.state.guilds[int(local.guild)]
    everyone = guild.roles[guild.id]
    everyone.permissions &= ~Permission.USE_APPLICATION_COMMANDS
    with pytest.raises(Refused, match="may not do that"):
        await give("/plain")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"name": "Upper", "description": "x"}, "name"),
        ({"name": "two words", "description": "x"}, "name"),
        ({"name": "x" * 33, "description": "x"}, "name"),
        ({"name": "fine"}, "description"),
        ({"name": "fine", "description": "x" * 101}, "description"),
        ({"name": "fine", "description": "x", "options": [{"type": 3, "name": "a"}]}, "options"),
    ],
)
async def test_a_wrong_command_is_refused(local: Running, body: Json, where: str) -> None:
    path = await own_commands(local)

    status, answer, _ = await local.ask("POST", path, body)

    assert (status, answer["code"]) == (400, 50035)
    assert where in answer["errors"]
    assert (await local.ask("GET", path))[1] == []
