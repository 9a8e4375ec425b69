"""The same program on the local Discord and on simcord: both must tell it the same.

simcord replaces discord.py's HTTP client and feeds its gateway in the process: it says what
answers a program gets, nothing of sockets, resume or rate limits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import discord
import simcord
from discord.http import Route

from tests.connectors.discord.sandbox.running import Running, until
from tests.connectors.discord.sandbox.test_plain_programs import Recorder, text_channel

# simcord 3.2.1 lets these pass or gives the general code 50035, where Discord documents its own.
KNOWN_BETTER = {
    "empty post": (400, 50006),
    "empty webhook post": (400, 50006),
    "second thread": (400, 160004),
    "reply to nothing": (400, 50035),
    "forbidden name": (400, 50035),
}
# Discord reports the flag HAS_THREAD with a MESSAGE_UPDATE; simcord does not.
UNTOLD_BY_SIMCORD = [("edit", "question", "question")]

Say = Callable[[str], Awaitable[Any]]


async def refusal(request: Awaitable[Any]) -> tuple[int, int]:
    try:
        await request
    except discord.HTTPException as error:
        return error.status, error.code
    return 200, 0


async def program(client: Recorder, channel: discord.TextChannel, say: Say) -> dict[str, Any]:
    """Return the results of a plain program: posts, replies, threads, webhooks and refusals."""
    observed: dict[str, Any] = {}
    await say("question")
    await until(lambda: client.messages)
    question = client.messages[0]
    own = await channel.send("own")
    reply = await question.reply("answer")
    quiet = await question.reply("psst", allowed_mentions=discord.AllowedMentions.none())
    edited = await own.edit(content="changed")
    observed["posts"] = [
        (m.content, m.type.name, [u.name for u in m.mentions], m.edited_at is not None)
        for m in (own, reply, quiet, edited)
    ]
    observed["reply"] = (reply.reference.message_id == question.id) if reply.reference else None

    webhook = await channel.create_webhook(name="relay")
    posted = await webhook.send("hi", username="Zoë", wait=True)
    mended = await webhook.edit_message(posted.id, content="hello")
    observed["webhook"] = (
        posted.author.name, posted.author.bot, posted.webhook_id == webhook.id, mended.content,
        mended.author.name, len(await channel.webhooks()),
    )  # fmt: skip

    observed["history"] = [m.content async for m in channel.history(oldest_first=True)]

    thread = await question.create_thread(name="Talk")
    inside = await thread.send("inside")
    through = await webhook.send("through", thread=thread, wait=True)
    observed["thread"] = (
        thread.id == question.id, thread.type.name, inside.channel.id == thread.id,
        through.channel.id == thread.id,
    )  # fmt: skip

    observed["refused"] = {
        "empty post": await refusal(channel.send("   ")),
        "long post": await refusal(channel.send("x" * 2001)),
        "long edit": await refusal(own.edit(content="x" * 2001)),
        "edit another's": await refusal(_edit_of_another(client, question)),
        "unknown message": await refusal(channel.fetch_message(1)),
        "unknown channel": await refusal(client.fetch_channel(1)),
        "second thread": await refusal(question.create_thread(name="Again")),
        "reply to nothing": await refusal(channel.get_partial_message(1).reply("x")),
        "empty webhook post": await refusal(webhook.send(" ", wait=True)),
        "long webhook post": await refusal(webhook.send("x" * 2001, wait=True)),
        "forbidden name": await refusal(channel.create_webhook(name="my discord hook")),
        "unknown webhook message": await refusal(webhook.fetch_message(1)),
    }
    await own.delete()
    observed["refused"]["deleted message"] = await refusal(own.edit(content="x"))
    await webhook.delete()
    observed["refused"]["deleted webhook"] = await refusal(webhook.send("x", wait=True))
    await until(lambda: any(event[0] == "delete" for event in client.events))
    observed["events"] = [
        event
        for event in client.events
        if event[0] in ("edit", "delete", "thread") and event not in UNTOLD_BY_SIMCORD
    ]
    return observed


async def _edit_of_another(client: discord.Client, message: discord.Message) -> None:
    route = Route(
        "PATCH", "/channels/{channel_id}/messages/{message_id}",
        channel_id=message.channel.id, message_id=message.id,
    )  # fmt: skip
    await client.http.request(route, json={"content": "mine"})


async def on_simcord() -> dict[str, Any]:
    client = Recorder()
    async with simcord.run(client, approved_intents=discord.Intents.all()) as env:
        guild = env.create_guild()
        handle = guild.create_text_channel("general")
        person = guild.add_member(env.create_user("bob"))
        return await program(
            client, text_channel(client, str(handle.id)), lambda text: person.send(handle, text)
        )


async def on_the_local_discord(local: Running) -> dict[str, Any]:
    async with local.program(client := Recorder()):
        return await program(client, text_channel(client, local.channel), local.say)


async def test_a_program_gets_the_same_results_from_simcord(local: Running) -> None:
    ours = await on_the_local_discord(local)
    theirs = await on_simcord()

    assert ours == theirs | {"refused": theirs["refused"] | KNOWN_BETTER}


async def marking(client: Recorder, channel: discord.TextChannel, say: Say) -> dict[str, Any]:
    """Return the results of a plain program's reactions and pins."""
    observed: dict[str, Any] = {}
    await say("vote")
    await until(lambda: client.messages)
    message = client.messages[0]
    for emoji in ("👍", "👍", "❤️"):
        await message.add_reaction(emoji)
    reactions = (await channel.fetch_message(message.id)).reactions
    observed["reactions"] = [
        (str(reaction.emoji), reaction.count, reaction.me) for reaction in reactions
    ]
    await message.remove_reaction("👍", channel.guild.me)
    reactions = (await channel.fetch_message(message.id)).reactions
    observed["taken back"] = [str(reaction.emoji) for reaction in reactions]
    await message.pin()
    observed["pinned"] = (await channel.fetch_message(message.id)).pinned
    await message.unpin()
    observed["unpinned"] = (await channel.fetch_message(message.id)).pinned
    observed["refused"] = {
        "no such message": await refusal(channel.get_partial_message(1).add_reaction("👍")),
        "no such pin": await refusal(channel.get_partial_message(1).pin()),
    }
    return observed


async def test_reactions_and_pins_match_simcord(local: Running) -> None:
    async with local.program(client := Recorder()):
        ours = await marking(client, text_channel(client, local.channel), local.say)
    other = Recorder()
    async with simcord.run(other, approved_intents=discord.Intents.all()) as env:
        guild = env.create_guild()
        handle = guild.create_text_channel("general")
        person = guild.add_member(env.create_user("bob"))
        channel = text_channel(other, str(handle.id))
        theirs = await marking(other, channel, lambda text: person.send(handle, text))

    assert ours == theirs
