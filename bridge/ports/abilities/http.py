"""Receives requests that the platform sends to the bridge over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from bridge.ports.inbox import Inbox

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
"""A web application without its framework (asgi.readthedocs.io, "HTTP & WebSocket")."""


class HttpEndpoint(Protocol):
    """Answers the platform's requests; the bridge's web server passes on those to `/<account>/`. An
    account has it only if its platform sends requests with these settings: in a cluster any process
    may receive them."""

    def app(self, inbox: Inbox) -> AsgiApp:
        """Return the application that answers; its paths are relative to `/<account>/`.

        Raises:
            ConfigError: a setting is missing.
        """
        ...
