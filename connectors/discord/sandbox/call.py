"""One REST request, and the table that finds the route for a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from bridge.sandbox.limits import Window
from bridge.sandbox.multipart import Part
from connectors.discord.sandbox.checks import Form, is_snowflake, not_a_snowflake
from connectors.discord.sandbox.errors import (
    ApiError,
    invalid_form,
    invalid_json,
    missing_access,
    missing_permissions,
    no_method,
    no_route,
    unknown_channel,
    unknown_guild,
    unknown_message,
)
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.state import App, Channel, Guild, Message, State
from connectors.discord.sandbox.state_changes import StateChanges

Answer = Any  # the JSON of the response; None: status 204


@dataclass(frozen=True)
class Created:
    """A response with status 201."""

    body: Any


@dataclass
class Call:
    """One request: its app, path parameters, query and body, and the state that it changes."""

    changes: StateChanges
    params: Mapping[str, str]
    query: Mapping[str, str]
    raw: bytes
    token: App | None
    parts: Sequence[Part] = ()  # of a multipart body

    @property
    def state(self) -> State:
        return self.changes.state

    @property
    def app(self) -> App:
        """Return the authorized app; raises ApiError on routes without authorization."""
        if self.token is None:
            raise ApiError(401, 0, "401: Unauthorized")
        return self.token

    def form(self) -> Form:
        """Return the body: JSON, the `payload_json` of a multipart form, or a form's fields."""
        raw = self.raw
        if self.parts:
            fields = {part.name: part.value for part in self.parts if part.file is None}
            if "payload_json" not in fields:
                return Form({n: v.decode("utf-8", "replace") for n, v in fields.items()})
            raw = fields["payload_json"]
        try:
            return Form(orjson.loads(raw) if raw else {})
        except orjson.JSONDecodeError:
            raise invalid_json() from None

    def list_form(self) -> list[Form]:
        """Return the body as a list of objects."""
        try:
            items = orjson.loads(self.raw)
        except orjson.JSONDecodeError:
            raise invalid_json() from None
        if not isinstance(items, list):
            text = "Only iterables may be used in a ListType"
            raise invalid_form({"_errors": [{"code": "LIST_TYPE_CONVERT", "message": text}]})
        return [Form(item) for item in items]

    def id(self, name: str) -> int:
        """Return an id from the path."""
        value = self.params[name]
        if not is_snowflake(value):
            raise not_a_snowflake(name, value)
        return int(value)

    def guild(self) -> Guild:
        guild = self.state.guilds.get(self.id("guild_id"))
        if guild is None:
            raise unknown_guild()
        if self.app.user.id not in guild.members:
            raise missing_access()
        return guild

    def channel(self, *required: Permission) -> Channel:
        """Return the channel of the path; the app must see it and have the permissions."""
        channel = self.state.channels.get(self.id("channel_id"))
        if channel is None:
            raise unknown_channel()
        self.need(channel, *required)
        return channel

    def need(self, channel: Channel, *required: Permission) -> None:
        granted = permissions_in(channel, self.app.user.id)
        if not granted & Permission.VIEW_CHANNEL:
            raise missing_access()
        if any(not granted & permission for permission in required):
            raise missing_permissions()

    def may(self, channel: Channel, permission: Permission) -> bool:
        return bool(permissions_in(channel, self.app.user.id) & permission)

    def message(self, channel: Channel) -> Message:
        message = channel.messages.get(self.id("message_id"))
        if message is None:
            raise unknown_message()
        return message


@dataclass(frozen=True)
class Route:
    """One route; `rate_limit` applies per channel, webhook or guild of the path."""

    method: str
    path: str
    name: str
    handle: Callable[[Call], Answer]
    rate_limit: Window | None = None
    needs_bot: bool = True


@dataclass
class _Node:
    literal: dict[str, _Node] = field(default_factory=dict[str, "_Node"])
    wild: _Node | None = None
    routes: dict[str, tuple[Route, tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[Route, tuple[str, ...]]]
    )


class Routes:
    """Finds a route by method and path, step by step, literals first."""

    def __init__(self, routes: list[Route]) -> None:
        self._root = _Node()
        for route in routes:
            self._add(route)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        node: _Node | None = self._root
        values: list[str] = []
        for step in path.strip("/").split("/"):
            child = node.literal.get(step)
            if child is None:
                child = node.wild
                values.append(step)
            if child is None:
                raise no_route()
            node = child
        if not node.routes:
            raise no_route()
        if method not in node.routes:
            raise no_method()
        route, names = node.routes[method]
        return route, dict(zip(names, values, strict=True))

    def _add(self, route: Route) -> None:
        node = self._root
        names: list[str] = []
        for step in route.path.strip("/").split("/"):
            if step.startswith("{"):
                names.append(step.strip("{}"))
                node.wild = node.wild or _Node()
                node = node.wild
            else:
                node = node.literal.setdefault(step, _Node())
        node.routes[route.method] = (route, tuple(names))
