"""views.*: opening, stacking and changing modals."""

from __future__ import annotations

from connectors.slack.sandbox.content import block_context
from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.views import view_json


def open_view(call: Call) -> Json:
    body, trigger = _view(call), call.args.required("trigger_id")
    view = call.views.open(call.app, trigger, body, block_context(call.workspace, call.app))
    return {"view": view_json(view)}


def push(call: Call) -> Json:
    body, trigger = _view(call), call.args.required("trigger_id")
    view = call.views.push(call.app, trigger, body, block_context(call.workspace, call.app))
    return {"view": view_json(view)}


def update(call: Call) -> Json:
    body = _view(call)
    own_id, external = call.args.text("view_id"), call.args.text("external_id")
    if not own_id and not external:
        raise ApiError("invalid_arguments")
    context = block_context(call.workspace, call.app)
    view = call.views.update(call.app, own_id, external, call.args.text("hash"), body, context)
    return {"view": view_json(view)}


def _view(call: Call) -> Json:
    body = call.args.mapping("view", "invalid_arguments")
    if body is None:
        raise ApiError("invalid_arguments")
    return body
