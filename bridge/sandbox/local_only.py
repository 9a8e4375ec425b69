"""ASGI middleware for servers that only programs of this machine may use: the sandbox, the demo.

Such a server has no passwords, so it must not answer to web pages. A page of another site reaches
it in three ways: a name of that site which resolves to 127.0.0.1 (DNS rebinding: the `Host` header
has that name), a request across origins (browsers send `Origin` or `Sec-Fetch-Site`), and a form
post, which browsers send without asking first because its content type is one of HTML's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_CHANGES = {"POST", "PUT", "PATCH", "DELETE"}
_Refusal = tuple[int, str]


def anywhere(_path: str) -> bool:
    """Every path takes JSON only."""
    return True


class LocalOnly:
    """Refuses foreign hosts (421), foreign origins (403) and bodies that are not JSON (415).

    Args:
        name: a further host name that the server goes by; names of the loopback always work.
        json_only: whether the body of a request to this path must be JSON; by default all.
        forms: whether this path takes `multipart/form-data`, too; by default none.
    """

    def __init__(
        self,
        app: ASGIApp,
        name: str | None = None,
        json_only: Callable[[str], bool] = anywhere,
        forms: Callable[[str], bool] = lambda _path: False,
    ) -> None:
        self._app = app
        self._name = name
        self._json_only = json_only
        self._forms = forms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope, Headers(scope=scope))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            # Before the socket is accepted: the server answers 403.
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})
        else:
            status, text = refusal
            headers = {"Connection": "close"}  # the body is not read
            await JSONResponse({"error": text}, status, headers)(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> _Refusal | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            host_list = ", ".join(map(repr, hosts)) or "none"
            return (
                421,
                f"Only this machine is served; use http://127.0.0.1, not the host {host_list}",
            )
        foreign = [
            origin for origin in headers.getlist("origin") if not _same_origin(origin, hosts[0])
        ]
        if foreign:
            return 403, f"Pages of the origin {foreign[0]!r} may not use this server"
        if _is_cross_site(scope, headers):
            return 403, "Pages of other sites may not use this server"
        if scope["type"] == "http" and scope["method"] in _CHANGES:
            return self._wrong_body(scope["path"], headers)
        return None

    def _is_ours(self, host: str) -> bool:
        name = _host_name(host)
        return name is not None and (_is_loopback(name) or name == self._name)

    def _wrong_body(self, path: str, headers: Headers) -> _Refusal | None:
        if not self._json_only(path):
            return None
        kinds = headers.getlist("content-type")
        if not kinds and headers.get("content-length", "0") == "0" and (
            "transfer-encoding" not in headers
        ):  # fmt: skip
            return None
        kind = kinds[0].partition(";")[0].strip().lower() if len(kinds) == 1 else ""
        if kind == "application/json" or (kind == "multipart/form-data" and self._forms(path)):
            return None
        kind_list = ", ".join(map(repr, kinds)) or "none"
        return 415, f"Send JSON with Content-Type: application/json, not {kind_list}"


def _host_name(host: str) -> str | None:
    """The name of `name:port` or `[address]:port`; None where it is no host."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        return None
    return parts.hostname


def _is_loopback(name: str) -> bool:
    """Names that no other site can have: `localhost`, and addresses of the loopback."""
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _same_origin(origin: str, host: str) -> bool:
    """Whether a page of this origin came from this very server."""
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "ws") and rest.lower() == host.lower()


def _is_cross_site(scope: Scope, headers: Headers) -> bool:
    """Whether a page of another site caused the request; a clicked link is permitted."""
    if headers.get("sec-fetch-site") != "cross-site":
        return False
    clicked = scope["type"] == "http" and scope["method"] == "GET"
    return not (clicked and headers.get("sec-fetch-mode") == "navigate")
