"""Slash commands on the local Slack: from a person's text to the app's answer.

Payload and times: docs.slack.dev "Implementing slash commands" (2026-08). A command is sent once;
an app that does not answer within three seconds has failed visibly.
"""

from __future__ import annotations

import re

from bridge.errors import InvalidData, NotFound
from bridge.sandbox.user_actions import Outcome
from connectors.slack.sandbox.delivery import SLASH_COMMANDS, TIMED_OUT, Delivery
from connectors.slack.sandbox.replies import Replies
from connectors.slack.sandbox.state import App, Channel, Json, Person, Workspace
from connectors.slack.sandbox.state_changes import StateChanges
from connectors.slack.sandbox.views import Views

_ESCAPED = re.compile(r"<([@#])(\w+)\|?>")


class Commands:
    """The commands that the apps of a workspace have registered."""

    def __init__(
        self, changes: StateChanges, delivery: Delivery, replies: Replies, views: Views
    ) -> None:
        self._changes = changes
        self._delivery = delivery
        self._replies = replies
        self._views = views

    async def give(
        self, team: Workspace, place: Channel, person: Person, command: str, text: str
    ) -> Outcome:
        """Send a command to its app, and return the outcome; `text` has mentions in stored form.

        Raises InvalidData and NotFound for a command that no app has registered.
        """
        app = _app_of(team, command)
        url = self._replies.open(app, team, place, None, person.id)
        payload: Json = {
            "token": app.verification_token, "team_id": team.id, "team_domain": team.domain,
            "channel_id": place.id, "channel_name": place.name, "user_id": person.id,
            "user_name": person.handle, "command": command, "text": _with_names(team, text.strip()),
            "api_app_id": app.id, "is_enterprise_install": "false", "response_url": url,
            "trigger_id": self._views.trigger(app, person.id, None),
        }  # fmt: skip
        answer = await self._delivery.ask(
            app, payload, place.id, answerable=True, kind=SLASH_COMMANDS
        )
        if answer.failed:
            error = "operation_timeout" if answer.failed == TIMED_OUT else "dispatch_failed"
            notice = f'{command} failed with the error "{error}"'
            return Outcome(sent=True, failed=notice, raw={"reason": answer.failed})
        if answer.payload:
            self._replies.answer(url, answer.payload)
        notice = str(answer.payload.get("text") or "")
        return Outcome(sent=True, answered=True, notice=notice, raw=answer.payload)


def _app_of(team: Workspace, command: str) -> App:
    if not command.startswith("/"):
        raise InvalidData(f"A command begins with a slash, unlike {command!r}")
    for app in team.apps:
        if app.active and command in app.commands and "commands" in app.scopes:
            return app
    raise NotFound(f"{command} is not a valid command in {team.id!r}")


def _with_names(team: Workspace, text: str) -> str:
    """Add the names to the ids, as Slack does with `should_escape`."""

    def with_name(match: re.Match[str]) -> str:
        kind, own_id = match.groups()
        person, channel = team.people.get(own_id), team.channels.get(own_id)
        name = person.handle if person else channel.name if channel else ""
        return f"<{kind}{own_id}|{name}>"

    return _ESCAPED.sub(with_name, text)
