"""The HTTP pages of the local identity provider: signing keys and tokens for bots.

Programs with botbuilder's credentials (msal) accept only an https authority, and ask
login.microsoftonline.com about unknown hosts, except for addresses of the form /x/b2c_y: behind TLS
`https://host/teams/b2c_<tenant>` works without changes.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridge.sandbox.platform import SandboxContext
from connectors.teams.sandbox import refusals
from connectors.teams.sandbox.refusals import answer
from connectors.teams.sandbox.tokens import BOT_AUDIENCE, Keys, Login, LoginRefused


class LoginPages:
    """OpenID metadata, JWKS and the token endpoint."""

    def __init__(self, context: SandboxContext, login: Login, keys: Keys) -> None:
        self._context = context
        self._login = login
        self._keys = keys

    def routes(self) -> list[BaseRoute]:
        discovery = "/v2.0/.well-known/openid-configuration"
        token = "/oauth2/v2.0/token"  # noqa: S105 - a path
        return [
            Route("/keys/openidconfiguration", self._bot_framework),
            Route("/keys/jwks", self._jwks),
            *(
                route
                for prefix in ("/login/{tenant}", "/b2c_{tenant}")
                for route in (
                    Route(prefix + token, self._token, methods=["POST"]),
                    Route(prefix + discovery, self._discovery),
                )
            ),
        ]

    async def _bot_framework(self, _request: Request) -> Response:
        return answer(
            {
                "issuer": BOT_AUDIENCE,
                "authorization_endpoint": "https://invalid.botframework.com",
                "jwks_uri": f"{self._context.base_url}/teams/keys/jwks",
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            }
        )

    async def _jwks(self, _request: Request) -> Response:
        fault = self._context.faults.take("teams:keys:", "status")
        if fault is not None:
            return refusals.with_status(fault.status).response()
        return answer(self._keys.jwks())

    async def _discovery(self, request: Request) -> Response:
        tenant = request.path_params["tenant"]
        address = str(request.url).partition("/v2.0/.well-known/")[0]
        return answer(
            {
                "issuer": f"{address}/v2.0",
                "authorization_endpoint": f"{address}/oauth2/v2.0/authorize",
                "token_endpoint": f"{address}/oauth2/v2.0/token",
                "jwks_uri": f"{self._context.base_url}/teams/keys/jwks",
                "tenant_region_scope": "NA",
            },
            200 if self._login.knows(tenant) else 400,
        )

    async def _token(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode(errors="replace")))
        where = f"teams:token:{form.get('client_id', '')}"
        if fault := self._context.faults.take(where, "status"):
            self._context.feed.refused("teams", str(fault.status), "token")
            return refusals.with_status(fault.status).response()
        try:
            return answer(self._login.give(request.path_params["tenant"], form))
        except LoginRefused as refused:
            self._context.feed.refused("teams", str(refused.status), "token")
            return answer(refused.body(), refused.status)
