"""People press, choose and fill in forms on the local Teams; bots receive it in Teams' format."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import Outcome
from connectors.teams.sandbox import Delivering
from connectors.teams.sandbox.presses import UNREACHABLE, WENT_WRONG
from tests.connectors.teams.sandbox.cards import (
    ADAPTIVE,
    adaptive,
    execute,
    field,
    hero,
    message,
    submit,
    words,
)
from tests.connectors.teams.sandbox.inbox import inbox
from tests.connectors.teams.sandbox.rest import activities, as_bot
from tests.connectors.teams.sandbox.running import RunningTeams

Json = dict[str, Any]
ERROR = "application/vnd.microsoft.error"
CHOICES = [{"title": "Red", "value": "r"}, {"title": "Blue", "value": "b"}]
HOUR = 3600.0  # seconds, by the clock of Teams
ONCE = Delivering(answer_within=HOUR, retries=0, answer_invokes_within=HOUR)


async def sent(teams: RunningTeams, *attachments: Json, where: str = "", **more: Any) -> str:
    """Post a message with these attachments as the bot, and return its id."""
    async with as_bot(teams) as rest:
        path = activities(where or teams.channel)
        answer = await rest("POST", path, message(*attachments, **more))
    assert answer.status == 201, answer.body
    return answer.body["id"]


async def press(
    teams: RunningTeams, own_id: str, name: str, values: Json | None = None, *, form: str = ""
) -> Outcome:
    return await teams.do(teams.user().press(own_id, name, values, form=form))


async def test_submit_is_a_message_with_a_value_and_no_text(teams: RunningTeams) -> None:
    card = await sent(teams, adaptive(field("name"), actions=[submit("Go", {"a": 1})]))

    async with inbox(teams) as bot:
        outcome = await press(teams, card, "Go", {"name": "Zoë"})

    received = bot.activities[0]
    person = next(iter(teams.teams.tenant.people.values()))
    assert outcome == Outcome(sent=True, answered=True)
    assert (received["type"], received["value"]) == ("message", {"a": 1, "name": "Zoë"})
    assert "text" not in received
    assert "attachments" not in received
    assert received["id"].startswith("f:")
    assert received["replyToId"] == card
    assert received["from"]["id"] == person.id
    assert received["from"]["aadObjectId"] == person.aad_id
    assert received["conversation"]["id"] == f"{teams.channel};messageid={card}"
    assert received["channelData"]["source"] == {"name": "message"}
    assert received["channelData"]["legacy"]["replyToId"].startswith("1:")
    assert received["channelData"]["team"]["id"]
    assert received["entities"][0]["type"] == "clientInfo"
    assert await teams.texts() == [""]


async def test_an_action_sends_the_inputs_that_the_client_collects(teams: RunningTeams) -> None:
    inner = {
        "type": "AdaptiveCard", "body": [field("inner", value="deep")],
        "actions": [submit("Inside")],
    }  # fmt: skip
    inputs: list[Json] = [
        field("text"), field("filled", value="before"),
        {"type": "Input.Number", "id": "number", "min": 1, "max": 9},
        {"type": "Input.Date", "id": "date"}, {"type": "Input.Time", "id": "time"},
        {"type": "Input.Toggle", "id": "box", "title": "Tick", "valueOn": "yes"},
        {"type": "Input.ChoiceSet", "id": "one", "choices": CHOICES},
        {"type": "Input.ChoiceSet", "id": "many", "isMultiSelect": True, "choices": CHOICES},
    ]  # fmt: skip
    card = await sent(
        teams, adaptive({"type": "Container", "items": inputs}, actions=[
            submit("All", id="all"), submit("None", associatedInputs="none"),
            submit("Word", "just a text", associatedInputs="none"),
            {"type": "Action.ShowCard", "title": "More", "card": inner},
        ]),
    )  # fmt: skip
    values = {
        "text": "t", "number": 7, "date": "2026-01-31", "time": "09:30", "box": True,
        "one": "Red", "many": ["r", "Blue"],
    }  # fmt: skip

    async with inbox(teams) as bot:
        await press(teams, card, "all")
        await press(teams, card, "None")
        await press(teams, card, "Word")
        await press(teams, card, "Inside")
        await press(teams, card, "all", values)
        outcome = await press(teams, card, "More")

    sent_values = [activity.get("value") for activity in bot.activities]
    assert sent_values == [
        {"filled": "before", "box": "false"},
        {},
        "just a text",
        {"filled": "before", "box": "false", "inner": "deep"},
        {"text": "t", "filled": "before", "number": "7", "date": "2026-01-31", "time": "09:30",
         "box": "yes", "one": "r", "many": "r,b"},
    ]  # fmt: skip
    assert outcome == Outcome(sent=False)


async def test_a_choice_is_sent_with_the_next_press(teams: RunningTeams) -> None:
    menu = {"type": "Input.ChoiceSet", "id": "colour", "label": "Colour", "choices": CHOICES}
    card = await sent(teams, adaptive(menu, actions=[submit("Go")]))

    async with inbox(teams) as bot:
        chosen = await teams.do(teams.user().choose(card, "Colour", "Blue"))
        await teams.do(teams.user(1).press(card, "Go"))
        await press(teams, card, "Go")

    assert chosen == Outcome(sent=False)
    assert [activity["value"] for activity in bot.activities] == [{}, {"colour": "b"}]


@pytest.mark.parametrize(
    ("input_field", "value", "error"),
    [
        (field("a", isRequired=True, errorMessage="Say it"), "", "Say it"),
        (field("a", isRequired=True), "", "This is a required input."),
        (field("a", maxLength=3), "four", "This input is not valid."),
        ({"type": "Input.Number", "id": "a", "max": 5}, 6, "This input is not valid."),
        ({"type": "Input.Date", "id": "a", "min": "2026-01-01"}, "2025-12-31",
         "This input is not valid."),
        ({"type": "Input.Toggle", "id": "a", "title": "x", "isRequired": True}, False,
         "This is a required input."),
    ],
)  # fmt: skip
async def test_a_press_with_invalid_inputs_is_not_sent(
    teams: RunningTeams, input_field: Json, value: Any, error: str
) -> None:
    card = await sent(teams, adaptive(input_field, actions=[submit("Go")]))

    async with inbox(teams) as bot:
        outcome = await press(teams, card, "Go", {"a": value})

    assert (outcome.sent, outcome.errors, bot.activities) == (False, {"a": error}, [])


@pytest.mark.parametrize(
    ("button", "in_card", "expected", "text"),
    [
        ({"type": "imBack", "title": "B", "value": "I say"}, False, {"text": "I say"}, "I say"),
        ({"type": "imBack", "value": "I say"}, True, {"text": "I say"}, "I say"),
        (
            {"type": "messageBack", "title": "B", "text": "t", "value": '{"a": 1}',
             "displayText": "Seen"},
            False, {"text": "t", "value": {"a": 1}}, "Seen",
        ),
        (
            {"type": "messageBack", "text": "t", "value": '{"both": "from value", "a": 1}'},
            True, {"text": "t", "value": {"own": 7, "both": "from value", "a": 1}}, "",
        ),
        ({"type": "invoke", "title": "B", "value": {"option": 1}}, False,
         {"value": {"option": 1}}, ""),
        ({"type": "invoke", "title": "B", "value": "word"}, False, {"value": "word"}, ""),
        ({"type": "openUrl", "title": "B", "value": "https://a.example"}, False, None, ""),
        ({"type": "signin", "title": "B", "value": "https://a.example"}, True, None, ""),
    ],
)  # fmt: skip
async def test_bot_framework_buttons_send_their_activity(
    teams: RunningTeams, button: Json, in_card: bool, expected: Json | None, text: str
) -> None:
    data = {"msteams": button, "own": 7, "both": "from data"}
    attachment = adaptive(actions=[submit("B", data)]) if in_card else hero(button)
    card = await sent(teams, attachment)

    async with inbox(teams) as bot:
        outcome = await press(teams, card, "B")
        await teams.settled()

    assert outcome.sent == (expected is not None)
    received = bot.activities[0] if bot.activities else {}
    assert {name: received.get(name) for name in expected or {}} == (expected or {})
    assert (await teams.texts())[1:] == ([text] if text else [])
    if text:
        posted = teams.teams.messages(teams.tenant, teams.channel)[1]
        assert (posted.author, posted.thread) == ("Ada Lindqvist", card)


async def test_an_execute_press_is_an_invoke_answered_with_a_personal_card(
    teams: RunningTeams,
) -> None:
    first = adaptive(field("name"), actions=[execute("Go", "run", {"a": 1}, id="go")])
    second = {"type": "AdaptiveCard", "version": "1.5", "body": [words("done")],
              "actions": [execute("Again", "again")]}  # fmt: skip
    card = await sent(teams, first)

    async with inbox(teams) as bot:
        bot.replies = [{"statusCode": 200, "type": ADAPTIVE, "value": second}]
        outcome = await press(teams, card, "Go", {"name": "Zoë"})
        mine = await teams.call(teams.user().whispers)
        theirs = await teams.call(teams.user(1).whispers)
        with pytest.raises(NotFound, match="there is Again"):
            await press(teams, card, "go")
        await press(teams, card, "Again")
        async with as_bot(teams) as rest:
            await rest("PUT", activities(teams.channel, card), message(first))
        await press(teams, card, "go")

    assert outcome.answered
    assert outcome.raw["type"] == ADAPTIVE
    assert bot.invokes[0]["name"] == "adaptiveCard/action"
    assert bot.invokes[0]["value"] == {
        "action": {
            "type": "Action.Execute", "id": "go", "verb": "run", "data": {"a": 1, "name": "Zoë"},
        },
        "trigger": "manual",
    }  # fmt: skip
    assert bot.invokes[0]["replyToId"] == card
    assert [m.raw["attachments"][0]["content"] for m in mine] == [second]
    assert theirs == []
    assert [i["value"]["action"]["verb"] for i in bot.invokes] == ["run", "again", "run"]
    posted = teams.teams.messages(teams.tenant, teams.channel)[0]
    assert posted.raw["attachments"] == [first]


@pytest.mark.parametrize(
    ("reply", "notice", "failed"),
    [
        ({"statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": "Yes"},
         "Yes", ""),
        ({"statusCode": 400, "type": ERROR, "value": {"code": "BadRequest", "message": "No"}},
         "", "No"),
        ({"statusCode": 500, "type": ERROR, "value": {}}, "", WENT_WRONG),
        ({"statusCode": 401, "type": "application/vnd.microsoft.activity.loginRequest",
          "value": {"text": "x"}}, "", WENT_WRONG),
        ({"statusCode": 200, "type": ADAPTIVE, "value": {"type": "AdaptiveCard"}}, "", WENT_WRONG),
        ({"statusCode": 200, "type": "something/else", "value": 1}, "", WENT_WRONG),
        ({}, "", WENT_WRONG),
        ("a text", "", WENT_WRONG),
    ],
)  # fmt: skip
async def test_invoke_answers_are_shown_as_notices_or_errors(
    teams: RunningTeams, reply: Any, notice: str, failed: str
) -> None:
    card = await sent(teams, adaptive(actions=[execute("Go", "run")]))

    async with inbox(teams) as bot:
        bot.replies = [reply]
        outcome = await press(teams, card, "Go")

    assert (outcome.sent, outcome.notice, outcome.failed) == (True, notice, failed)


async def test_older_cards_use_fallbacks_and_hidden_actions_cannot_be_pressed(
    teams: RunningTeams,
) -> None:
    fallback = execute("Go", "run", fallback=submit("Go", {"old": 1}))
    old = await sent(teams, adaptive(actions=[fallback, execute("Bare", "run")], version="1.3"))
    http = {"type": "Action.Http", "title": "Http", "url": "https://a.example", "method": "POST"}
    odd = await sent(
        teams, adaptive(actions=[http, submit("Off", isEnabled=False)]),
        hero({"type": "call", "title": "Call", "value": "tel:1"}),
    )  # fmt: skip

    async with inbox(teams) as bot:
        await press(teams, old, "Go")
        for where, name in ((old, "Bare"), (odd, "Http"), (odd, "Off"), (odd, "Call")):
            with pytest.raises(Refused):
                await press(teams, where, name)

    assert [activity["value"] for activity in bot.activities] == [{"old": 1}]


async def test_a_dialog_is_opened_continued_and_closed(teams: RunningTeams) -> None:
    fetch = submit("Ask", {"msteams": {"type": "task/fetch"}, "what": 1})
    card = await sent(teams, adaptive(actions=[fetch]), hero(
        {"type": "invoke", "title": "Buy", "value": {"type": "task/fetch", "what": 2}}
    ))  # fmt: skip
    form = adaptive(field("name", isRequired=True), actions=[submit("Send", {"n": 1}), submit("2")])
    info = {"title": "A form", "height": "medium", "card": form}

    async with inbox(teams) as bot:
        bot.replies = [
            {"task": {"type": "continue", "value": info}},
            {"task": {"type": "continue", "value": {**info, "title": "Next"}}},
            {"task": {"type": "message", "value": "Thank you"}},
            {"task": {"type": "continue", "value": {"title": "Page", "url": "https://a.example"}}},
        ]
        user = teams.user()
        opened = await press(teams, card, "Ask")
        assert opened.form
        empty = await teams.do(user.submit_form(opened.form.id))
        next_outcome = await teams.do(user.submit_form(opened.form.id, {"Name": "Zoë"}))
        assert next_outcome.form
        await teams.do(user.choose("", "name", "Bo", form=next_outcome.form.id))
        ended = await press(teams, "", "2", form=next_outcome.form.id)
        page = await press(teams, card, "Buy")
        standing = await teams.call(user.forms)
        assert page.form
        closed = await teams.do(user.close_form(page.form.id))
        with pytest.raises(NotFound):
            await teams.do(user.submit_form(opened.form.id))

    assert (opened.form.title, opened.form.fields) == ("A form", {"name": "Name"})
    assert (empty.sent, empty.errors) == (False, {"name": "This is a required input."})
    assert (next_outcome.form.title, ended.notice, ended.form) == ("Next", "Thank you", None)
    assert [form.title for form in standing] == ["Page"]
    assert (closed.sent, await teams.call(user.forms)) == (False, [])
    theme = {"theme": "default"}
    assert [(i["name"], i["value"]) for i in bot.invokes] == [
        ("task/fetch", {"data": {"msteams": {"type": "task/fetch"}, "what": 1}, "context": theme}),
        ("task/submit", {"data": {"n": 1, "name": "Zoë"}, "context": theme}),
        ("task/submit", {"data": {"name": "Bo"}, "context": theme}),
        ("task/fetch", {"data": {"type": "task/fetch", "what": 2}, "context": theme}),
    ]


async def test_a_dialog_stays_open_when_the_bot_fails(teams: RunningTeams) -> None:
    card = await sent(teams, adaptive(actions=[submit("Ask", {"msteams": {"type": "task/fetch"}})]))
    info = {"title": "A form", "card": adaptive(field("name"), actions=[submit("Send")])}

    async with inbox(teams) as bot:
        bot.replies = [
            {"task": {"type": "continue", "value": {"title": "nothing inside"}}},
            {"task": {"type": "continue", "value": info}},
        ]
        wrong = await press(teams, card, "Ask")
        opened = await press(teams, card, "Ask")
        nothing = await press(teams, card, "Ask")
        assert opened.form
        bot.answers = [500]
        failed = await teams.do(teams.user().submit_form(opened.form.id))
        ended = await teams.do(teams.user().submit_form(opened.form.id))

    assert (wrong.failed, nothing.failed, failed.failed) == (WENT_WRONG, UNREACHABLE, UNREACHABLE)
    assert (ended.answered, ended.failed, ended.form) == (True, "", None)


async def test_a_press_fails_when_the_bot_answers_late(teams: RunningTeams) -> None:
    teams.teams.outbox.delivering = ONCE
    card = await sent(
        teams, adaptive(actions=[execute("Go", "run"), submit("Say"),
                                 submit("Ask", {"msteams": {"type": "task/fetch"}})])
    )  # fmt: skip

    nobody = await press(teams, card, "Go")
    async with inbox(teams) as bot:
        bot.hold = asyncio.Event()
        late: list[Outcome] = []
        for number, name in enumerate(("Go", "Say", "Ask"), 1):
            pressing = asyncio.create_task(press(teams, card, name))
            await bot.received(number)
            await teams.pass_time(2 * HOUR)
            late.append(await pressing)
        bot.hold = None
        bot.answers = [500]
        refused = await press(teams, card, "Say")

    assert nobody.failed == WENT_WRONG
    assert [outcome.failed for outcome in late] == [WENT_WRONG, WENT_WRONG, UNREACHABLE]
    assert refused == Outcome(sent=True, failed=WENT_WRONG)


async def test_requested_faults_break_presses(teams: RunningTeams) -> None:
    card = await sent(teams, adaptive(actions=[execute("Go", "run"), submit("Say")]))
    reply = {"statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": "y"}

    async with inbox(teams) as bot:
        bot.replies = [reply]
        await teams.fault(Fault(kind="drop", where=f"teams:invoke:{teams.channel}"))
        await teams.fault(Fault(kind="drop", where="teams:event:*"))
        dropped = [await press(teams, card, name) for name in ("Go", "Say")]
        await teams.fault(Fault(kind="delay", where="teams:invoke:*", seconds=0.01))
        late = await press(teams, card, "Go")

    assert [outcome.failed for outcome in dropped] == [WENT_WRONG] * 2
    assert (late.notice, len(bot.activities)) == ("y", 1)


async def test_a_suggested_action_posts_its_message(teams: RunningTeams) -> None:
    person = next(iter(teams.teams.tenant.people))
    chat = teams.teams.personal_chat("bridge", person)
    action = {"type": "imBack", "title": "Yes", "value": "yes please"}
    card = await sent(teams, where=chat, text="Well?", suggestedActions={"actions": [action]})

    async with inbox(teams) as bot:
        await teams.do(teams.user(channel=chat).press(card, "Yes"))
        await teams.settled()

    assert bot.texts == ["yes please"]


async def test_presses_of_missing_controls_are_refused_with_a_reason(teams: RunningTeams) -> None:
    card = await sent(teams, adaptive(field("name"), actions=[submit("Go")]))
    posted = await teams.say("only words")
    user = teams.user()

    with pytest.raises(NotFound, match="there is Go"):
        await press(teams, card, "Stop")
    with pytest.raises(NotFound, match="there is nothing"):
        await press(teams, posted.id, "Go")
    with pytest.raises(NotFound, match="No message"):
        await press(teams, "1", "Go")
    with pytest.raises(NotFound, match="there is name"):
        await teams.do(user.choose(card, "colour", "r"))
    with pytest.raises(NotFound, match="No form"):
        await teams.do(user.submit_form("none"))
    chat = teams.teams.personal_chat("bridge", posted.author_id)
    with pytest.raises(Refused):
        await teams.do(teams.user(1, chat).press(card, "Go"))
    for name, value in (("name", True), ("name", [1])):
        with pytest.raises(InvalidData):
            await teams.do(user.choose(card, name, value))


@pytest.mark.parametrize(
    ("input_field", "value"),
    [
        ({"type": "Input.Number", "id": "a"}, "many"),
        ({"type": "Input.Date", "id": "a"}, "tomorrow"),
        ({"type": "Input.Time", "id": "a"}, "noon"),
        ({"type": "Input.Toggle", "id": "a", "title": "x"}, "perhaps"),
        ({"type": "Input.ChoiceSet", "id": "a", "choices": CHOICES}, "green"),
        ({"type": "Input.ChoiceSet", "id": "a", "choices": CHOICES}, ["r", "b"]),
    ],
)
async def test_invalid_input_values_are_refused_with_a_reason(
    teams: RunningTeams, input_field: Json, value: Any
) -> None:
    card = await sent(teams, adaptive(input_field, actions=[submit("Go")]))

    with pytest.raises(InvalidData):
        await teams.do(teams.user().choose(card, "a", value))


WITH_THUMBS: Json = {"channelData": {"feedbackLoop": {"type": "default"}}}


async def test_a_feedback_button_sends_an_invoke_with_the_form(teams: RunningTeams) -> None:
    answer = await sent(teams, text="Blue.", **WITH_THUMBS)

    async with inbox(teams) as bot:
        outcome = await press(teams, answer, "dislike", {"comment": "why?"})

    received = bot.activities[0]
    assert outcome.sent
    assert (received["type"], received["name"]) == ("invoke", "message/submitAction")
    assert received["replyToId"] == answer
    assert received["value"] == {
        "actionName": "feedback",
        "actionValue": {"reaction": "dislike", "feedback": '{"feedbackText":"why?"}'},
    }


async def test_a_message_without_a_feedback_loop_has_no_feedback_buttons(
    teams: RunningTeams,
) -> None:
    answer = await sent(teams, text="Blue.")

    with pytest.raises(NotFound):
        await press(teams, answer, "like")


@pytest.mark.parametrize(
    "data",
    [
        {"feedbackLoop": {"type": "default"}, "feedbackLoopEnabled": True},
        {"feedbackLoop": {"type": "stars"}},
        {"feedbackLoop": True},
    ],
)
async def test_a_malformed_feedback_loop_is_refused(teams: RunningTeams, data: Json) -> None:
    async with as_bot(teams) as rest:
        answer = await rest("POST", activities(teams.channel), message(text="x", channelData=data))

    assert answer.status == 400
