"""People use cards and dialogs: press, choose, fill in; and the answers of bots.

msteams-docs: "Card actions", "Universal Actions", "Use dialogs with bots", "Send and receive
files". Bots receive nothing of local actions of the client (opening addresses, showing cards).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import orjson

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import OpenForm, Outcome
from connectors.teams.sandbox import shapes
from connectors.teams.sandbox.cards.checks import ADAPTIVE, check_card
from connectors.teams.sandbox.cards.controls import (
    Control,
    all_inputs,
    card_controls,
    controls_of,
    find_control,
    submitted_inputs,
)
from connectors.teams.sandbox.cards.inputs import (
    find_input,
    input_errors,
    input_text,
    label_of,
    with_inputs,
)
from connectors.teams.sandbox.events import InvokeAnswer
from connectors.teams.sandbox.feedback import THUMBS, asks_for_feedback
from connectors.teams.sandbox.refusals import Refusal
from connectors.teams.sandbox.room import Room
from connectors.teams.sandbox.state import Bot, Json, Message, Person

UNREACHABLE = "Unable to reach app. Please try again."
WENT_WRONG = "Something went wrong. Please try again."
_OWN_OF_CLIENT = frozenset({
    "Action.OpenUrl", "Action.OpenUrlDialog", "Action.ShowCard", "Action.ToggleVisibility",
    "Action.ResetInputs", "Action.Popover",
})  # fmt: skip
_CONTEXT = {"theme": "default"}


@dataclass
class _Dialog:
    """An open dialog of a person; `source` is the message that opened it."""

    id: str
    person: Person
    source: Message
    info: Json

    @property
    def card(self) -> Json:
        card = self.info.get("card")
        content = card.get("content") if isinstance(card, dict) else None
        return content if isinstance(content, dict) else {}

    def to_form(self) -> OpenForm:
        fields = {field["id"]: label_of(field) for field in all_inputs(self.card)}
        return OpenForm(
            id=self.id, person=self.person.id, title=str(self.info.get("title") or ""),
            fields=fields, raw=self.info,
        )  # fmt: skip


class Presses:
    """Actions of people on messages of bots."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._typed: dict[tuple[str, str], dict[str, str]] = {}  # by message or dialog, person
        self._dialogs: dict[str, _Dialog] = {}

    async def press(self, by: Person, message: Message, name: str, values: Json) -> Outcome:
        activity = shapes.seen_activity(message, by.id)
        if name in THUMBS and asks_for_feedback(activity):
            return await self._judge(by, message, name, values)
        control = find_control(controls_of(activity), name)
        if control.sort == "adaptive":
            return await self._act(by, message, control, values)
        if values:
            raise InvalidData(f"There are no inputs beside {name!r}")
        if control.sort == "consent":
            return await self._consent(by, message, activity, control)
        return await self._button(by, message, control.action)

    def choose(self, by: Person, message: Message, name: str, value: Any) -> Outcome:
        """Fill in an input; its value waits for a press."""
        cards = [
            attachment["content"]
            for attachment in shapes.seen_activity(message, by.id).get("attachments") or []
            if attachment.get("contentType") == ADAPTIVE
        ]
        self._fill(
            by, message.id, [field for card in cards for field in all_inputs(card)], name, value
        )
        return Outcome(sent=False)

    async def press_in_form(self, by: Person, form: str, name: str, values: Json) -> Outcome:
        dialog = self._dialog(by, form)
        control = find_control(card_controls(dialog.card), name)
        return await self._submit_dialog(dialog, control, values)

    def choose_in_form(self, by: Person, form: str, name: str, value: Any) -> Outcome:
        dialog = self._dialog(by, form)
        self._fill(by, dialog.id, list(all_inputs(dialog.card)), name, value)
        return Outcome(sent=False)

    async def submit_form(self, by: Person, form: str, values: Json) -> Outcome:
        """Press the first submit button of a dialog."""
        dialog = self._dialog(by, form)
        for control in card_controls(dialog.card):
            if control.action.get("type") == "Action.Submit":
                return await self._submit_dialog(dialog, control, values)
        raise NotFound("The dialog has no button that sends it")

    def close_form(self, by: Person, form: str) -> Outcome:
        """Close a dialog; Teams does not notify the bot."""
        self._close(self._dialog(by, form))
        return Outcome(sent=False)

    def forms(self, person: str) -> list[OpenForm]:
        return [d.to_form() for d in self._dialogs.values() if d.person.id == person]

    async def _act(self, by: Person, message: Message, control: Control, values: Json) -> Outcome:
        """Press an action of an Adaptive Card."""
        action = _action_shown(control)
        kind = action.get("type")
        if action.get("isEnabled") is False:
            raise Refused(f"{control.words or control.id!r} is disabled")
        if kind in _OWN_OF_CLIENT:
            return Outcome(sent=False)
        if kind not in ("Action.Submit", "Action.Execute"):
            raise Refused(f"Teams shows no action of the type {kind!r}")
        typed = self._with(by, message.id, control, values)
        inputs = submitted_inputs(control)
        sent = with_inputs(inputs, typed)
        if wrong := input_errors(inputs, sent):
            return Outcome(sent=False, errors=wrong)
        if kind == "Action.Execute":
            return await self._execute(by, message, control.attachment, action, sent)
        return await self._submit(by, message, action.get("data"), sent)

    async def _submit(
        self, by: Person, message: Message, data: Any, sent: Mapping[str, str]
    ) -> Outcome:
        special = data.get("msteams") if isinstance(data, dict) else None
        kind = special.get("type") if isinstance(special, dict) else None
        if not isinstance(special, dict) or kind is None:
            return await self._tell(by, message, {"value": _merge(data, sent)})
        if kind == "task/fetch":
            return await self._fetch(by, message, _merge(data, sent))
        fields = {name: value for name, value in _merge(data, sent).items() if name != "msteams"}
        if kind == "messageBack":
            own = _parse(special.get("value"))
            value = fields | own if isinstance(own, dict) else own if own is not None else fields
            return await self._message_back(by, message, special, value)
        if kind == "invoke":
            return await self._invoke(by, message, _parse(special.get("value")))
        return await self._button(by, message, special)

    async def _button(self, by: Person, message: Message, action: Json) -> Outcome:
        """Press a CardAction of the Bot Framework."""
        value = action.get("value")
        match action.get("type"):
            case "openUrl" | "signin":
                return Outcome(sent=False)
            case "imBack":
                return self._say(by, message, str(value or ""))
            case "messageBack":
                return await self._message_back(by, message, action, _parse(value))
            case "invoke":
                return await self._invoke(by, message, _parse(value))
            case kind:
                raise Refused(f"Teams shows no button of the type {kind!r}")

    async def _message_back(
        self, by: Person, message: Message, action: Json, value: Any
    ) -> Outcome:  # fmt: skip
        more: Json = {} if value is None else {"value": value}
        if text := action.get("text"):
            more |= {"text": str(text), "textFormat": "plain"}
        if display_text := str(action.get("displayText") or ""):
            posted = self._message(by, message, display_text)
            self._room.tenant.add_message(posted)
            self._room.publish("posted", posted)
            more["id"] = posted.id
        return await self._tell(by, message, more)

    def _say(self, by: Person, message: Message, text: str) -> Outcome:
        """Post a text as if the person had typed it."""
        if not text:
            raise Refused("The button has nothing to say")
        bot = _bot(message)
        self._room.say(self._message(by, message, text), also=bot)
        return Outcome(sent=bool(bot.endpoint), answered=bool(bot.endpoint))

    async def _tell(self, by: Person, message: Message, more: Json) -> Outcome:
        """Send the bot of a card a message with a value."""
        bot = _bot(message)
        activity = self._activity(by, message, more)
        lost = await self._room.outbox.tell(bot, message.conversation.id, activity)
        if lost:
            return Outcome(sent=True, failed=WENT_WRONG)
        return Outcome(sent=True, answered=True)

    async def _invoke(self, by: Person, message: Message, value: Any) -> Outcome:
        if isinstance(value, dict) and value.get("type") == "task/fetch":
            return await self._fetch(by, message, value)
        answer = await self._ask(by, message, {"value": value})
        if answer.status != 200:
            return Outcome(sent=True, failed=UNREACHABLE)
        return Outcome(sent=True, answered=True, raw=_object(answer.body))

    async def _execute(
        self, by: Person, message: Message, number: int, action: Json, sent: Mapping[str, str]
    ) -> Outcome:
        execution = {
            "type": "Action.Execute", "id": action.get("id") or "",
            "verb": action.get("verb") or "", "data": _merge(action.get("data"), sent),
        }  # fmt: skip
        more = {"name": "adaptiveCard/action", "value": {"action": execution, "trigger": "manual"}}
        answer = await self._ask(by, message, more)
        body = _object(answer.body)
        if answer.status != 200 or "type" not in body:
            return Outcome(sent=True, failed=WENT_WRONG, raw=body)
        match body["type"], body.get("value"):
            case "application/vnd.microsoft.card.adaptive", dict() as card if _is_card(card):
                message.views[by.id, number] = card
                self._typed.pop((message.id, by.id), None)
                return Outcome(sent=True, answered=True, raw=body)
            case "application/vnd.microsoft.activity.message", str() as notice:
                return Outcome(sent=True, answered=True, notice=notice, raw=body)
            case _, dict() as error if error.get("message"):
                failed = str(error["message"])
                return Outcome(sent=True, answered=True, failed=failed, raw=body)
            case _:
                return Outcome(sent=True, answered=True, failed=WENT_WRONG, raw=body)

    async def _consent(
        self, by: Person, message: Message, activity: Json, control: Control
    ) -> Outcome:
        """Answer a file consent card."""
        card = activity["attachments"][control.attachment]
        action = control.id
        context = card["content"].get(f"{action}Context")
        value: Json = {"type": "fileUpload", "action": action, "context": context}
        if action == "accept":
            drive = self._room.drive
            file, url = drive.begin_upload(str(card["name"]), message.conversation)
            value["uploadInfo"] = {
                "contentUrl": drive.content_url(file), "name": file.name, "uploadUrl": url,
                "uniqueId": file.id, "fileType": file.file_type,
            }  # fmt: skip
        answer = await self._ask(by, message, {"name": "fileConsent/invoke", "value": value})
        if answer.status != 200:
            return Outcome(sent=True, failed=UNREACHABLE)
        return Outcome(sent=True, answered=True, raw=_object(answer.body))

    async def _judge(self, by: Person, message: Message, thumb: str, values: Json) -> Outcome:
        """Press a thumb and send the feedback form with `comment`."""
        input_text = orjson.dumps({"feedbackText": str(values.get("comment", ""))}).decode()
        answer_value = {
            "actionName": "feedback",
            "actionValue": {"reaction": thumb, "feedback": input_text},
        }
        answer = await self._ask(
            by, message, {"name": "message/submitAction", "value": answer_value}
        )
        if answer.status != 200:
            return Outcome(sent=True, failed=WENT_WRONG)
        return Outcome(sent=True, answered=True)

    async def _fetch(self, by: Person, message: Message, data: Any) -> Outcome:
        value = {"data": data, "context": _CONTEXT}
        answer = await self._ask(by, message, {"name": "task/fetch", "value": value})
        return self._show_task(by, message, answer, None)

    async def _submit_dialog(self, dialog: _Dialog, control: Control, values: Json) -> Outcome:
        action, by = control.action, dialog.person
        if action.get("type") in _OWN_OF_CLIENT:
            return Outcome(sent=False)
        if action.get("type") != "Action.Submit":
            raise Refused(f"Dialogs know no action of the type {action.get('type')!r}")
        typed = self._with(by, dialog.id, control, values)
        inputs = submitted_inputs(control)
        sent = with_inputs(inputs, typed)
        if wrong := input_errors(inputs, sent):
            return Outcome(sent=False, errors=wrong)
        value = {"data": _merge(action.get("data"), sent), "context": _CONTEXT}
        answer = await self._ask(by, dialog.source, {"name": "task/submit", "value": value})
        return self._show_task(by, dialog.source, answer, dialog)

    def _show_task(
        self, by: Person, message: Message, answer: InvokeAnswer, dialog: _Dialog | None
    ) -> Outcome:
        """Apply the answer to a task: open, continue or close a dialog, or show a notice.

        A dialog stays open if the bot fails.
        """
        body = _object(answer.body)
        task = body.get("task")
        if answer.status != 200 or answer.reason or (dialog is None and not isinstance(task, dict)):
            return Outcome(sent=True, failed=UNREACHABLE)
        if not isinstance(task, dict):
            task = {}
        info = task.get("value")
        opened = _object(info) if task.get("type") == "continue" else None
        if opened is not None and not _opens(opened):
            return Outcome(sent=True, answered=True, failed=WENT_WRONG, raw=body)
        if dialog is not None:
            self._close(dialog)
        if opened is not None:
            new_dialog = _Dialog(uuid4().hex, by, message, opened)
            self._dialogs[new_dialog.id] = new_dialog
            return Outcome(sent=True, answered=True, form=new_dialog.to_form(), raw=body)
        notice = str(info or "") if task.get("type") == "message" else ""
        return Outcome(sent=True, answered=True, notice=notice, raw=body)

    async def _ask(self, by: Person, message: Message, more: Json) -> InvokeAnswer:
        activity = self._activity(by, message, {"type": "invoke", **more})
        return await self._room.outbox.ask(_bot(message), message.conversation.id, activity)

    def _activity(self, by: Person, message: Message, more: Json) -> Json:
        bot, room = _bot(message), self._room
        url = room.service_url(bot)
        return shapes.card_pressed(room.tenant, message, by, bot, url, time.time(), more)

    def _message(self, by: Person, card: Message, text: str) -> Message:
        """Return the message of a person's press; in a channel it replies to the card."""
        where = card.conversation
        root = (card.root or card.id) if where.kind == "channel" else None
        return Message(self._room.tenant.next_id(time.time()), where, by, root, text)

    def _with(self, by: Person, where: str, control: Control, values: Json) -> dict[str, str]:
        """Fill in values, and return all values of the inputs."""
        inputs = [field for card in control.cards[:1] for field in all_inputs(card)]
        for name, value in values.items():
            self._fill(by, where, inputs, name, value)
        return self._typed.get((where, by.id), {})

    def _fill(self, by: Person, where: str, inputs: list[Json], name: str, value: Any) -> None:
        field = find_input(inputs, name)
        text = input_text(field, value)
        self._typed.setdefault((where, by.id), {})[field["id"]] = text

    def _dialog(self, by: Person, form: str) -> _Dialog:
        dialog = self._dialogs.get(form)
        if dialog is None or dialog.person is not by:
            raise NotFound(f"No form {form!r} stands open before {by.name!r}")
        return dialog

    def _close(self, dialog: _Dialog) -> None:
        self._dialogs.pop(dialog.id, None)
        self._typed.pop((dialog.id, dialog.person.id), None)


def _action_shown(control: Control) -> Json:
    """Return the action that Teams shows, or its fallback; `Action.Execute` needs version 1.4."""
    action = control.action
    kind, fallback = action.get("type"), action.get("fallback")
    supported = kind in _OWN_OF_CLIENT or kind == "Action.Submit"
    version = str(control.cards[0].get("version", "1.0")) if control.cards else "1.4"
    if kind == "Action.Execute":
        supported = tuple(map(int, version.split("."))) >= (1, 4)
    if not supported and isinstance(fallback, dict):
        return fallback
    if not supported and kind == "Action.Execute":
        raise Refused(f"Teams shows no Action.Execute in a card of the version {version}")
    return action


def _merge(data: Any, sent: Mapping[str, str]) -> Any:
    """Return an action's data with the inputs, which take precedence."""
    if data is None:
        return dict(sent)
    return {**data, **sent} if isinstance(data, dict) else data


def _parse(value: Any) -> Any:
    """Parse a button's value, which may be JSON in a string."""
    if not isinstance(value, str):
        return value
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    return parsed if isinstance(parsed, dict | list) else value


def _opens(info: Json) -> bool:
    """Return whether a dialog has a card or a page to show."""
    card = info.get("card")
    content = card.get("content") if isinstance(card, dict) else None
    return _is_card(content) or bool(info.get("url"))


def _is_card(card: Any) -> bool:
    try:
        check_card(card)
    except Refusal:
        return False
    return True


def _object(body: Any) -> Json:
    return body if isinstance(body, dict) else {}


def _bot(message: Message) -> Bot:
    if not isinstance(message.author, Bot):
        raise Refused("What a person sent has nothing to press")
    return message.author
