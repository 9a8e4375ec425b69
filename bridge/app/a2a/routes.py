"""`/a2a/ROOM` and `/a2a/ROOM/agents/AGENT`: agent cards, and both bindings of A2A."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import structlog
from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge.agents.codec.json_values import Json
from bridge.app.a2a.card import card_of
from bridge.app.a2a.pushes import Pushes, PushTarget
from bridge.app.a2a.tasks_json import task_json
from bridge.app.a2a.visit import VISIT, Visit
from bridge.app.agent_directory.home import Home
from bridge.app.api.api_keys import Authenticator, Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem, json_response, store_trouble
from bridge.app.api.queries import room_of
from bridge.app.tasks.tasks import Tasks
from bridge.errors import StoreError
from bridge.ports.files import Files
from bridge.runtime.extras import has_module, how_to_install

log = structlog.get_logger()

CARD = "/.well-known/agent-card.json"
_OLD_CARD = "/.well-known/agent.json"
_ROOM, _AGENT = "/a2a/{room}", "/a2a/{room}/agents/{agent}"


class A2A:
    """The A2A endpoints of all rooms; programs authenticate with tokens of the API."""

    def __init__(
        self,
        gateway: Gateway,
        home: Callable[[], Home],
        files: Files,
        private: Callable[[], bool],
    ) -> None:
        self._gateway = gateway
        self._home = home
        self._files = files
        self._authenticator = Authenticator(gateway.store, gateway.clock)
        self._pushes = Pushes(gateway.store, gateway.clock, self._told, private)
        self._app: ASGIApp | None = None
        self._importing = asyncio.Lock()

    def routes(self) -> Sequence[BaseRoute]:
        return [_Below("/a2a/", self._respond)]

    async def start(self) -> None:
        """Go on with the notices that the last run left. Raises StoreError."""
        if has_module("a2a"):
            await self._pushes.start()

    async def close(self) -> None:
        await self._pushes.close()

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            caller = await self._authenticator.caller(request.headers.get("authorization", ""))
            room, agent, rest = self._addressed(caller, scope["path"])
            card = card_of(self._home(), room, agent, str(request.base_url).rstrip("/"))
            if rest in (CARD, _OLD_CARD):
                answer: ASGIApp = json_response(card)
            else:
                answer = await self._sdk()
                tasks = self._tasks(caller, room)
                scope = {**scope, VISIT: Visit(caller.name, room.id, agent, tasks, card)}
        except Problem as problem:
            answer = problem.response()
        except StoreError as error:
            answer = store_trouble(error).response()
        await answer(scope, receive, send)

    def _addressed(self, caller: Caller, path: str) -> tuple[RoomView, str, str]:
        """The room and the agent that a path names, and the rest of the path. Raises Problem."""
        _, _, name, *rest = path.split("/")
        room = room_of(self._gateway, caller, name)
        if rest[:1] != ["agents"]:
            return room, "", "".join(f"/{step}" for step in rest)
        agent = rest[1] if len(rest) > 1 else ""
        if agent not in room.agents:
            raise Problem(
                404, "There is no such agent in this room", value=agent,
                todo=f"there are: {', '.join(room.agents) or 'none'}",
            )  # fmt: skip
        return room, agent, "".join(f"/{step}" for step in rest[2:])

    def _tasks(self, caller: Caller, room: RoomView) -> Tasks:
        return Tasks(self._gateway, caller, room, self._files)

    async def _told(self, target: PushTarget) -> AsyncGenerator[Json]:
        """Yield what the address of a task is told; nothing where its token or room is gone."""
        token = await self._gateway.store.token(target.program)
        room = next((room for room in self._gateway.rooms() if room.id == target.room), None)
        if token is None or room is None:
            return
        tasks = self._tasks(Caller(token), room)
        async with aclosing(tasks.follow(await tasks.get(target.task))) as changes:
            async for task in changes:
                if task.state != "working":
                    yield {"task": task_json(task, 0)}

    async def _sdk(self) -> ASGIApp:
        """The routes of the published SDK, whose import takes seconds."""
        if not has_module("a2a"):
            raise Problem(
                503, "This bridge does not serve A2A: the extra is not installed",
                todo=how_to_install("a2a"),
            )  # fmt: skip
        async with self._importing:
            if self._app is None:
                self._app = await asyncio.to_thread(self._sdk_app)
            return self._app

    def _sdk_app(self) -> ASGIApp:
        from bridge.app.a2a.handler import routes_of

        return Router([*routes_of(self._pushes, _AGENT), *routes_of(self._pushes, _ROOM)])


class _Below(BaseRoute):
    """All paths that begin so."""

    def __init__(self, prefix: str, app: ASGIApp) -> None:
        self._prefix = prefix
        self._app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        fits = scope["type"] == "http" and scope["path"].startswith(self._prefix)
        return (Match.FULL if fits else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
