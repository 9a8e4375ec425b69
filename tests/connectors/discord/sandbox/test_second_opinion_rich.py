"""A program with cards, presses, modals, files and polls gets the same results from the local
Discord and from simcord.

URLs, sizes that a CDN measures and ids are left out, since they differ.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import discord
import simcord

from bridge.sandbox.user_actions import LocalUser
from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.discord.sandbox.running import Running
from tests.connectors.discord.sandbox.test_interactions import Office, user_of
from tests.connectors.discord.sandbox.test_plain_programs import text_channel
from tests.connectors.discord.sandbox.test_second_opinion import refusal

Message = discord.Message
# simcord 3.2.1 measures no upload and takes any address as a picture's.
KNOWN_BETTER = {"bad picture": (400, 50035), "too large": (413, 40005)}


@dataclass
class Person:
    """The actions of one person, on the local Discord or on simcord."""

    click: Callable[[Message, str], Awaitable[Any]]
    choose: Callable[[Message, str, list[str]], Awaitable[Any]]
    submit: Callable[[Any, dict[str, Any]], Awaitable[Any]]


def buttons(*custom_ids: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for custom_id in custom_ids:
        view.add_item(discord.ui.Button(label=custom_id.title(), custom_id=custom_id))
    return view


def menu() -> discord.ui.View:
    options = [discord.SelectOption(label=name, value=name) for name in "abc"]
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Select(custom_id="menu", options=options, max_values=2))
    return view


def embed() -> discord.Embed:
    embed = discord.Embed(title="A title", description="Words", colour=0x336699)
    embed.set_author(name="Zoë").set_footer(text="small").add_field(name="One", value="1")
    return embed


def layout() -> discord.ui.LayoutView:
    view = discord.ui.LayoutView(timeout=None)
    box: Any = discord.ui.Container(
        discord.ui.TextDisplay("# Words"), discord.ui.Separator(), accent_colour=0xFF0000
    )
    view.add_item(box)
    return view


def kinds(message: Message) -> list[str]:
    return [component.type.name for component in message.components]


def raw_data(office: Office, at: int) -> dict[str, Any]:
    data: Any = office.interactions[at].data
    return {"values": data.get("values"), "custom_id": data["custom_id"]}


async def program(office: Office, channel: discord.TextChannel, person: Person) -> dict[str, Any]:
    observed: dict[str, Any] = {}
    card = await channel.send(embed=embed(), view=buttons("say", "whisper", "update", "ask"))
    embed_json = card.embeds[0].to_dict()
    observed["card"] = (
        kinds(card), [getattr(c, "custom_id", "") for c in _children(card)],
        {
            name: embed_json.get(name)
            for name in ("title", "description", "color", "type", "fields")
        },
        embed_json.get("footer", {}).get("text"), embed_json.get("author", {}).get("name"),
    )  # fmt: skip

    await person.click(card, "say")
    await person.click(card, "whisper")
    original = await office.interactions[1].original_response()
    opened = await person.click(card, "ask")
    await person.submit(opened, {"name": "Zoë", "colour": ["b"]})
    await person.click(card, "update")
    chosen = await channel.send("choose", view=menu())
    await person.choose(chosen, "menu", ["a", "c"])
    changed = await channel.fetch_message(card.id)
    observed["changed"] = (changed.content, kinds(changed), len(changed.embeds))
    observed["whisper"] = (original.content, original.flags.ephemeral)
    observed["interactions"] = [raw_data(office, at) for at in range(len(office.interactions))]
    form: Any = office.interactions[3].data
    observed["form"] = [
        (c["type"], c["component"]["custom_id"], c["component"].get("value"),
         c["component"].get("values"))
        for c in form["components"]
    ]  # fmt: skip

    file = discord.File(io.BytesIO(avatar_png("a")), "SPOILER_a.png", description="a picture")
    posted = await channel.send("files", files=[file, discord.File(io.BytesIO(b"notes"), "n.txt")])
    observed["files"] = [
        (a.filename, a.size, a.is_spoiler(), a.description, (a.content_type or "").split(";")[0])
        for a in posted.attachments
    ]
    observed["bytes"] = await posted.attachments[1].read()
    fewer = await posted.edit(attachments=[posted.attachments[1]])
    observed["fewer"] = [a.filename for a in fewer.attachments]
    tall = await channel.send(view=layout())
    observed["v2"] = (kinds(tall), tall.flags.components_v2, tall.content)

    observed["refused"] = {
        "answer twice": await refusal(
            discord.InteractionResponse(office.interactions[0]).send_message("again")
        ),
        "long embed": await refusal(channel.send(embed=discord.Embed(description="x" * 4097))),
        "six thousand": await refusal(
            channel.send(embeds=[discord.Embed(description="x" * 4000)] * 2)
        ),
        "bad picture": await refusal(
            channel.send(embed=discord.Embed(title="x").set_image(url="javascript:x"))
        ),
        "content and v2": await refusal(tall.edit(content="words")),
        "too large": await refusal(
            channel.send(file=discord.File(io.BytesIO(bytes(11 << 20)), "x"))
        ),
    }
    observed["history"] = [m.content async for m in channel.history(oldest_first=True) if m.content]
    return observed


def _children(message: Message) -> list[Any]:
    return [child for row in message.components for child in getattr(row, "children", [])]


async def on_simcord() -> dict[str, Any]:
    office = Office()
    async with simcord.run(office, approved_intents=discord.Intents.default()) as env:
        guild = env.create_guild()
        handle = guild.create_text_channel("general")
        bob = guild.add_member(env.create_user("bob"))
        person = Person(
            lambda message, name: bob.click(message, custom_id=name),
            lambda message, name, values: bob.select(message, values, custom_id=name),
            lambda modal, values: bob.submit_modal(modal, values),
        )
        return await program(office, text_channel(office, str(handle.id)), person)


def ours(bob: LocalUser) -> Person:
    async def submit(opened: Any, values: dict[str, Any]) -> Any:
        return await bob.submit_form(opened.form.id, values)

    return Person(
        lambda message, name: bob.press(str(message.id), name),
        lambda message, name, values: bob.choose(str(message.id), name, values),
        submit,
    )


async def test_a_program_with_cards_gets_the_same_results_from_simcord(local: Running) -> None:
    async with local.program(office := Office()):
        channel = text_channel(office, local.channel)
        on_our_side = await program(office, channel, ours(user_of(local)))
    on_simcord_side = await on_simcord()

    assert on_our_side == on_simcord_side | {"refused": on_simcord_side["refused"] | KNOWN_BETTER}
