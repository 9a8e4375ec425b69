"""People press, choose and fill in forms; discord.py programs receive it and answer in time."""

from __future__ import annotations

import asyncio
from typing import Any

import discord
import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import FileUpload, LocalUser
from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.discord.sandbox.running import READY_AFTER_S, Running, until
from tests.connectors.discord.sandbox.test_plain_programs import text_channel
from tests.connectors.discord.sandbox.test_rich_refusals import V2, button, menu, option, row, text
from tests.waiting import LONGEST_WAIT

Json = dict[str, Any]


class Form(discord.ui.Modal, title="A form"):
    name = discord.ui.Label(text="Your name", component=discord.ui.TextInput(custom_id="name"))
    colour = discord.ui.Label(
        text="Colour",
        component=discord.ui.Select(
            custom_id="colour", required=False, min_values=0,
            options=[discord.SelectOption(label="Red", value="r"),
                     discord.SelectOption(label="Blue", value="b")],
        ),
    )  # fmt: skip


class Office(discord.Client):
    """Answers each press as the button's id requests, and records the interactions."""

    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.default(), guild_ready_timeout=READY_AFTER_S)
        self.interactions: list[discord.Interaction] = []

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.interactions.append(interaction)
        data: Any = interaction.data
        respond = interaction.response
        match data["custom_id"]:
            case "say":
                await respond.send_message("to all")
            case "whisper":
                await respond.send_message("to you", ephemeral=True)
            case "update":
                await respond.edit_message(content="updated", view=None)
            case "defer":
                await respond.defer()
                await interaction.edit_original_response(content="changed later")
            case "think":
                await respond.defer(thinking=True)
                await interaction.followup.send("the answer")
                await interaction.followup.send("and more")
            case "ask":
                await respond.send_modal(Form(custom_id="form"))
            case "menu":
                await respond.send_message(f"chose {', '.join(data['values'])}")
            case "silent":
                pass
            case _:  # a modal's own
                await respond.send_message("got it", ephemeral=True)


def user_of(local: Running) -> LocalUser:
    return LocalUser(local.discord, local.guild, local.channel, local.person)


async def card(local: Running, *components: Json, **more: Any) -> str:
    body = {"content": "card", "components": list(components), **more}
    status, answer, _ = await local.ask("POST", f"/channels/{local.channel}/messages", body)
    assert status == 200, answer
    return answer["id"]


async def test_a_press_reaches_the_application_in_discords_format(local: Running) -> None:
    message = await card(local, row(button("say"), button("x", label="X")))
    payloads: list[Json] = []
    async with local.program(bot := Office()):
        parse = bot._connection.parsers["INTERACTION_CREATE"]  # pyright: ignore[reportPrivateUsage]  # raw frames are the point

        def note(data: Any) -> None:
            payloads.append(dict(data))
            parse(data)

        bot._connection.parsers["INTERACTION_CREATE"] = note  # pyright: ignore[reportPrivateUsage]  # as above
        outcome = await user_of(local).press(message, "Go")

    payload = payloads[0]
    source, channel, member = (payload.pop(name) for name in ("message", "channel", "member"))
    app = local.app()["application_id"]
    assert (outcome.sent, outcome.answered, outcome.failed, outcome.raw) == (
        True, True, "", {"type": 4},
    )  # fmt: skip
    assert (source["id"], source["components"][0]["components"][0]["id"]) == (message, 2)
    assert (channel["id"], member["user"]["id"]) == (local.channel, local.person)
    assert int(payload.pop("app_permissions")) & 1 << 11
    assert len(payload.pop("token")) > 100
    assert payload.pop("id").isdecimal()
    assert payload == {
        "application_id": app, "type": 3, "version": 1, "channel_id": local.channel,
        "guild_id": local.guild, "guild": {"id": local.guild, "locale": "en-US", "features": []},
        "locale": "en-US", "guild_locale": "en-US", "entitlements": [], "entitlement_sku_ids": [],
        "authorizing_integration_owners": {"0": local.guild}, "context": 0,
        "attachment_size_limit": 10 << 20,
        "data": {"component_type": 2, "custom_id": "say", "id": 2},
    }  # fmt: skip


async def test_an_answer_is_a_reply_to_the_card(local: Running) -> None:
    message = await card(local, row(button("say")))
    async with local.program(Office()):
        await user_of(local).press(message, "say")

    answer = local.discord.messages(local.guild, local.channel)[1].raw
    app = local.app()["application_id"]
    assert (answer["content"], answer["type"], answer["webhook_id"], answer["application_id"]) == (
        "to all", 19, app, app,
    )  # fmt: skip
    assert answer["message_reference"]["message_id"] == message
    assert answer["author"]["id"] == local.app()["bot_id"]
    assert answer["interaction_metadata"]["interacted_message_id"] == message
    assert answer["interaction_metadata"]["user"]["id"] == local.person


async def test_an_ephemeral_answer_is_seen_by_one_person(local: Running) -> None:
    message = await card(local, row(button("whisper")))
    async with local.program(bot := Office()):
        outcome = await user_of(local).press(message, "whisper")
        whisper = user_of(local).whispers()[0]
        original = await bot.interactions[0].original_response()
        await bot.interactions[0].edit_original_response(content="still to you")

    assert (outcome.notice, whisper.text, original.flags.ephemeral) == ("to you", "to you", True)
    assert [m.text for m in user_of(local).whispers()] == ["still to you"]
    assert local.texts() == ["card"]
    status, _, _ = await local.ask("GET", f"/channels/{local.channel}/messages/{whisper.id}")
    assert status == 404


@pytest.mark.parametrize(
    ("custom_id", "texts"),
    [
        ("update", ["updated"]),
        ("defer", ["changed later"]),
        ("think", ["card", "the answer", "and more"]),
    ],
)
async def test_an_answer_may_change_the_card_or_follow_later(
    local: Running, custom_id: str, texts: list[str]
) -> None:
    message = await card(local, row(button(custom_id)))
    async with local.program(Office()):
        outcome = await user_of(local).press(message, custom_id)
        await until(lambda: local.texts() == texts)

    assert outcome.answered


async def test_a_choice_reaches_the_application(local: Running) -> None:
    people = {"type": 5, "custom_id": "who", "max_values": 2}
    message = await card(
        local, row(menu(option("a"), option("b"), option("c"), max_values=2, custom_id="menu")),
        row(people), row({"type": 8, "custom_id": "where"}), row({"type": 7, "custom_id": "any"}),
    )  # fmt: skip
    async with local.program(bot := Office()):
        await user_of(local).choose(message, "menu", ["a", "c"])
        await user_of(local).choose(message, "who", [local.person])
        await user_of(local).choose(message, "where", local.other_channel)
        await user_of(local).choose(message, "any", [local.guild])
        data: list[Any] = [interaction.data for interaction in bot.interactions]

    assert local.texts()[1] == "chose a, c"
    assert data[0] == {"component_type": 3, "custom_id": "menu", "id": 2, "values": ["a", "c"]}
    assert list(data[1]["resolved"]) == ["users", "members"]
    assert data[2]["resolved"]["channels"][local.other_channel]["name"] == "random"
    assert data[3]["resolved"]["roles"][local.guild]["name"] == "@everyone"


async def test_a_modal_is_filled_in_and_sent(local: Running) -> None:
    message = await card(local, row(button("ask")))
    async with local.program(bot := Office()):
        opened = await user_of(local).press(message, "ask")
        assert opened.form
        empty = await user_of(local).submit_form(opened.form.id)
        sent = await user_of(local).submit_form(
            opened.form.id, {"Your name": "Zoë", "colour": ["Blue"]}
        )
        data: Any = bot.interactions[1].data

    assert (opened.form.title, opened.form.fields) == (
        "A form", {"name": "Your name", "colour": "Colour"},
    )  # fmt: skip
    assert (empty.sent, empty.errors) == (False, {"name": "This field is required"})
    assert (sent.answered, sent.notice, user_of(local).forms()) == (True, "got it", [])
    assert [c["component"] for c in data["components"]] == [
        {"type": 4, "id": 2, "custom_id": "name", "value": "Zoë"},
        {"type": 3, "id": 4, "custom_id": "colour", "values": ["b"]},
    ]
    assert bot.interactions[1].message
    assert str(bot.interactions[1].message.id) == message


async def modal_before(local: Running, *components: Json) -> str:
    """Open a modal as an application without discord.py does."""
    message = await card(local, row(button("raw")))

    async def answer(payload: Json) -> None:
        data = {"custom_id": "f", "title": "T", "components": list(components)}
        path = f"/interactions/{payload['id']}/{payload['token']}/callback"
        status, body, _ = await local.ask("POST", path, {"type": 9, "data": data}, app=None)
        assert status == 204, body

    opened = (await asyncio.gather(user_of(local).press(message, "raw"), answering(local, answer)))[
        0
    ]
    assert opened.form, opened
    return opened.form.id


def answering(local: Running, answer: Any) -> Any:
    """Act as the application for the next interaction: read it from the state, answer over REST."""
    state = local.discord.state
    before = set(state.interactions)

    async def wait() -> Any:
        await until(lambda: set(state.interactions) - before)
        interaction = state.interactions[(set(state.interactions) - before).pop()]
        return await answer({"id": str(interaction.id), "token": interaction.token})

    return wait()


@pytest.fixture
async def attended(local: Running) -> Any:
    """A local Discord with a connected program that answers nothing, so that the test answers."""
    async with local.program(discord.Client(intents=discord.Intents.default())):
        yield local


LABEL = {"type": 18, "label": "L"}


async def test_every_modal_input_is_submitted_in_discords_format(attended: Running) -> None:
    local = attended
    controls: list[Json] = [
        {"type": 4, "custom_id": "text", "style": 2, "value": "as it was"},
        {"type": 21, "custom_id": "radio", "options": [option("a"), option("b", default=True)]},
        {"type": 22, "custom_id": "boxes", "max_values": 2, "options": [option("a"), option("b")]},
        {"type": 23, "custom_id": "box"},
        {"type": 19, "custom_id": "file"},
    ]
    form = await modal_before(local, *[{**LABEL, "component": c} for c in controls])
    submissions: list[Any] = []

    async def answer(payload: Json) -> None:
        interaction = local.discord.state.interactions[payload["token"]]
        submissions.append(interaction.data)
        await local.ask("POST", f"/interactions/{payload['id']}/{payload['token']}/callback",
                        {"type": 6}, app=None)  # fmt: skip

    file = FileUpload(name="a.png", data=avatar_png("a")).model_dump()
    values = {"boxes": ["a", "b"], "box": True, "file": [file]}
    sent, _ = await asyncio.gather(
        user_of(local).submit_form(form, values), answering(local, answer)
    )  # fmt: skip

    components_by_id = {
        c["component"]["custom_id"]: c["component"] for c in submissions[0]["components"]
    }
    upload = components_by_id["file"]["values"][0]
    assert sent.answered
    names = ("text", "radio", "boxes", "box")
    assert [
        components_by_id[name].get("value", components_by_id[name].get("values")) for name in names
    ] == [
        "as it was", "b", ["a", "b"], True,
    ]  # fmt: skip
    assert submissions[0]["resolved"]["attachments"][upload]["content_type"] == "image/png"


async def test_a_modal_with_old_action_rows_works(attended: Running) -> None:
    local = attended
    field = {"type": 4, "custom_id": "t", "style": 1, "label": "Old", "min_length": 3}
    form = await modal_before(local, row(field))

    short = await user_of(local).submit_form(form, {"Old": "no"})
    unanswered = local.discord.dispatcher.deadline_s
    local.discord.dispatcher.deadline_s = 0.05
    late = await user_of(local).submit_form(form, {"t": "long enough"})
    local.discord.dispatcher.deadline_s = unanswered

    assert short.errors == {"t": "Must be between 3 and 4000 in length."}
    assert late.failed == "Something went wrong. Try again."
    assert [f.id for f in user_of(local).forms()] == [form]
    await user_of(local).close_form(form)
    assert user_of(local).forms() == []


async def test_an_interaction_without_an_answer_fails_for_the_person(local: Running) -> None:
    message = await card(local, row(button("silent")))
    absent = await user_of(local).press(message, "silent")
    local.discord.dispatcher.deadline_s = 0.2
    async with local.program(bot := Office()):
        late = await user_of(local).press(message, "silent")
        await until(lambda: bot.interactions)
        with pytest.raises(discord.NotFound) as refused:
            await bot.interactions[0].response.send_message("too late")

    assert (absent.failed, late.failed) == ("This interaction failed", "This interaction failed")
    assert refused.value.code == 10062


async def test_requested_faults_break_interactions(local: Running) -> None:
    message = await card(local, row(button("say")))
    local.discord.dispatcher.deadline_s = 0.2
    async with local.program(bot := Office()):
        local.context.faults.add(Fault(kind="drop", where=f"discord:interaction:{local.channel}"))
        lost = await user_of(local).press(message, "say")
        local.context.faults.add(Fault(kind="status", where="discord:interaction.callback:*"))
        broken = await user_of(local).press(message, "say")
        await until(lambda: not local.context.faults._waiting)  # pyright: ignore[reportPrivateUsage]
        local.discord.dispatcher.deadline_s = LONGEST_WAIT
        outcome = await user_of(local).press(message, "say")

    failed = "This interaction failed"  # the library tries again, too late
    assert (lost.failed, broken.failed, outcome.failed) == (failed, failed, "")
    assert len(bot.interactions) == 2
    assert local.texts() == ["card", "to all"]


async def test_invalid_interaction_answers_are_refused(attended: Running) -> None:
    local = attended
    message = await card(local, row(button("raw")))
    interactions: list[Any] = []

    async def answer(payload: Json) -> None:
        path = f"/interactions/{payload['id']}/{payload['token']}/callback"
        hook = f"/webhooks/{local.app()['application_id']}/{payload['token']}"

        async def ask(method: str, where: str, body: Any = None) -> None:
            status, body, _ = await local.ask(method, where, body, app=None)
            interactions.append((status, (body or {}).get("code"), body))

        await ask("POST", f"/interactions/1/{payload['token']}/callback", {"type": 4})
        await ask("POST", path.replace("/callback", "x/callback"), {"type": 4})
        await ask("POST", hook, {"content": "too early"})
        await ask("POST", path, {"type": 3})
        await ask("POST", path, {"type": 8, "data": {"choices": []}})
        await ask("POST", path, {"type": 4})
        await ask("POST", path, {"type": 4, "data": {"content": "x" * 2001}})
        await ask("POST", path, {"type": 9, "data": {"custom_id": "m", "title": "x" * 46}})
        await ask("POST", path + "?with_response=true", {"type": 4, "data": {"content": "yes"}})
        await ask("POST", path, {"type": 4, "data": {"content": "again"}})
        await ask("GET", hook + "/messages/@original")
        await ask("PATCH", hook + "/messages/@original", {"content": ""})
        await ask("POST", hook, {"content": "more", "flags": 64})
        await ask("GET", hook + "/messages/1")
        await ask("DELETE", hook + "/messages/@original")
        await ask("GET", hook + "/messages/@original")
        local.discord.state.interactions[payload["token"]].created_at -= 16 * 60
        await ask("POST", hook, {"content": "after a quarter of an hour"})

    await asyncio.gather(user_of(local).press(message, "raw"), answering(local, answer))

    assert [(status, code) for status, code, _ in interactions] == [
        (404, 10062), (404, 10062), (404, 10015), (400, 50035), (400, 50035), (400, 50006),
        (400, 50035), (400, 50035), (200, None), (400, 40060), (200, None), (400, 50006),
        (200, None), (404, 10008), (204, None), (404, 10008), (401, 50027),
    ]  # fmt: skip
    assert list(interactions[6][2]["errors"]) == ["data"]
    assert list(interactions[7][2]["errors"]["data"]) == ["title", "components"]
    response = interactions[8][2]
    assert response["resource"]["message"]["content"] == "yes"
    assert response["interaction"]["response_message_loading"] is False
    assert local.texts() == ["card"]
    assert [m.text for m in user_of(local).whispers()] == ["more"]


async def test_an_interaction_answer_may_have_files(local: Running) -> None:
    import io

    class Giver(Office):
        async def on_interaction(self, interaction: discord.Interaction) -> None:
            await interaction.response.send_message(
                "here", file=discord.File(io.BytesIO(b"hi"), "hi.txt"), ephemeral=True
            )
            await interaction.followup.send(file=discord.File(io.BytesIO(b"ho"), "ho.txt"))

    message = await card(local, row(button("any")))
    async with local.program(Giver()):
        await user_of(local).press(message, "any")
        await until(lambda: len(local.texts()) == 2)

    whisper = user_of(local).whispers()[0].raw["attachments"][0]
    attachment = local.discord.messages(local.guild, local.channel)[1].raw["attachments"][0]
    assert (whisper["filename"], whisper["ephemeral"], attachment["filename"]) == (
        "hi.txt", True, "ho.txt",
    )  # fmt: skip


async def test_a_press_in_a_direct_message_and_on_a_webhooks_card(local: Running) -> None:
    async with local.program(bot := Office()):
        person = await bot.fetch_user(int(local.person))
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Go", custom_id="say"))
        sent = await person.send("private", view=view)
        webhook = await text_channel(bot, local.channel).create_webhook(name="relay")
        hooked = await webhook.send("through a hook", username="Zoë", view=view, wait=True)
        privately = LocalUser(local.discord, "@me", str(sent.channel.id), local.person)
        outcome = await privately.press(str(sent.id), "say")
        two = await user_of(local).press(str(hooked.id), "say")

    assert (outcome.answered, two.answered) == (True, True)
    assert bot.interactions[0].context.dm_channel
    assert bot.interactions[1].guild_id == int(local.guild)


async def test_impossible_user_actions_raise_errors(local: Running) -> None:
    posted_message = await local.say("no card")
    link = {"type": 2, "style": 5, "label": "Open", "url": "https://x.example"}
    message = await card(
        local, row(button("go"), link, button("off", disabled=True)), row(menu(option("a")))
    )
    newer = await card(local, text("only text"), flags=V2, content=None)
    user_actions = user_of(local)
    cases: list[tuple[Any, type[Exception], str]] = [
        (user_actions.press(posted_message.id, "go"), NotFound, "nothing"),
        (user_actions.press("1", "go"), NotFound, "not found"),
        (user_actions.press(message, "stop"), NotFound, "it has 'go'"),
        (user_actions.press(message, "m"), InvalidData, "choose"),
        (user_actions.press(message, "go", {"m": "a"}), InvalidData, "no inputs"),
        (user_actions.press(message, "off"), Refused, "disabled"),
        (user_actions.choose(message, "go", "x"), InvalidData, "is a button"),
        (user_actions.choose(message, "m", "z"), InvalidData, "not among the options"),
        (
            user_actions.choose(message, "m", ["a", "a"]),
            InvalidData,
            "Make between 1 and 1 selections",
        ),
        (user_actions.press(newer, "go"), NotFound, "nothing"),
        (user_actions.submit_form("1"), NotFound, "No form"),
        (user_actions.press("", "go", form="1"), InvalidData, "modal"),
    ]

    assert not (await user_actions.press(message, "Open")).sent
    for doing, error, words in cases:
        with pytest.raises(error, match=words):
            await doing
