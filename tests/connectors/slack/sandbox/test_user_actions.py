"""People press, choose and fill in; plain slack-bolt programs receive it and answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bridge.errors import InvalidData, NotFound
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import FileUpload, LocalUser
from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, Running, refused, until
from tests.connectors.slack.sandbox.desk import Desk
from tests.connectors.slack.sandbox.test_blocks import (
    actions,
    button,
    field,
    mrkdwn,
    option,
    plain,
    section,
    select,
)
from tests.connectors.slack.sandbox.test_plain_programs import over_http, over_sockets

Json = dict[str, Any]
BEN = "U0ACME02"


def modal(*blocks: Json, title: str = "A form", **more: Any) -> Json:
    all_blocks = list(blocks) or [section("Nothing to say")]
    has_input = any(block["type"] == "input" for block in all_blocks)
    submit = {"submit": plain("Send")} if has_input else {}
    return {"type": "modal", "title": plain(title), "blocks": all_blocks, **submit, **more}


NAME = field({"type": "plain_text_input", "action_id": "name"}, block_id="n")


class InteractiveApp:
    """A bolt program with an approval card; it records what it received."""

    def __init__(self, client: AsyncWebClient, secret: str = "unused") -> None:
        self.app = AsyncApp(client=client, signing_secret=secret)
        self.client = client
        self.received: list[Json] = []
        self.answer: Json = {}  # the acknowledgement of a submission
        self.app.action("approve")(self._approve)
        self.app.action("ask")(self._ask)
        self.app.action("colour")(self._hear)
        self.app.action("slow")(self._slow)
        self.app.options("city")(self._cities)
        self.app.action("city")(self._hear)
        self.app.view("form")(self._submitted)
        self.app.view_closed("form")(self._hear)

    async def post(self, *blocks: Json, **more: Any) -> str:
        posted = await self.client.chat_postMessage(
            channel=GENERAL, text="card", blocks=list(blocks), **more
        )
        return str(posted["ts"])

    async def _approve(self, ack: Any, body: Json, respond: Any) -> None:
        await ack()
        self.received.append(body)
        await respond(text=f"approved by <@{body['user']['id']}>", replace_original=True)

    async def _ask(self, ack: Any, body: Json, client: AsyncWebClient) -> None:
        self.received.append(body)
        view = modal(NAME, callback_id="form", private_metadata="kept", notify_on_close=True)
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack()

    async def _hear(self, ack: Any, body: Json) -> None:
        self.received.append(body)
        await ack()

    async def _slow(self, body: Json) -> None:
        self.received.append(body)

    async def _cities(self, ack: Any, payload: Json) -> None:
        self.received.append(payload)
        await ack(options=[option("Oslo"), option("Osaka")])

    async def _submitted(self, ack: Any, body: Json) -> None:
        self.received.append(body)
        await ack(**self.answer)


@contextlib.asynccontextmanager
async def interactive_app(running: Running) -> AsyncGenerator[tuple[InteractiveApp, LocalUser]]:
    app = InteractiveApp(running.client())
    async with over_sockets(app.app, running.app()["app_token"]):
        yield app, LocalUser(running.slack, "T0ACME", GENERAL, ADA)


async def test_a_press_reaches_the_app_in_slacks_format(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        root = await running.says("please")
        ts = await bot.post(
            section("May I?"),
            actions(button("Yes", action_id="approve", value="42"), block_id="b"),
            thread_ts=root,
        )  # fmt: skip

        outcome = await ada.press(ts, "approve")
        await until(lambda: bool(bot.received))

    payload = bot.received[0]
    assert (outcome.sent, outcome.answered, outcome.failed) == (True, True, "")
    message = payload.pop("message")
    assert (message["ts"], message["text"], message["blocks"][1]["block_id"]) == (ts, "card", "b")
    assert payload.pop("response_url").startswith(
        f"{running.context.base_url}/slack/actions/T0ACME/"
    )
    assert len(payload.pop("trigger_id").split(".")) == 3
    action = payload["actions"][0]
    assert action.pop("action_ts").split(".")[0].isdecimal()
    assert payload == {
        "type": "block_actions",
        "user": {"id": ADA, "username": "ada", "name": "ada", "team_id": "T0ACME"},
        "api_app_id": "A0ACME02",
        "token": "verification-sandbox-acme-plain",
        "team": {"id": "T0ACME", "domain": "acme"},
        "enterprise": None,
        "is_enterprise_install": False,
        "container": {
            "type": "message", "message_ts": ts, "channel_id": GENERAL, "is_ephemeral": False,
            "thread_ts": root,
        },
        "channel": {"id": GENERAL, "name": "general"},
        "state": {"values": {}},
        "actions": [
            {
                "type": "button", "action_id": "approve", "block_id": "b", "value": "42",
                "text": plain("Yes") | {"emoji": True},
            }
        ],
    }  # fmt: skip


async def test_a_pressed_card_is_replaced_by_the_apps_answer(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        ts = await bot.post(actions(button("Yes", action_id="approve")))

        await ada.press(ts, "Yes")
        await until(lambda: running.texts() == ["approved by @Ada Park"])

    card = running.slack.messages("T0ACME", GENERAL)[0]
    assert (card.id, card.edited, card.raw["blocks"][0]["type"]) == (ts, True, "rich_text")


async def test_a_press_over_http_is_a_signed_form(running: Running) -> None:
    facts = running.app()
    bot = InteractiveApp(running.client(), facts["signing_secret"])
    ada = LocalUser(running.slack, "T0ACME", GENERAL, ADA)

    async with over_http(bot.app) as url:
        await running.slack.set_request_url(facts["app_id"], url)
        ts = await bot.post(actions(button("Yes", action_id="approve")))
        outcome = await ada.press(ts, "approve")
        await until(lambda: running.texts() == ["approved by @Ada Park"])

    assert (outcome.answered, bot.received[0]["actions"][0]["action_id"]) == (True, "approve")


async def test_a_choice_reaches_the_app_with_the_state_of_the_whole_card(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        ts = await bot.post(
            actions(
                select(3, action_id="colour", placeholder=plain("Pick")),
                {"type": "datepicker", "action_id": "day", "initial_date": "2026-01-02"},
                block_id="a",
            ),
            field(
                {"type": "checkboxes", "action_id": "boxes", "options": [option("x"), option("y")]},
                block_id="i",
            ),
            actions(button("Yes", action_id="approve"), block_id="z"),
        )
        first_choice = await ada.choose(ts, "boxes", ["y"])
        second_choice = await ada.choose(ts, "colour", "2")
        await ada.press(ts, "approve", {"day": "2026-03-04"})
        await until(lambda: len(bot.received) == 2)

    assert (first_choice.sent, second_choice.sent, second_choice.answered) == (False, True, True)
    first, second = bot.received
    chosen = {"text": plain("2") | {"emoji": True}, "value": "2"}
    assert first["actions"][0]["selected_option"] == chosen
    assert first["actions"][0]["placeholder"] == plain("Pick") | {"emoji": True}
    box = {"text": plain("y") | {"emoji": True}, "value": "y"}
    assert second["state"]["values"] == {
        "a": {
            "colour": {"type": "static_select", "selected_option": chosen},
            "day": {"type": "datepicker", "selected_date": "2026-03-04"},
        },
        "i": {"boxes": {"type": "checkboxes", "selected_options": [box]}},
    }


async def test_an_external_menu_requests_its_options_from_the_app(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        menu = {"type": "external_select", "action_id": "city", "min_query_length": 1}
        ts = await bot.post(actions(menu, block_id="a"))

        await ada.choose(ts, "city", "Oslo")
        await until(lambda: len(bot.received) == 2)
        with pytest.raises(InvalidData, match="no option 'Rome'"):
            await ada.choose(ts, "city", "Rome")

    request, action = bot.received[0], bot.received[1]
    assert (request["type"], request["value"], request["action_id"]) == (
        "block_suggestion",
        "Oslo",
        "city",
    )
    assert action["actions"][0]["selected_option"]["value"] == "Oslo"


async def test_a_modal_is_opened_filled_in_and_sent(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        ts = await bot.post(actions(button("Ask", action_id="ask")))
        opened = await ada.press(ts, "ask")
        form = opened.form
        assert form
        empty = await ada.submit_form(form.id)
        sent = await ada.submit_form(form.id, {"name": "Zoë"})

    assert (form.title, form.fields, ada.forms()) == ("A form", {"name": "x"}, [])
    assert (empty.sent, empty.errors) == (False, {"name": "Please complete this required field."})
    assert (sent.answered, sent.failed, sent.form) == (True, "", None)
    view = bot.received[1]["view"]
    assert (view["private_metadata"], view["callback_id"], view["id"]) == ("kept", "form", form.id)
    assert view["state"]["values"] == {"n": {"name": {"type": "plain_text_input", "value": "Zoë"}}}
    assert bot.received[1]["response_urls"] == []


@pytest.mark.parametrize(
    ("answer", "titles", "errors"),
    [
        ({}, [], {}),
        ({"response_action": "clear"}, [], {}),
        ({"response_action": "errors", "errors": {"n": "Too short"}}, ["A form"],
         {"name": "Too short"}),
        ({"response_action": "update", "view": modal(title="Thanks")}, ["Thanks"], {}),
        ({"response_action": "push", "view": modal(title="More")}, ["A form", "More"], {}),
    ],
)  # fmt: skip
async def test_the_form_shows_what_the_app_answers_to_a_submission(
    running: Running, answer: Json, titles: list[str], errors: dict[str, str]
) -> None:
    async with interactive_app(running) as (bot, ada):
        bot.answer = answer
        ts = await bot.post(actions(button("Ask", action_id="ask")))
        opened = await ada.press(ts, "ask")
        assert opened.form
        sent = await ada.submit_form(opened.form.id, {"name": "Z"})

    assert (sent.errors, sent.failed) == (errors, "")
    assert [form.title for form in ada.forms()] == titles


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {"no such block": "x"}},
        {"response_action": "update", "view": {"type": "modal"}},
        {"response_action": "nonsense"},
    ],
)
async def test_the_person_sees_an_error_when_slack_refuses_the_apps_answer(
    running: Running, answer: Json
) -> None:
    async with interactive_app(running) as (bot, ada):
        bot.answer = answer
        ts = await bot.post(actions(button("Ask", action_id="ask")))
        opened = await ada.press(ts, "ask")
        assert opened.form
        sent = await ada.submit_form(opened.form.id, {"name": "Z"})

    assert sent.failed == "We had some trouble connecting. Try again?"
    assert [form.id for form in ada.forms()] == [opened.form.id]


async def test_a_closed_modal_notifies_the_app_that_asked_for_it(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        ts = await bot.post(actions(button("Ask", action_id="ask")))
        opened = await ada.press(ts, "ask")
        assert opened.form
        await ada.close_form(opened.form.id)

    assert (bot.received[1]["type"], bot.received[1]["is_cleared"]) == ("view_closed", False)
    assert ada.forms() == []


async def test_an_app_that_does_not_answer_shows_as_a_warning(running: Running) -> None:
    running.slack.pace.ack_seconds = 0.2
    async with interactive_app(running) as (bot, ada):
        ts = await bot.post(actions(button("Slow", action_id="slow")))
        late = await ada.press(ts, "slow")
    unconnected = await ada.press(ts, "slow")

    assert (late.sent, late.answered, late.failed) == (
        True,
        False,
        "The app did not respond in time",
    )
    assert unconnected.failed == "The app is not connected"


async def test_interactions_fail_on_request(running: Running) -> None:
    running.slack.pace.ack_seconds = 0.3
    async with interactive_app(running) as (bot, ada):
        ts = await bot.post(actions(select(2, action_id="colour")))
        running.context.faults.add(Fault(kind="drop", where=f"slack:interaction:{GENERAL}"))
        lost = await ada.choose(ts, "colour", "0")
        running.context.faults.add(Fault(kind="duplicate", where="slack:interaction:*"))
        twice = await ada.choose(ts, "colour", "1")
        await until(lambda: len(bot.received) == 2)

    assert (lost.failed, twice.failed) == ("The app did not respond in time", "")
    assert [h["actions"][0]["selected_option"]["value"] for h in bot.received] == ["1", "1"]


async def test_an_ephemeral_card_is_seen_by_one_person_and_can_be_pressed(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        await bot.client.chat_postEphemeral(
            channel=GENERAL, user=ADA, text="psst",
            blocks=[actions(button("Yes", action_id="approve"))],
        )  # fmt: skip
        whisper = ada.whispers()[0]
        await ada.press(whisper.id, "approve")
        await until(lambda: ada.whispers()[0].text == "approved by @Ada Park")
        with refused("message_not_found"):
            await bot.client.chat_update(channel=GENERAL, ts=whisper.id, text="no")
        with pytest.raises(NotFound):
            await LocalUser(running.slack, "T0ACME", GENERAL, BEN).press(whisper.id, "approve")

    assert (bot.received[0]["container"]["is_ephemeral"], "message" in bot.received[0]) == (
        True,
        False,
    )
    assert running.texts() == []
    assert LocalUser(running.slack, "T0ACME", GENERAL, BEN).whispers() == []


async def new_response_url(running: Running, bot: InteractiveApp, ada: LocalUser) -> str:
    """Choose in a menu, and return the response URL of the request."""
    ts = await bot.post(actions(select(1, action_id="colour")))
    await ada.choose(ts, "colour", "0")
    await until(lambda: bool(bot.received))
    return bot.received.pop()["response_url"]


async def post_replies(url: str, *bodies: Any) -> list[tuple[int, str]]:
    replies: list[tuple[int, str]] = []
    async with aiohttp.ClientSession() as http:
        for body in bodies:
            async with http.post(url, json=body) as answer:
                replies.append((answer.status, await answer.text()))
    return replies


async def test_a_response_url_may_be_used_five_times(running: Running) -> None:
    async with interactive_app(running) as (bot, ada):
        url = await new_response_url(running, bot, ada)
        replies = await post_replies(
            url, {"text": "to you"}, {"text": "to all", "response_type": "in_channel"},
            {"blocks": [{"type": "nonsense"}]}, {"text": "again"},
            {"text": "new", "replace_original": True}, {"delete_original": True}, {"text": "sixth"},
        )  # fmt: skip

    assert [status for status, _ in replies] == [200, 200, 400, 200, 200, 200, 404]
    assert replies[-1][1] == '{"ok":false,"error":"used_url"}'
    assert [m.text for m in ada.whispers()] == ["to you", "again"]
    assert running.texts() == ["to all"]


async def test_a_response_url_expires_after_half_an_hour(desk: Desk) -> None:
    posted = await desk.post(blocks=[actions(button("Yes", action_id="a"))])
    replies = desk.slack._interactions._replies  # pyright: ignore[reportPrivateUsage]  # no app listens in this test
    team = desk.slack.slack.workspaces["T0ACME"]
    channel = team.channels[GENERAL]
    message = channel.find(posted)
    assert message
    url = replies.open(desk.app, team, channel, message, ADA)

    desk.clock.now += 1799
    early = await desk.http.post(url, json={"text": "in time"})
    desk.clock.now += 2
    late = await desk.http.post(url, json={"text": "too late"})
    unknown = await desk.http.post(url + "x", json={"text": "nobody"})

    assert [a.status_code for a in (early, late, unknown)] == [200, 404, 404]
    assert late.json() == {"ok": False, "error": "expired_url"}


async def test_a_trigger_opens_one_modal_within_three_seconds(desk: Desk) -> None:
    views = desk.slack._interactions.views  # pyright: ignore[reportPrivateUsage]  # no app listens in this test

    def trigger(view: str | None = None) -> str:
        return views.trigger(desk.app, ADA, view)

    async def error(method: str, **args: Any) -> str:
        return await desk.error(f"views.{method}", **({"view": modal()} | args))

    first, late = trigger(), trigger()
    opened = (await desk.call("views.open", trigger_id=first, view=modal(external_id="e")))["view"]
    assert await error("open", trigger_id=first) == "exchanged_trigger_id"
    assert await error("open", trigger_id="made.up") == "invalid_trigger_id"
    desk.clock.now += 3.1
    assert await error("open", trigger_id=late) == "expired_trigger_id"
    assert await error("push", trigger_id=trigger()) == "not_found"
    assert await error("push", trigger_id=trigger(opened["id"])) == ""
    assert await error("push", trigger_id=trigger(opened["id"])) == ""
    assert await error("push", trigger_id=trigger(opened["id"])) == "push_limit_reached"
    assert await error("open", trigger_id=trigger(), view=modal(external_id="e")) == (
        "duplicate_external_id"
    )
    assert await error("update", view_id=opened["id"], hash="old") == "hash_conflict"
    assert await error("update", external_id="e", hash=opened["hash"]) == ""
    assert await error("update", view_id="V0NONE") == "not_found"
    assert await error("update") == "invalid_arguments"
    stack = [form.raw["previous_view_id"] for form in desk.ada.forms()]
    assert (len(stack), stack[:2]) == (3, [None, opened["id"]])


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ({"type": "home"}, "must be a valid enum value [json-pointer:/view/type]"),
        ({"title": plain("x" * 25)},
         "must be less than 25 characters [json-pointer:/view/title/text]"),
        ({"submit": plain("x" * 25)},
         "must be less than 25 characters [json-pointer:/view/submit/text]"),
        ({"private_metadata": "x" * 3001},
         "must be less than 3001 characters [json-pointer:/view/private_metadata]"),
        ({"callback_id": "x" * 256},
         "must be less than 256 characters [json-pointer:/view/callback_id]"),
        ({"blocks": [section()] * 101},
         "no more than 100 items allowed [json-pointer:/view/blocks]"),
        ({"blocks": [field(select())] * 1, "submit": None},
         "missing required field: submit [json-pointer:/view]"),
        ({"blocks": [{"type": "markdown", "text": ""}]},
         "must be more than 0 characters [json-pointer:/view/blocks/0/text]"),
        ({"blocks": None}, "missing required field: blocks [json-pointer:/view]"),
    ],
)  # fmt: skip
async def test_invalid_views_are_refused(desk: Desk, view: Json, message: str) -> None:
    trigger = desk.slack._interactions.views.trigger(desk.app, ADA)  # pyright: ignore[reportPrivateUsage]  # no app listens in this test

    answer = await desk.call("views.open", trigger_id=trigger, view=modal() | view)

    assert (answer["error"], answer["response_metadata"]["messages"][0]) == (
        "invalid_arguments", f"[ERROR] {message}",
    )  # fmt: skip
    huge = modal(*[section("x" * 2900)] * 90)
    assert await desk.error("views.open", trigger_id=trigger, view=huge) == "view_too_large"


async def test_every_form_input_is_submitted_in_slacks_format(desk: Desk) -> None:
    kinds: dict[str, tuple[Json, Any, Json]] = {
        "text": ({"type": "plain_text_input", "multiline": True}, "two\nlines",
                 {"value": "two\nlines"}),
        "mail": ({"type": "email_text_input"}, "a@b.example", {"value": "a@b.example"}),
        "page": ({"type": "url_text_input"}, "https://x.example", {"value": "https://x.example"}),
        "sum": ({"type": "number_input", "is_decimal_allowed": True}, 1.5, {"value": "1.5"}),
        "one": (select(2), "1", {"selected_option": {"text": plain("1") | {"emoji": True},
                                                     "value": "1"}}),
        "who": ({"type": "users_select"}, BEN, {"selected_user": BEN}),
        "where": ({"type": "multi_channels_select"}, [GENERAL], {"selected_channels": [GENERAL]}),
        "talk": ({"type": "conversations_select"}, GENERAL, {"selected_conversation": GENERAL}),
        "day": ({"type": "datepicker"}, "2026-05-06", {"selected_date": "2026-05-06"}),
        "hour": ({"type": "timepicker", "timezone": "Europe/Oslo"}, "07:08",
                 {"selected_time": "07:08", "timezone": "Europe/Oslo"}),
        "moment": ({"type": "datetimepicker"}, 1_790_000_000,
                   {"selected_date_time": 1_790_000_000}),
        "rich": ({"type": "rich_text_input"}, "hi", {"rich_text_value": {
            "type": "rich_text", "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "hi"}]}]}}),
        "pick": ({"type": "radio_buttons", "options": [{"text": mrkdwn("*a*"), "value": "a"}]}, "a",
                 {"selected_option": {"text": mrkdwn("*a*") | {"verbatim": False}, "value": "a"}}),
    }  # fmt: skip
    blocks = [
        field({**element, "action_id": name}, block_id=name)
        for name, (element, _, _) in kinds.items()
    ]
    blocks.append(field({"type": "file_input", "action_id": "file"}, block_id="file"))
    hands = desk.slack._interactions  # pyright: ignore[reportPrivateUsage]  # no app listens in this test
    trigger = hands.views.trigger(desk.app, ADA)
    form = (await desk.call("views.open", trigger_id=trigger, view=modal(*blocks)))["view"]["id"]

    entered = {name: value for name, (_, value, _) in kinds.items()}
    file = FileUpload(name="a.png", data=avatar_png("a"))
    outcome = await desk.ada.submit_form(form, entered | {"file": [file.model_dump()]})

    assert (outcome.sent, outcome.errors) == (True, {})
    values = desk.ada.forms()[0].raw["state"]["values"]
    assert values.pop("file")["file"]["files"][0]["mimetype"] == "image/png"
    assert values == {
        name: {name: {"type": element["type"], **expected}}
        for name, (element, _, expected) in kinds.items()
    }


async def test_values_that_the_client_refuses_are_not_sent(desk: Desk) -> None:
    number = {"type": "number_input", "is_decimal_allowed": False, "min_value": "2"}
    blocks = [
        field({"type": "plain_text_input", "action_id": "short", "max_length": 3}),
        field({"type": "email_text_input", "action_id": "mail"}),
        field({"type": "url_text_input", "action_id": "page"}),
        field(number | {"action_id": "few"}),
        field(number | {"action_id": "half"}),
        field({"type": "plain_text_input", "action_id": "free"}, optional=True),
    ]
    hands = desk.slack._interactions  # pyright: ignore[reportPrivateUsage]  # no app listens in this test
    trigger = hands.views.trigger(desk.app, ADA)
    form = (await desk.call("views.open", trigger_id=trigger, view=modal(*blocks)))["view"]["id"]

    wrong = {"short": "long", "mail": "a", "page": "x", "few": 1, "half": 2.5}
    outcome = await desk.ada.submit_form(form, wrong)

    assert (outcome.sent, outcome.errors) == (False, {
        "short": "Use between 0 and 3 characters.", "mail": "Enter a valid email address.",
        "page": "Enter a valid URL.", "few": "Enter a number of at least 2.",
        "half": "Enter a number.",
    })  # fmt: skip


async def test_an_impossible_user_action_raises_an_error(desk: Desk) -> None:
    plain_message = await desk.says("no card")
    ts = await desk.post(blocks=[actions(button("Go", action_id="go"), select(1, action_id="s"))])
    ada = desk.ada
    cases: list[tuple[Any, type[Exception], str]] = [
        (ada.press(plain_message, "go"), NotFound, "a person's"),
        (ada.press("1.1", "go"), NotFound, "No message"),
        (ada.press(ts, "stop"), NotFound, "it has 'go', 's'"),
        (ada.press(ts, "s"), InvalidData, "choose"),
        (ada.choose(ts, "go", 1), InvalidData, "is pressed"),
        (ada.choose(ts, "s", "9"), InvalidData, "not among the options"),
        (ada.choose(ts, "s", ["0", "0"]), InvalidData, "takes one value"),
        (ada.submit_form("V0"), NotFound, "No form"),
        (ada.press("", "go"), NotFound, "No message"),
        (LocalUser(desk.slack, "T0ACME", GENERAL, "U0").press(ts, "go"), NotFound, "No person"),
        (LocalUser(desk.slack, "T0", GENERAL, ADA).press(ts, "go"), NotFound, "No workspace"),
    ]

    for doing, error, words in cases:
        with pytest.raises(error, match=words):
            await doing


async def test_the_user_actions_are_available_over_http(running: Running) -> None:
    base = f"{running.context.base_url}/_control/slack"
    member = {"workspace": "T0ACME", "person": ADA}
    async with interactive_app(running) as (bot, _), aiohttp.ClientSession() as http:
        ts = await bot.post(
            actions(button("Ask", action_id="ask"), select(2, action_id="colour"))
        )  # fmt: skip
        place = {"channel": GENERAL, "message": ts}

        async def do(path: str, body: Json) -> tuple[int, Any]:
            async with http.post(f"{base}/{path}", json=member | body) as answer:
                return answer.status, await answer.json()

        pressed_ = await do("presses", place | {"action": "ask"})
        chosen = await do("choices", place | {"action": "colour", "value": "1"})
        async with http.get(f"{base}/forms", params=member) as answer:
            forms = await answer.json()
        sent = await do("forms", {"form": forms[0]["id"], "values": {"name": "Z"}})
        form = aiohttp.FormData(member | {"channel": GENERAL, "text": "look"})
        form.add_field("file", b"one", filename="1.txt", content_type="text/plain")
        async with http.post(f"{base}/files", data=form) as answer:
            shared = await answer.json()
        as_json = await do(
            "files", {"channel": GENERAL, "files": [{"name": "2.txt", "data": "dHdv"}]}
        )
        async with http.get(f"{base}/whispers", params=member) as answer:
            whispers = await answer.json()
        wrong = [
            await do("presses", place | {"action": "none"}),
            await do("presses", {"channel": GENERAL}),
            await do("choices", place | {"action": "colour", "value": "9"}),
        ]

    assert (pressed_[0], pressed_[1]["form"]["title"]) == (200, "A form")
    assert (chosen[0], chosen[1]["sent"], sent[1]["answered"]) == (200, True, True)
    assert [f["name"] for f in shared["raw"]["files"]] == ["1.txt"]
    assert (shared["text"], as_json[1]["raw"]["files"][0]["size"], whispers) == ("look", 3, [])
    assert [status for status, _ in wrong] == [404, 400, 400]
    assert all("error" in body for _, body in wrong)
