"""The interactions of users: press, choose, vote, use commands, fill in modals."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.files import FileStore
from bridge.sandbox.user_actions import FileUpload, OpenForm, Outcome
from connectors.discord.sandbox.interaction_shapes import resolved_json
from connectors.discord.sandbox.interactions import MODAL, InteractionDispatcher
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.rich.components import BUTTON, LINK, PREMIUM, SELECTS, STRING, walk
from connectors.discord.sandbox.rich.modals import BOX, BOXES, LABEL, RADIO, UPLOAD, controls
from connectors.discord.sandbox.rich_shapes import attachment_json
from connectors.discord.sandbox.shapes import Json
from connectors.discord.sandbox.state import App, Channel, Interaction, Message, State, User
from connectors.discord.sandbox.state_changes import StateChanges
from connectors.discord.sandbox.uploads import new_attachment

FAILED = "This interaction failed"
NO_ANSWER = "The application did not respond"
WENT_WRONG = "Something went wrong. Try again."
_REQUIRED = "This field is required"
POLL = "poll"  # the action name of a message's poll in `choose`


class UserInteractions:
    """Validates an interaction and passes it to `dispatcher`, which sends it to the application."""

    def __init__(
        self, changes: StateChanges, dispatcher: InteractionDispatcher, files: FileStore
    ) -> None:
        self._changes = changes
        self._state: State = changes.state
        self._dispatcher = dispatcher
        self._files = files
        self._modals: dict[int, Interaction] = {}  # by user id: a user has at most one open modal

    async def press(self, user: User, message: Message, action: str, values: Json) -> Outcome:
        component = self._component(user, message, action)
        if component["type"] != BUTTON:
            raise InvalidData(f"{action!r} is a menu: use choose with a value")
        if values:
            raise InvalidData("A message has no inputs to fill in: menus tell the app at once")
        if component.get("disabled"):
            raise Refused(f"The button {action!r} is disabled")
        if component["style"] in (LINK, PREMIUM):
            return Outcome(sent=False)
        return await self._send_press(user, message, component, {})

    async def command(self, user: User, place: Channel, command: str, text: str) -> Outcome:
        """Use `/command text`; the text becomes the value of the command's first option."""
        app, definition = self._command(command)
        options = definition.get("options") or []
        if text and not options:
            raise InvalidData(f"{command} takes no text")
        if not text and any(option.get("required") for option in options):
            raise InvalidData(f"{command} needs a text")
        data: Json = {
            "id": definition["id"],
            "name": definition["name"],
            "type": definition["type"],
        }
        if text:
            first = options[0]
            data["options"] = [{"type": first["type"], "name": first["name"], "value": text}]
        answer = await self._dispatcher.dispatch(2, app, user, place, data, None)
        if answer.answer is None:
            return Outcome(sent=True, failed=NO_ANSWER)
        return self._outcome(user, answer)

    def _command(self, command: str) -> tuple[App, Json]:
        for app in self._state.apps.values():
            for definition in app.commands.values():
                if command == f"/{definition['name']}":
                    return app, definition
        raise NotFound(f"No application has a command {command!r}")

    async def choose(self, user: User, message: Message, action: str, value: Any) -> Outcome:
        choices = value if isinstance(value, list) else [value]
        if message.poll is not None and action == POLL:
            return self._vote(user, message, choices)
        component = self._component(user, message, action)
        if component["type"] not in SELECTS:
            raise InvalidData(f"{action!r} is a button: use press")
        if component.get("disabled"):
            raise Refused(f"The menu {action!r} is disabled")
        values = _chosen(component, choices)
        if error := _count_error(component, values):
            raise InvalidData(f"{action!r}: {error}")
        data: Json = {"values": values}
        kind = component["type"]
        if kind != STRING:
            data["resolved"] = resolved_json(kind, values, message.channel, self._state)
        return await self._send_press(user, message, component, data)

    async def fill(self, user: User, form: str, values: Json) -> Outcome:
        """Submit the open modal; it stays open if the application does not answer."""
        opened = self._opened(user, form)
        modal = opened.modal or {}
        names = _names(modal)
        if unknown := [name for name in values if name not in names]:
            raise NotFound(f"The form has no input {unknown[0]!r}; it has {', '.join(names)}")
        by_id = {names[name]: value for name, value in values.items()}
        resolved: Json = {}
        filled = {
            control["custom_id"]: self._input_value(opened, control, by_id, resolved)
            for _, control in controls(modal)
        }
        errors = {
            control["custom_id"]: complaint
            for _, control in controls(modal)
            if (complaint := _input_error(control, filled[control["custom_id"]]))
        }
        if errors:
            return Outcome(sent=False, errors=errors)
        data = {"custom_id": modal["custom_id"], "components": _submitted(modal, filled)}
        if resolved:
            data["resolved"] = resolved
        answer = await self._dispatcher.dispatch(
            5, opened.app, user, opened.channel, data, opened.source
        )  # fmt: skip
        if answer.answer is None:
            return Outcome(sent=True, failed=WENT_WRONG)
        self._modals.pop(user.id, None)
        return self._outcome(user, answer)

    def close(self, user: User, form: str) -> Outcome:
        """Close a modal; the application gets no event."""
        self._opened(user, form)
        del self._modals[user.id]
        return Outcome(sent=False)

    def forms(self, user_id: int) -> list[OpenForm]:
        opened = self._modals.get(user_id)
        return [] if opened is None else [_open_form(opened)]

    async def _send_press(
        self, user: User, message: Message, component: Json, more: Json
    ) -> Outcome:
        data = {
            "component_type": component["type"], "custom_id": component["custom_id"],
            "id": component["id"], **more,
        }  # fmt: skip
        app = self._owner(message)
        answer = await self._dispatcher.dispatch(3, app, user, message.channel, data, message)
        if answer.answer is None:
            return Outcome(sent=True, failed=FAILED)
        return self._outcome(user, answer)

    def _outcome(self, user: User, answer: Interaction) -> Outcome:
        form = None
        if answer.answer == MODAL:
            self._modals[user.id] = answer
            form = _open_form(answer)
        reply = answer.original
        is_whisper = reply is not None and reply.audience == user.id and reply is not answer.source
        raw = {"type": answer.answer}
        return Outcome(
            sent=True,
            answered=True,
            form=form,
            notice=reply.content if reply and is_whisper else "",
            raw=raw,
        )

    def _vote(self, user: User, message: Message, choices: list[Any]) -> Outcome:
        """Vote by the answers' texts or numbers; an empty list withdraws the vote."""
        poll = message.poll
        if poll is None or poll.finalized or self._state.now() > poll.ends:
            raise Refused("The poll is over")
        texts = {media.get("text"): n for n, media in enumerate(poll.answers, 1)}
        numbers: set[int] = set()
        for choice in choices:
            number = texts.get(choice, int(choice) if str(choice).isdecimal() else 0)
            if not 1 <= number <= len(poll.answers):
                raise InvalidData(f"The poll has no answer {choice!r}")
            numbers.add(number)
        if len(numbers) > 1 and not poll.several:
            raise InvalidData("The poll takes one answer")
        self._changes.vote(message, user, numbers)
        return Outcome(sent=True, answered=True)

    def _component(self, user: User, message: Message, action: str) -> Json:
        if message.audience not in (None, user.id):
            raise NotFound(f"{user.display_name!r} does not see message {message.id}")
        if not permissions_in(message.channel, user.id) & Permission.VIEW_CHANNEL:
            raise Refused(f"{user.display_name!r} does not see channel {message.channel.id}")
        components = [c for c in walk(message.components) if c["type"] in (BUTTON, *SELECTS)]
        for matches in (
            lambda c: c.get("custom_id") == action,
            lambda c: action in (c.get("label"), c.get("placeholder")),
        ):
            for component in components:
                if matches(component):
                    return component
        offered = (
            ", ".join(repr(c.get("custom_id") or c.get("label")) for c in components) or "nothing"
        )
        raise NotFound(f"The message has no action {action!r}; it has {offered}")

    def _owner(self, message: Message) -> App:
        """Return the application that owns a message's components."""
        app_id = message.application_id or message.author.id
        for app in self._state.apps.values():
            if app.id == app_id or app.user.id == app_id:
                return app
        raise NotFound(f"Message {message.id} belongs to no application")

    def _opened(self, user: User, form: str) -> Interaction:
        opened = self._modals.get(user.id)
        if opened is None or str(opened.id) != form:
            raise NotFound(f"No form {form!r} is open before {user.display_name!r}")
        return opened

    def _input_value(
        self, opened: Interaction, control: Json, entered: Json, resolved: Json
    ) -> Any:
        """Return the value of one input of a modal, as the client sends it."""
        own_id, kind = control["custom_id"], control["type"]
        if own_id not in entered:
            return _default(control)
        value = entered[own_id]
        several = value if isinstance(value, list) else [value]
        match kind:
            case 4:
                return str(value)
            case 23:
                return bool(value)
            case 21:
                return _chosen(control, several)[0]
            case 19:
                return [self._uploaded(opened, upload, resolved) for upload in several]
            case _:
                values = _chosen(control, several)
                if kind in SELECTS and kind != STRING:
                    for name, entries in resolved_json(
                        kind, values, opened.channel, self._state
                    ).items():
                        resolved.setdefault(name, {}).update(entries)
                return values

    def _uploaded(self, opened: Interaction, value: Any, resolved: Json) -> str:
        try:
            uploads = FileUpload.model_validate(value)
        except ValidationError as error:
            raise InvalidData(f"Not a file: {error.errors(include_url=False)[0]['msg']}") from error
        stored = self._files.keep(uploads.data)
        attachment = new_attachment(
            self._state, opened.channel, uploads.name, stored, uploads.content_type, uploads.spoiler
        )
        attachment.ephemeral = True
        shape = attachment_json(attachment, opened.channel.id, self._state)
        resolved.setdefault("attachments", {})[str(attachment.id)] = shape
        return str(attachment.id)


def _chosen(component: Json, choices: list[Any]) -> list[str]:
    """Return option values for choices given by value or label; ids are unchanged."""
    options = component.get("options")
    if options is None:
        return [str(item) for item in choices]
    values: list[str] = []
    for item in choices:
        option = next((o for o in options if item in (o["value"], o["label"])), None)
        if option is None:
            offered = ", ".join(repr(o["value"]) for o in options)
            raise InvalidData(f"{item!r} is not among the options: {offered}")
        values.append(option["value"])
    return values


def _count_error(component: Json, values: list[str]) -> str:
    min_values = component.get("min_values", 1)
    max_values = component.get("max_values", 1)
    if min_values <= len(values) <= max_values:
        return ""
    return f"Make between {min_values} and {max_values} selections."


def _default(control: Json) -> Any:
    match control["type"]:
        case 4:
            return control.get("value") or ""
        case 23:
            return bool(control.get("default"))
        case 21:
            return next((o["value"] for o in control["options"] if o.get("default")), None)
        case 19:
            return []
        case _:
            chosen = [o["value"] for o in control.get("options", ()) if o.get("default")]
            return chosen + [str(d["id"]) for d in control.get("default_values") or ()]


def _input_error(control: Json, value: Any) -> str:
    """Return the client's error for an input that it refuses to submit, or an empty text."""
    required = control.get("required", True) and control["type"] != BOX
    if value in ("", None, []):
        return _REQUIRED if required else ""
    if control["type"] == 4:
        min_length, max_length = control.get("min_length") or 0, control.get("max_length") or 4000
        fits = min_length <= len(value) <= max_length
        return "" if fits else f"Must be between {min_length} and {max_length} in length."
    if control["type"] in (BOXES, UPLOAD, *SELECTS):
        return _count_error(control, value)
    return ""


def _submitted(modal: Json, filled: Json) -> list[Json]:
    """Return the components of a submission: the modal's structure with the values."""
    shapes: list[Json] = []
    for holder in modal["components"]:
        shape: Json = {"type": holder["type"], "id": holder["id"]}
        if holder["type"] == LABEL:
            shape["component"] = _valued(holder["component"], filled)
        elif "components" in holder:
            shape["components"] = [_valued(inner, filled) for inner in holder["components"]]
        shapes.append(shape)
    return shapes


def _valued(control: Json, filled: Json) -> Json:
    own_id, kind = control["custom_id"], control["type"]
    name = "value" if kind in (4, RADIO, BOX) else "values"
    return {"type": kind, "id": control["id"], "custom_id": own_id, name: filled[own_id]}


def _labels(modal: Json) -> dict[str, str]:
    return {
        control["custom_id"]: str(holder.get("label") or control.get("label") or "")
        for holder, control in controls(modal)
    }


def _names(modal: Json) -> dict[str, str]:
    """Return the custom ids by the names of inputs: the id itself, or the label."""
    labels = _labels(modal)
    return {words: own for own, words in labels.items()} | {own: own for own in labels}


def _open_form(opened: Interaction) -> OpenForm:
    modal = opened.modal or {}
    return OpenForm(
        id=str(opened.id), person=str(opened.user.id), title=modal.get("title", ""),
        fields=_labels(modal), raw=modal,
    )  # fmt: skip
