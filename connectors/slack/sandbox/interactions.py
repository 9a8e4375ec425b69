"""User actions on blocks and views: press, choose, fill in forms; and the apps' answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import Choice, FormSubmission, OpenForm, Outcome, Press
from connectors.slack.sandbox import payloads, values
from connectors.slack.sandbox.arguments import ApiError
from connectors.slack.sandbox.blocks.walk import Control, control_named, message_controls
from connectors.slack.sandbox.content import block_context
from connectors.slack.sandbox.delivery import Answer, Delivery
from connectors.slack.sandbox.replies import Replies
from connectors.slack.sandbox.state import (
    App,
    Channel,
    File,
    Json,
    Message,
    Person,
    Workspace,
    ts_of,
)
from connectors.slack.sandbox.state_changes import StateChanges
from connectors.slack.sandbox.values import PRESSED, State
from connectors.slack.sandbox.views import View, Views, field_names, view_json

_TROUBLE = "We had some trouble connecting. Try again?"
_MAX_KEPT = 1000  # messages with entered values
GiveFile = Callable[[Workspace, Person, Any], File]
Place = tuple[Channel, Message]


@dataclass(slots=True)
class _Target:
    """The target of an action: a message in its channel, or a modal."""

    team: Workspace
    person: Person
    app: App
    controls: list[Control]
    entered: State
    place: Place | None = None
    view: View | None = None


class Interactions:
    """`give_file` makes a file that a person picks in a form."""

    def __init__(
        self,
        changes: StateChanges,
        delivery: Delivery,
        replies: Replies,
        views: Views,
        give_file: GiveFile,
    ) -> None:
        self.views = views
        self._changes = changes
        self._delivery = delivery
        self._replies = replies
        self._give_file = give_file
        self._entered: dict[tuple[str, str, int, str], State] = {}

    async def press(
        self, team: Workspace, person: Person, place: Place | None, press: Press
    ) -> Outcome:
        touched = self._touched(team, person, place, press.form)
        control = _control_of(touched, press.action)
        await self._enter(touched, press.values)
        if control.kind not in PRESSED:
            raise InvalidData(f"A {control.kind} is not pressed: choose in it, with a value")
        if control.kind == "workflow_button":
            return Outcome(sent=False)
        pressed = press.values.get(press.action)
        return await self._send(touched, control, None, pressed)

    async def choose(
        self, team: Workspace, person: Person, place: Place | None, choice: Choice
    ) -> Outcome:
        """Menus and boxes notify the app at once; inputs only when their block says so."""
        touched = self._touched(team, person, place, choice.form)
        control = _control_of(touched, choice.action)
        if control.kind in PRESSED:
            raise InvalidData(f"A {control.kind} is pressed, nothing is chosen in it")
        value = await self._value(touched, control, choice.value)
        if control.kind != "overflow":
            touched.entered.setdefault(control.block_id, {})[control.action_id] = value
        if control.in_input and not control.block.get("dispatch_action"):
            return Outcome(sent=False)
        return await self._send(touched, control, value)

    async def fill(self, team: Workspace, person: Person, submission: FormSubmission) -> Outcome:
        view = self._view(team, person, submission.form)
        if submission.close:
            return await self._close(team, person, view)
        touched = self._touched(team, person, None, submission.form)
        await self._enter(touched, submission.values)
        state = values.state_of(touched.controls, touched.entered)
        wrong = {
            control.action_id: complaint
            for control in touched.controls
            if control.in_input
            and (complaint := values.complaint(control, state[control.block_id][control.action_id]))
        }
        if wrong:
            return Outcome(sent=False, errors=wrong)
        return await self._submit(team, person, view)

    def forms(self, team: Workspace, person: str) -> list[OpenForm]:
        return [_open_form(view) for view in self.views.stack(team.id, person)]

    async def _submit(self, team: Workspace, person: Person, view: View) -> Outcome:
        payload = payloads.submission(team, person, view)
        payload["trigger_id"] = self.views.trigger(view.app, person.id, view.id)
        answer = await self._delivery.ask(view.app, payload, "", answerable=True)
        if answer.failed:
            return Outcome(sent=True, failed=_TROUBLE, raw={"reason": answer.failed})
        try:
            return self._answered(view, answer.payload)
        except ApiError as error:
            reason = {"reason": error.code, **error.facts}
            return Outcome(sent=True, answered=True, failed=_TROUBLE, raw=reason)

    def _answered(self, view: View, answer: Json) -> Outcome:
        """Apply `response_action` to the stack of views; without one the view closes."""
        team, body = self._changes.slack.workspaces[view.app.team], answer.get("view")
        context = block_context(team, view.app)
        updated: View | None = None
        match answer.get("response_action"):
            case "errors":
                return Outcome(
                    sent=True, answered=True, errors=_errors(view, answer), form=_open_form(view),
                    raw=answer,
                )  # fmt: skip
            case "update" if isinstance(body, dict):
                updated = self.views.change(view, body, context)
            case "push" if isinstance(body, dict):
                updated = self.views.put_on(view, body, context)
            case "clear":
                self.views.close(view, all_of_them=True)
            case None:
                self.views.close(view)
            case _:
                raise ApiError("invalid_response_action")
        form = _open_form(updated) if updated else None
        return Outcome(sent=True, answered=True, form=form, raw=answer)

    async def _close(self, team: Workspace, person: Person, view: View) -> Outcome:
        all_of_them = bool(view.body.get("clear_on_close"))
        closed_views = self.views.close(view, all_of_them=all_of_them)
        sent = False
        for closed in closed_views:
            if closed.body.get("notify_on_close"):
                payload = payloads.closing(team, person, closed, is_cleared=all_of_them)
                await self._delivery.ask(closed.app, payload, "", answerable=False)
                sent = True
        return Outcome(sent=sent, answered=sent)

    async def _send(
        self, touched: _Target, control: Control, value: Json | None, pressed: Any = None
    ) -> Outcome:
        now = ts_of(int(self._changes.now() * 1_000_000))
        action = values.action_json(control, value, now, pressed)
        payload = self._payload(touched, control, [action])
        view = touched.view
        payload["trigger_id"] = self.views.trigger(
            touched.app, touched.person.id, view.id if view else None
        )
        channel = touched.place[0].id if touched.place else ""
        before = self._tops(touched)
        answer = await self._delivery.ask(touched.app, payload, channel, answerable=False)
        return self._outcome(touched, answer, before)

    def _payload(self, touched: _Target, control: Control, actions: list[Json]) -> Json:
        if touched.view is not None:
            return payloads.view_actions(touched.team, touched.person, touched.view, actions)
        if touched.place is None:
            raise NotFound("The action has no target: name a message or a form")
        channel, message = touched.place
        state = values.state_of(touched.controls, touched.entered)
        payload = payloads.message_actions(
            touched.team, touched.app, touched.person, channel, message, control.attachment,
            actions, state,
        )  # fmt: skip
        payload["response_url"] = self._replies.open(
            touched.app, touched.team, channel, message, touched.person.id
        )
        return payload

    def _outcome(self, touched: _Target, answer: Answer, before: list[View]) -> Outcome:
        if answer.failed:
            return Outcome(sent=True, failed=answer.failed)
        opened = [view for view in self._tops(touched) if view not in before]
        form = _open_form(opened[-1]) if opened else None
        return Outcome(sent=True, answered=True, form=form, raw=answer.payload)

    def _tops(self, touched: _Target) -> list[View]:
        return self.views.stack(touched.team.id, touched.person.id)

    def _touched(self, team: Workspace, person: Person, place: Place | None, form: str) -> _Target:
        if form:
            view = self._view(team, person, form)
            return _Target(team, person, view.app, view.controls, view.entered, view=view)
        if place is None:
            raise NotFound("The action has no target: name a message or a form")
        channel, message = place
        if person.id not in channel.members and channel.kind != "channel":
            raise Refused(f"{person.name!r} is not in {channel.id!r}")
        if message.app is None:
            raise NotFound(f"Message {message.ts!r} is a person's: it has no controls")
        key = (team.id, channel.id, message.at, person.id)
        while len(self._entered) > _MAX_KEPT:
            del self._entered[next(iter(self._entered))]
        entered = self._entered.setdefault(key, {})
        all_controls = message_controls(message.blocks, message.attachments)
        return _Target(team, person, message.app, all_controls, entered, place=place)

    def _view(self, team: Workspace, person: Person, form: str) -> View:
        stack = self.views.stack(team.id, person.id)
        open_view = next((view for view in stack if view.id == form), None)
        if open_view is None:
            raise NotFound(f"No form {form!r} is open before {person.name!r}")
        if open_view is not stack[-1]:
            raise Refused(f"Form {form!r} is covered by another one")
        return open_view

    async def _enter(self, touched: _Target, values_: Mapping[str, Any]) -> None:
        """Fill in inputs without notifying the app."""
        for name, value in values_.items():
            control = _control_of(touched, name)
            if control.kind in PRESSED:
                continue  # the value only selects one of two feedback buttons
            entered = await self._value(touched, control, value)
            touched.entered.setdefault(control.block_id, {})[control.action_id] = entered

    async def _value(self, touched: _Target, control: Control, value: Any) -> Json:
        if control.kind.endswith("external_select") and not _is_option(value):
            value = await self._suggested(touched, control, value)
        return values.filled(control, value, self._file_of(touched))

    async def _suggested(self, touched: _Target, control: Control, typed: Any) -> Any:
        """Request options for the typed text from the app, and take the matching ones."""
        several = typed if isinstance(typed, list) else [typed]
        options = [await self._suggestion(touched, control, str(item)) for item in several]
        return options if isinstance(typed, list) else options[0]

    async def _suggestion(self, touched: _Target, control: Control, typed: str) -> Json:
        where = _where(touched)
        payload = payloads.suggestion(
            touched.team, touched.app, touched.person, where, control.action_id, control.block_id,
            typed,
        )  # fmt: skip
        channel = touched.place[0].id if touched.place else ""
        answer = await self._delivery.ask(touched.app, payload, channel, answerable=True)
        if answer.failed:
            raise Refused(f"No options came for {typed!r}: {answer.failed}")
        options = list(answer.payload.get("options") or ())
        for group in answer.payload.get("option_groups") or ():
            options += group.get("options") or ()
        for option in options:
            if typed in (option.get("value"), option.get("text", {}).get("text")):
                return option
        raise InvalidData(f"The app offers no option {typed!r}")

    def _file_of(self, touched: _Target) -> Callable[[Any], File]:
        return lambda value: self._give_file(touched.team, touched.person, value)


def _control_of(touched: _Target, name: str) -> Control:
    control = control_named(touched.controls, name)
    if control is None:
        offered = ", ".join(repr(c.action_id) for c in touched.controls) or "nothing"
        raise NotFound(f"Nothing is called {name!r} there; it has {offered}")
    return control


def _errors(view: View, answer: Json) -> dict[str, str]:
    """The errors by the action_ids of the inputs, as forms name them; Slack uses block_ids."""
    errors = answer.get("errors")
    by_block = {c.block_id: c.action_id for c in view.controls if c.in_input}
    if not isinstance(errors, dict) or not errors or any(name not in by_block for name in errors):
        raise ApiError("invalid_errors")
    return {by_block[name]: str(complaint) for name, complaint in errors.items()}


def _where(touched: _Target) -> Json:
    if touched.view is not None:
        return {
            "container": {"type": "view", "view_id": touched.view.id},
            "view": view_json(touched.view),
        }
    if touched.place is None:
        return {}
    channel, message = touched.place
    container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id}
    return {"container": container, "channel": {"id": channel.id, "name": channel.name}}


def _is_option(value: Any) -> bool:
    several = value if isinstance(value, list) else [value]
    return all(isinstance(item, dict) for item in several)


def _open_form(view: View) -> OpenForm:
    return OpenForm(
        id=view.id, person=view.person, title=view.body["title"]["text"], fields=field_names(view),
        raw=view_json(view),
    )  # fmt: skip
