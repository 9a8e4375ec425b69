"""User actions -> interaction payloads for the app. Pure.

Shapes as in docs.slack.dev "Interaction payloads" and recorded requests (2026-04).
"""

from __future__ import annotations

from connectors.slack.sandbox.shapes import message_json
from connectors.slack.sandbox.state import App, Channel, Json, Message, Person, Workspace, ts_of
from connectors.slack.sandbox.values import State
from connectors.slack.sandbox.views import View, view_json


def message_actions(
    team: Workspace, app: App, person: Person, channel: Channel, message: Message,
    attachment: int | None, actions: list[Json], values: State,
) -> Json:  # fmt: skip
    """`block_actions` in a message; an ephemeral message itself is omitted."""
    container: Json = {
        "type": "message" if attachment is None else "message_attachment",
        "message_ts": message.ts, "channel_id": channel.id,
        "is_ephemeral": message.audience is not None,
    }  # fmt: skip
    if attachment is not None:
        container |= {"attachment_id": attachment, "is_app_unfurl": False}
    if message.thread is not None:
        container["thread_ts"] = ts_of(message.thread)
    shape = _head("block_actions", team, app, person) | {
        "container": container,
        "channel": {"id": channel.id, "name": channel.name},
        "state": {"values": values},
        "actions": actions,
    }
    if message.audience is None:
        message_shape = message_json(message, team.id)
        if message.parent is not None:
            message_shape["parent_user_id"] = channel.messages[message.parent].user
        shape["message"] = message_shape
    return shape


def view_actions(team: Workspace, person: Person, view: View, actions: list[Json]) -> Json:
    """`block_actions` in a modal, without a channel and a response URL."""
    return _head("block_actions", team, view.app, person) | {
        "container": {"type": "view", "view_id": view.id},
        "view": view_json(view),
        "actions": actions,
    }


def submission(team: Workspace, person: Person, view: View) -> Json:
    head = _head("view_submission", team, view.app, person)
    return head | {"view": view_json(view), "response_urls": []}


def closing(team: Workspace, person: Person, view: View, *, is_cleared: bool) -> Json:
    head = _head("view_closed", team, view.app, person)
    return head | {"view": view_json(view), "is_cleared": is_cleared}


def suggestion(
    team: Workspace,
    app: App,
    person: Person,
    where: Json,
    action_id: str,
    block_id: str,
    typed: str,
) -> Json:
    """`block_suggestion`: the text typed into a menu whose options the app supplies."""
    head = _head("block_suggestion", team, app, person)
    return head | where | {"action_id": action_id, "block_id": block_id, "value": typed}


def _head(kind: str, team: Workspace, app: App, person: Person) -> Json:
    return {
        "type": kind,
        "user": {
            "id": person.id, "username": person.handle, "name": person.handle, "team_id": team.id,
        },
        "api_app_id": app.id,
        "token": app.verification_token,
        "team": {"id": team.id, "domain": team.domain},
        "enterprise": None,
        "is_enterprise_install": False,
    }  # fmt: skip
