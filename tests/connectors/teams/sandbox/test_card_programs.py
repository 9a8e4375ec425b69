"""Plain botbuilder-core programs that post cards, receive presses, open dialogs and move files."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
from botbuilder.core import CardFactory, MessageFactory, TurnContext
from botbuilder.core.teams import TeamsActivityHandler
from botbuilder.schema import (
    ActionTypes,
    Activity,
    AdaptiveCardInvokeResponse,
    AdaptiveCardInvokeValue,
    Attachment,
    CardAction,
    HeroCard,
)
from botbuilder.schema.teams import (
    FileConsentCard,
    FileConsentCardResponse,
    TaskModuleContinueResponse,
    TaskModuleMessageResponse,
    TaskModuleRequest,
    TaskModuleResponse,
    TaskModuleTaskInfo,
)
from botframework.connector.models import ErrorResponseException

from bridge.sandbox.user_actions import LocalUser
from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.teams.sandbox.bots import (
    OwnCredentials,
    OwnCredentialsFactory,
    PlainAdapter,
    authentication,
    listening,
    message_route,
)
from tests.connectors.teams.sandbox.cards import adaptive, execute, field, submit, words
from tests.connectors.teams.sandbox.running import RunningTeams
from tests.connectors.teams.sandbox.test_drive import chat_of

Json = dict[str, Any]


def card(*body: Json, actions: list[Json] | None = None) -> Json:
    return adaptive(*body, actions=actions)["content"]


class OfficeBot(TeamsActivityHandler):
    """Answers words and presses with cards, dialogs and files."""

    def __init__(self) -> None:
        self.failed: list[Exception] = []
        self.pressed: list[Any] = []
        self.got: list[bytes] = []
        self.credentials: OwnCredentials | None = None

    async def on_message_activity(self, turn_context: TurnContext) -> None:
        activity = turn_context.activity
        if activity.value is not None:
            self.pressed.append((activity.text, activity.value))
            changed = MessageFactory.attachment(CardFactory.adaptive_card(card(words("done"))))
            changed.id = activity.reply_to_id
            await turn_context.update_activity(changed)
            return
        word = str(TurnContext.remove_recipient_mention(activity) or activity.text or "").strip()
        match word:
            case "card":
                fetch = submit("Ask", {"msteams": {"type": "task/fetch"}})
                new_card = card(
                    field("name"), actions=[submit("Go", {"a": 1}), execute("Run", "run"), fetch]
                )
                await turn_context.send_activity(
                    MessageFactory.attachment(CardFactory.adaptive_card(new_card))
                )
            case "hero":
                button = CardAction(
                    type=ActionTypes.message_back, title="Tell", text="told", value={"b": 2}
                )
                hero = HeroCard(title="A hero", buttons=[button])
                await turn_context.send_activity(
                    MessageFactory.attachment(CardFactory.hero_card(hero))
                )
            case "file":
                await turn_context.send_activity(MessageFactory.attachment(_offer()))
            case "wrong":
                await self._wrong(turn_context)
            case _:
                await self._read(activity)

    async def on_adaptive_card_invoke(
        self, turn_context: TurnContext, invoke_value: AdaptiveCardInvokeValue
    ) -> AdaptiveCardInvokeResponse:
        action: Any = invoke_value.action
        self.pressed.append((action["verb"], action["data"]))
        answer: Any = card(words("yours alone"))
        return AdaptiveCardInvokeResponse(
            status_code=200, type="application/vnd.microsoft.card.adaptive", value=answer
        )

    async def on_teams_task_module_fetch(
        self, turn_context: TurnContext, task_module_request: TaskModuleRequest
    ) -> TaskModuleResponse:
        form = CardFactory.adaptive_card(card(field("name"), actions=[submit("Send")]))
        info = TaskModuleTaskInfo(title="A form", card=form, height=200, width=400)
        return TaskModuleResponse(task=TaskModuleContinueResponse(value=info))

    async def on_teams_task_module_submit(
        self, turn_context: TurnContext, task_module_request: TaskModuleRequest
    ) -> TaskModuleResponse:
        submitted: Any = task_module_request.data
        return TaskModuleResponse(
            task=TaskModuleMessageResponse(value=f"Hello {submitted['name']}")
        )

    async def on_teams_file_consent_accept(  # pyright: ignore[reportIncompatibleMethodOverride]  # botbuilder's own is of type Never
        self, turn_context: TurnContext, file_consent_card_response: FileConsentCardResponse
    ) -> None:
        place: Any = file_consent_card_response.upload_info
        headers = {"Content-Range": "bytes 0-4/5", "Content-Length": "5"}
        async with (
            aiohttp.ClientSession() as http,
            http.put(place.upload_url, data=b"notes", headers=headers) as answer,
        ):
            await turn_context.send_activity(f"{place.name}: {answer.status}")

    async def on_teams_file_consent_decline(  # pyright: ignore[reportIncompatibleMethodOverride]  # botbuilder's own is of type Never
        self, turn_context: TurnContext, file_consent_card_response: FileConsentCardResponse
    ) -> None:
        await turn_context.send_activity("Then not.")

    async def _read(self, activity: Activity) -> None:
        """Read shared files: images with the token, other files at their URL."""
        attachments: list[Any] = activity.attachments or []
        for attachment in attachments:
            if attachment.content_type == "image/*" and self.credentials:
                token = self.credentials.get_access_token()
                self.got.append(await _get(attachment.content_url, Authorization=f"Bearer {token}"))
            elif attachment.content_type.endswith("file.download.info"):
                self.got.append(await _get(attachment.content["downloadUrl"]))

    async def _wrong(self, turn_context: TurnContext) -> None:
        for attachment in (
            Attachment(content_type="application/pdf", content_url="https://a.example/a.pdf"),
            CardFactory.adaptive_card({"type": "AdaptiveCard", "body": []}),
            CardFactory.adaptive_card(card(words("x" * 30_000))),
        ):
            try:
                await turn_context.send_activity(MessageFactory.attachment(attachment))
            except ErrorResponseException as error:
                self.failed.append(error)


async def _get(url: str, **headers: str) -> bytes:
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        return await answer.read()


def _offer() -> Attachment:
    offered = FileConsentCard(
        description="Notes", size_in_bytes=5, accept_context={"n": 1}, decline_context={"n": 2}
    )
    kind = "application/vnd.microsoft.teams.card.file.consent"
    return Attachment(content_type=kind, name="notes.txt", content=offered.serialize())


@contextlib.asynccontextmanager
async def office(teams: RunningTeams) -> AsyncGenerator[tuple[OfficeBot, LocalUser]]:
    """The bot with authentication, and a person in their chat with it."""
    bridge = teams.bot("bridge")
    bot = OfficeBot()
    bot.credentials = OwnCredentials(bridge.app_id, bridge.password, teams.token_url)
    openid = teams.teams.world().apps[0]["openid_url"]
    adapter = PlainAdapter(
        authentication(OwnCredentialsFactory(bot.credentials), teams.token_url, openid)
    )
    async with listening(message_route(adapter, bot)) as url:
        await teams.listen("bridge", url)
        yield bot, teams.user(channel=chat_of(teams))
        await teams.settled()


async def posted(teams: RunningTeams, user: LocalUser, word: str) -> str:
    """Post a word in the chat, and return the id of the bot's answer."""
    question = await teams.do(user.say(word))
    await teams.settled()
    answer = teams.teams.messages(teams.tenant, question.channel)[-1]
    assert answer.bot, answer
    return answer.id


async def test_a_program_receives_a_press_and_changes_the_card(teams: RunningTeams) -> None:
    async with office(teams) as (bot, user):
        own_id = await posted(teams, user, "card")
        outcome = await teams.do(user.press(own_id, "Go", {"name": "Zoë"}))
        hero_id = await posted(teams, user, "hero")
        await teams.do(user.press(hero_id, "Tell"))
        messages = teams.teams.messages(teams.tenant, chat_of(teams))

    assert outcome.answered
    assert bot.pressed == [(None, {"a": 1, "name": "Zoë"}), ("told", {"b": 2})]
    changed = next(m for m in messages if m.id == own_id)
    assert changed.raw["attachments"][0]["content"]["body"] == [words("done")]
    assert bot.failed == []


async def test_execute_is_answered_with_a_card_for_the_presser(teams: RunningTeams) -> None:
    async with office(teams) as (bot, user):
        own_id = await posted(teams, user, "card")
        await teams.do(user.press(own_id, "Run", {"name": "Zoë"}))
        mine = await teams.call(user.whispers)

    assert bot.pressed == [("run", {"name": "Zoë"})]
    assert mine[0].raw["attachments"][0]["content"]["body"] == [words("yours alone")]
    assert bot.failed == []


async def test_a_dialog_is_opened_and_submitted(teams: RunningTeams) -> None:
    async with office(teams) as (bot, user):
        own_id = await posted(teams, user, "card")
        opened = await teams.do(user.press(own_id, "Ask"))
        assert opened.form, opened
        sent = await teams.do(user.submit_form(opened.form.id, {"name": "Zoë"}))

    assert (opened.form.title, opened.form.raw["height"]) == ("A form", 200)
    assert (sent.notice, bot.failed) == ("Hello Zoë", [])


async def test_a_bot_uploads_a_file_and_reads_shared_files(teams: RunningTeams) -> None:
    async with office(teams) as (bot, user):
        own_id = await posted(teams, user, "file")
        accepted = await teams.do(user.press(own_id, "Accept"))
        declined = await teams.do(user.press(own_id, "Decline"))
        await teams.do(user.post_file("cat.png", avatar_png("cat")))
        await teams.do(user.post_file("a.txt", b"text"))
        await teams.settled()
        texts = [m.text for m in teams.teams.messages(teams.tenant, chat_of(teams))]

    assert (accepted.answered, declined.answered, bot.failed) == (True, True, [])
    assert texts[2:4] == ["notes.txt: 201", "Then not."]
    assert bot.got == [avatar_png("cat"), b"text"]


async def test_refusals_reach_the_program_as_botbuilder_errors(teams: RunningTeams) -> None:
    async with office(teams) as (bot, user):
        await teams.do(user.say("wrong"))
        await teams.settled()

    refused: list[Any] = bot.failed
    assert [
        (e.response.status_code, e.error.error.code, e.error.error.message) for e in refused
    ] == [
        (400, "BadSyntax", "Unknown attachment type"),
        (400, "BadSyntax", "Required property 'version' not found on AdaptiveCard"),
        (413, "MessageSizeTooBig", "Message size too large."),
    ]
