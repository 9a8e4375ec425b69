"""Control requests of tests and the demo: `POST /teams/_control/<name>`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol, TypeAlias

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridge.errors import PlatformError
from connectors.teams.sandbox.events import Outbox
from connectors.teams.sandbox.refusals import answer
from connectors.teams.sandbox.state import Json
from connectors.teams.sandbox.tokens import Keys

Act: TypeAlias = Callable[[Json], Json | None]


class Controlled(Protocol):
    """The methods of `LocalTeams` that the controls need."""

    keys: Keys
    outbox: Outbox

    def set_endpoint(self, app: str, url: str | None, *, auth: bool | None = None) -> None: ...
    def install(self, app: str, where: str) -> None: ...
    def uninstall(self, app: str, where: str) -> None: ...
    def block(self, app: str, conversation: str) -> None: ...
    def create_channel(self, team: str, name: str) -> str: ...
    def personal_chat(self, app: str, person: str) -> str: ...


def control_routes(teams: Controlled) -> list[BaseRoute]:
    """Return the routes of the controls.

    `endpoint {app, url, auth?}`, `install`, `uninstall {app, where}`, `block {app, conversation}`,
    `channel {team, name}`, `chat {app, person}`, `rotate_keys {}`; and `GET deliveries`: accepted
    activity ids by app, and lost events; `GET taken?since=N`: accepted activities from the Nth on.
    """
    acts: dict[str, Act] = {
        "endpoint": lambda b: teams.set_endpoint(b["app"], b["url"], auth=b.get("auth")),
        "install": lambda b: teams.install(b["app"], b["where"]),
        "uninstall": lambda b: teams.uninstall(b["app"], b["where"]),
        "block": lambda b: teams.block(b["app"], b["conversation"]),
        "channel": lambda b: {"id": teams.create_channel(b["team"], b["name"])},
        "chat": lambda b: {"id": teams.personal_chat(b["app"], b["person"])},
        "rotate_keys": lambda _: teams.keys.rotate(),
    }

    async def deliveries(_request: Request) -> Response:
        lost = [asdict(each) for each in teams.outbox.lost]
        return answer({"handed_over": dict(teams.outbox.handed_over), "lost": lost})

    async def taken(request: Request) -> Response:
        since = int(request.query_params.get("since", "0"))
        return answer({"taken": [orjson.loads(body) for body in teams.outbox.taken[since:]]})

    return [
        *(Route(f"/_control/{n}", _endpoint(act), methods=["POST"]) for n, act in acts.items()),
        Route("/_control/deliveries", deliveries),
        Route("/_control/taken", taken),
    ]


def _endpoint(act: Act) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        try:
            return answer(act(orjson.loads(await request.body() or b"{}")) or {})
        except PlatformError as error:
            return answer({"error": str(error)}, 404)
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            return answer({"error": f"expected the fields of this control in JSON: {error}"}, 400)

    return endpoint
