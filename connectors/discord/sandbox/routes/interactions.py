"""REST: answers of applications to interactions: the callback, and follow-up messages."""

from __future__ import annotations

from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.checks import V2_FLAG, Form
from connectors.discord.sandbox.drafts import (
    EPHEMERAL,
    Draft,
    check_edit,
    check_not_empty,
    read_draft,
)
from connectors.discord.sandbox.errors import ApiError, invalid_form
from connectors.discord.sandbox.interactions import (
    DEFERRED,
    DEFERRED_UPDATE,
    MESSAGE,
    MODAL,
    UPDATE,
    InteractionAnswers,
    data_form,
)
from connectors.discord.sandbox.rich.fields import Node
from connectors.discord.sandbox.rich.modals import read_modal
from connectors.discord.sandbox.shapes import Json
from connectors.discord.sandbox.state import Interaction, Message

_SETTABLE = (1 << 2) | EPHEMERAL | (1 << 12) | V2_FLAG
_KINDS = (1, MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, 8, MODAL, 10, 12)
_UNFIT = "Interaction callback type is not valid for this interaction"


def callback(call: Call) -> Answer:
    """Take the first answer; after a refused one the application may try again."""
    answers = InteractionAnswers(call.changes)
    interaction = answers.of(call.id("interaction_id"), call.params["token"])
    form = call.form()
    kind = form.choice("type", _KINDS, 0)
    form.done()
    try:
        message = _answer(call, answers, interaction, kind, data_form(form))
    except ApiError as error:
        raise _inside_data(error) from None
    answers.settle(interaction, kind)
    if call.query.get("with_response", "").lower() not in ("1", "true"):
        return None
    return _response(answers, interaction, kind, message)


def follow_up(call: Call, interaction: Interaction) -> Answer:
    """Post a further message; the first one replaces a deferred answer."""
    answers, form = InteractionAnswers(call.changes), call.form()
    draft = read_draft(form, call.parts, settable=_SETTABLE)
    check_not_empty(form, draft)
    if interaction.loading:
        return answers.complete(interaction, draft)
    message = answers.post(interaction, draft)
    interaction.followups[message.id] = message
    return answers.json(message)


def get_answer(call: Call, interaction: Interaction) -> Answer:
    answers = InteractionAnswers(call.changes)
    return answers.json(_message_of(call, answers, interaction))


def edit_answer(call: Call, interaction: Interaction) -> Answer:
    answers = InteractionAnswers(call.changes)
    message = _message_of(call, answers, interaction)
    form = call.form()
    draft = read_draft(form, call.parts, settable=_SETTABLE)
    check_edit(form, draft, message)
    if interaction.loading and message is interaction.original:
        return answers.complete(interaction, draft)
    return answers.change(message, draft)


def delete_answer(call: Call, interaction: Interaction) -> Answer:
    answers = InteractionAnswers(call.changes)
    answers.delete(_message_of(call, answers, interaction))


def _answer(
    call: Call, answers: InteractionAnswers, interaction: Interaction, kind: int, data: Form
) -> Message | None:
    if kind == MESSAGE:
        draft = read_draft(data, call.parts, settable=_SETTABLE)
        check_not_empty(data, draft)
        interaction.original = answers.post(interaction, draft)
    elif kind == DEFERRED:
        flags = data.number("flags") & EPHEMERAL
        data.done()
        interaction.original = answers.post(interaction, Draft(flags=flags), loading=True)
        interaction.loading = True
    elif kind in (UPDATE, DEFERRED_UPDATE) and interaction.source is not None:
        interaction.original = interaction.source
        if kind == UPDATE:
            draft = read_draft(data, call.parts, settable=_SETTABLE)
            check_edit(data, draft, interaction.source)
            answers.change(answers.original(interaction), draft)
    elif kind == MODAL and interaction.kind == 3:
        interaction.modal = read_modal(Node(data, "", data.body))
        data.done()
    else:
        fault = {"code": "INTERACTION_CALLBACK_TYPE_INVALID", "message": _UNFIT}
        raise invalid_form({"type": {"_errors": [fault]}})
    return interaction.original


def _response(
    answers: InteractionAnswers, interaction: Interaction, kind: int, message: Message | None
) -> Json:
    shape: Json = {"id": str(interaction.id), "type": interaction.kind}
    if message is not None:
        shape |= {
            "response_message_id": str(message.id),
            "response_message_loading": interaction.loading,
            "response_message_ephemeral": message.audience is not None,
        }
    resource: Json = {"type": kind}
    if message is not None and kind in (MESSAGE, UPDATE):
        resource["message"] = answers.json(message)
    return {"interaction": shape, "resource": resource}


def _message_of(call: Call, answers: InteractionAnswers, interaction: Interaction) -> Message:
    if call.params["message_id"] == "@original":
        return answers.original(interaction)
    return answers.followup(interaction, call.id("message_id"))


def _inside_data(error: ApiError) -> ApiError:
    """Nest the errors of a callback under `data`."""
    faults = error.body.get("errors")
    if faults is None or "type" in faults:
        return error
    return invalid_form({"data": faults})


INTERACTION_ROUTES = [
    Route(
        "POST", "/interactions/{interaction_id}/{token}/callback", "interaction.callback", callback,
        needs_bot=False,
    ),
]  # fmt: skip
