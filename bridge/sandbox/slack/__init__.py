"""A local Slack: Web API, Socket Mode and signed Events API over one seeded world.

What apps send comes in at `/slack/api/<method>`; what they hear goes out through `delivery`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from bridge.errors import BridgeError, NotFound
from bridge.sandbox.feed import Shown
from bridge.sandbox.platform import LocalPlatform, Surroundings, World
from bridge.sandbox.slack.acts import Acts, Draft
from bridge.sandbox.slack.api import WebApi
from bridge.sandbox.slack.delivery import Delivery, Pace
from bridge.sandbox.slack.pictures import avatar_svg
from bridge.sandbox.slack.seed import seeded_slack, world_of
from bridge.sandbox.slack.shapes import shown
from bridge.sandbox.slack.sockets import Sockets
from bridge.sandbox.slack.state import App, Channel, Message, Workspace
from bridge.sandbox.slack.text import typed_text

__all__ = ["LocalSlack", "Pace", "local_platform"]


class _RequestUrl(BaseModel):
    model_config = ConfigDict(extra="forbid")

    app: str
    url: str | None = None


class _Pace(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ack_seconds: float = 3.0
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)


class LocalSlack:
    """Satisfies `LocalPlatform`; `pace` says how patient it is with apps that do not answer."""

    name = "slack"

    def __init__(
        self,
        around: Surroundings,
        pace: Pace | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.pace = pace or Pace()
        self.slack = seeded_slack(around.base_url, around.channels)
        self._around = around
        self._sockets = Sockets(around.base_url)
        self.delivery = Delivery(self._sockets, around.faults, self.pace)
        self._acts = Acts(self.slack, around.feed, self.delivery.tell, now)
        self._api = WebApi(around, self.slack, self._acts, self._sockets)

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/slack/api/{method}", self._api.endpoint, methods=["GET", "POST"]),
            WebSocketRoute("/slack/socket/link/", self._socket),
            Route("/slack/avatars/{name}.svg", self._avatar),
            Route("/slack/_control/request_url", self._control_url, methods=["POST"]),
            Route("/slack/_control/pace", self._control_pace, methods=["PUT"]),
        ]

    def world(self) -> World:
        return world_of(self.slack, self._around.base_url)

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> Shown:
        """A person types `text`: "@Name", "#channel" and "@here" become mentions.

        `channel` may be somebody's user id, for the direct messages with them.
        """
        team, place = self._place(workspace, channel, person)
        if person not in team.people:
            raise NotFound(f"No person {person!r} in {workspace!r}; see `world().people`")
        draft = Draft(person, self._typed(team, text), client_msg_id=str(uuid.uuid4()))
        if thread is not None:
            draft.parent = _parent(place, thread).at
        return self._acts.post(team, place, draft)[1]

    def messages(self, workspace: str, channel: str) -> list[Shown]:
        team, place = self._place(workspace, channel)
        return [shown(team, place, place.messages[at]) for at in sorted(place.messages)]

    async def set_request_url(self, app_id: str, url: str | None) -> None:
        """Send an app's events to `url` after Slack's handshake; None: over Socket Mode again."""
        app = self._app(app_id)
        if url is not None:
            await self.delivery.verify_url(app, url)
        app.request_url = url
        app.listening = True

    async def disconnect(self, reason: str = "") -> None:
        """Close every app's socket; `reason` as in `Delivery.disconnect`."""
        self.delivery.disconnect(reason=reason)

    async def close(self) -> None:
        await self.delivery.close()

    def _typed(self, team: Workspace, text: str) -> str:
        people = {person.handle: person.id for person in team.people.values()}
        people |= {person.name: person.id for person in team.people.values()}
        channels = {name: channel.id for name, channel in team.by_name.items()}
        return typed_text(text, people, channels)

    def _place(self, workspace: str, channel: str, person: str = "") -> tuple[Workspace, Channel]:
        team = self.slack.workspaces.get(workspace)
        place = team.channels.get(channel) if team else None
        if team and place is None and channel in team.people and person in team.people:
            place = team.direct(person, channel, self._acts.now())
        if team is None or place is None:
            raise NotFound(f"No channel {channel!r} in {workspace!r}; see `world().places`")
        return team, place

    def _app(self, app_id: str) -> App:
        app = self.slack.apps.get(app_id)
        if app is None:
            raise NotFound(f"No app {app_id!r}; see `world().apps`")
        return app

    async def _socket(self, websocket: WebSocket) -> None:
        await self._sockets.serve(websocket, self.delivery.acknowledge)

    async def _avatar(self, request: Request) -> Response:
        key: str = request.path_params["name"]
        for team in self.slack.workspaces.values():
            if key == team.id:
                return _svg(avatar_svg(key, team.name))
            if person := team.people.get(key):
                return _svg(avatar_svg(key, person.name))
        return Response(status_code=404)

    async def _control_url(self, request: Request) -> Response:
        try:
            wanted = _RequestUrl.model_validate_json(await request.body())
            await self.set_request_url(wanted.app, wanted.url)
        except (BridgeError, ValidationError) as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        return Response(status_code=204)

    async def _control_pace(self, request: Request) -> Response:
        try:
            wanted = _Pace.model_validate_json(await request.body())
        except ValidationError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        self.pace.ack_seconds = wanted.ack_seconds
        self.pace.retry_delays = wanted.retry_delays
        return Response(status_code=204)


def local_platform(around: Surroundings) -> LocalPlatform:
    return LocalSlack(around)


def _parent(channel: Channel, thread: str) -> Message:
    found = channel.find(thread)
    if found is None:
        raise NotFound(f"No message {thread!r} in {channel.id!r} to answer in a thread")
    return found if found.parent is None else channel.messages[found.parent]


def _svg(text: str) -> Response:
    return Response(text, media_type="image/svg+xml")
