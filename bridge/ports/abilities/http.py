"""The platform calls us over HTTP."""

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
    """The platform calls us, at the bridge's own web server below `/<account>/`."""

    def app(self, inbox: Inbox) -> AsgiApp | None:
        """The application that answers there, its paths below the account's; None where the
        settings have the platform not call us. Raises ConfigError where a setting is missing."""
        ...
