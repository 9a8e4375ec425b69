"""The local identity provider: signing keys with rotation, tokens for bots, tokens from bots."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

from connectors.teams.sandbox.state import Json, Tenant

BOT_AUDIENCE = "https://api.botframework.com"
TOKEN_SECONDS = 3599
PUSH_SECONDS = 300  # the life of a token that Teams sends to a bot
_AUDIENCES = (BOT_AUDIENCE, "https://graph.microsoft.com")
_SHARED_TENANTS = ("botframework.com", "organizations", "common")


class Keys:
    """The current RSA signing key; `rotate` replaces it."""

    def __init__(self) -> None:
        self._key: RSAPrivateKey | None = None
        self._kid = ""

    @property
    def kid(self) -> str:
        self._private()
        return self._kid

    def rotate(self) -> None:
        self._key = generate_private_key(public_exponent=65537, key_size=2048)
        self._kid = sha256(uuid4().bytes).hexdigest()[:27]

    def sign(self, claims: Json) -> str:
        key = self._private()
        return jwt.encode(claims, key, "RS256", headers={"kid": self._kid, "x5t": self._kid})

    def jwks(self) -> Json:
        """Return the public key, endorsed for the Teams channel."""
        public = RSAAlgorithm.to_jwk(self._private().public_key(), as_dict=True)
        kid = self.kid
        named = {"use": "sig", "kid": kid, "x5t": kid, "endorsements": ["msteams"]}
        return {"keys": [{"kty": "RSA", "n": public["n"], "e": public["e"], **named}]}

    def _private(self) -> RSAPrivateKey:
        if self._key is None:
            self.rotate()
        assert self._key is not None  # noqa: S101 - rotate has just set it
        return self._key


class PushTokens:
    """The tokens that Teams sends to bots, renewed after half of their life."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._signed: dict[tuple[str, str, str], tuple[str, float]] = {}

    def token(self, app_id: str, service_url: str) -> str:
        now = time.time()
        key = (app_id, service_url, self._keys.kid)
        token, until = self._signed.get(key, ("", 0.0))
        if now >= until:
            token = self._sign(app_id, service_url, int(now))
            self._signed[key] = (token, now + PUSH_SECONDS / 2)
        return token

    def _sign(self, app_id: str, service_url: str, now: int) -> str:
        claims = {
            "iss": BOT_AUDIENCE,
            "aud": app_id,
            "serviceurl": service_url,
            "nbf": now,
            "exp": now + PUSH_SECONDS,
        }
        return self._keys.sign(claims)


@dataclass(frozen=True)
class LoginRefused(Exception):
    """The refusal of a token request, with the texts of Entra ID."""

    status: int
    error: str
    code: int  # AADSTS...
    text: str

    def body(self) -> Json:
        moment = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
        trace, correlation = str(uuid4()), str(uuid4())
        return {
            "error": self.error,
            "error_description": f"AADSTS{self.code}: {self.text} Trace ID: {trace} "
            f"Correlation ID: {correlation} Timestamp: {moment}",
            "error_codes": [self.code],
            "timestamp": moment,
            "trace_id": trace,
            "correlation_id": correlation,
        }


class Login:
    """The token endpoint; it remembers bot, audience and expiry of each issued token."""

    def __init__(self, tenant: Tenant, keys: Keys) -> None:
        self._tenant = tenant
        self._keys = keys
        self._issued: dict[str, tuple[str, str, float]] = {}

    def knows(self, tenant_id: str) -> bool:
        return tenant_id == self._tenant.id or tenant_id in _SHARED_TENANTS

    def give(self, tenant_id: str, form: Mapping[str, str]) -> Json:
        """Return the token response for client credentials. Raises LoginRefused."""
        if not self.knows(tenant_id):
            text = f"Tenant '{tenant_id}' not found. Check that you have the correct tenant ID."
            raise LoginRefused(400, "invalid_request", 90002, text)
        app_id = self._proven_app(form)
        audience = _audience(form.get("scope", ""))
        now = int(time.time())
        token = self._keys.sign(self._claims(app_id, audience, now))
        self._issued[token] = (app_id, audience, now + TOKEN_SECONDS)
        return {
            "token_type": "Bearer",
            "expires_in": TOKEN_SECONDS,
            "ext_expires_in": TOKEN_SECONDS,
            "access_token": token,
        }

    def app_of(self, token: str) -> str | None:
        """Return the app of a token; None if it is forged, expired or for another audience."""
        app_id, audience, until = self._issued.get(token, ("", "", 0.0))
        if time.time() >= until:
            self._issued.pop(token, None)
            return None
        return app_id if audience == BOT_AUDIENCE else None

    def _proven_app(self, form: Mapping[str, str]) -> str:
        for name in ("grant_type", "client_id", "client_secret", "scope"):
            if not form.get(name):
                text = f"The request body must contain the following parameter: '{name}'."
                error = "invalid_client" if name == "client_secret" else "invalid_request"
                raise LoginRefused(401 if name == "client_secret" else 400, error, 900144, text)
        if form["grant_type"] != "client_credentials":
            text = f"The app requested an unsupported grant type '{form['grant_type']}'."
            raise LoginRefused(400, "unsupported_grant_type", 70003, text)
        bot = self._tenant.bots.get(form["client_id"])
        if bot is None:
            text = (
                f"Application with identifier '{form['client_id']}' was not found in the directory "
                f"'{self._tenant.name}'. This can happen if the application has not been installed "
                "by the administrator of the tenant or consented to by any user in the tenant. You "
                "may have sent your authentication request to the wrong tenant."
            )
            raise LoginRefused(400, "unauthorized_client", 700016, text)
        if form["client_secret"] != bot.password:
            text = (
                "Invalid client secret provided. Ensure the secret being sent in the request is "
                "the client secret value, not the client secret ID, for a secret added to app "
                f"'{bot.app_id}'."
            )
            raise LoginRefused(401, "invalid_client", 7000215, text)
        return bot.app_id

    def _claims(self, app_id: str, audience: str, now: int) -> Json:
        return {
            "aud": audience,
            "iss": f"https://sts.windows.net/{self._tenant.id}/",
            "iat": now,
            "nbf": now,
            "exp": now + TOKEN_SECONDS,
            "appid": app_id,
            "tid": self._tenant.id,
            "ver": "1.0",
            "jti": str(uuid4()),
        }


def _audience(scope: str) -> str:
    if not scope.endswith("/.default"):
        text = (
            f"The provided value for scope {scope} is not valid. Client credential flows must have "
            "a scope value with /.default suffixed to the resource identifier (application ID URI)."
        )
        raise LoginRefused(400, "invalid_scope", 1002012, text)
    audience = scope.removesuffix("/.default")
    if audience not in _AUDIENCES:
        text = f"The resource principal named {audience} was not found in the tenant."
        raise LoginRefused(400, "invalid_resource", 500011, text)
    return audience
