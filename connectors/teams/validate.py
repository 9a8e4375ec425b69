"""The token of a request -> its claims, or Unauthorized; fetches signing keys without blocking.

botbuilder's check blocks the event loop while it fetches keys, and fails after a key rotation.
Rules: Microsoft's "Authenticate requests from the Bot Connector service to your bot" (2026).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
import orjson
from jwt.algorithms import RSAAlgorithm

from bridge.errors import PlatformError, Unauthorized, Unavailable
from bridge.ports.clock import Clock
from connectors.teams.activity import Json, object_of, objects, string
from connectors.teams.settings import TeamsSettings

ALGORITHMS = ("RS256", "RS384", "RS512")
LEEWAY = 300.0
CHANNEL = "msteams"
_FETCH_AGAIN_AFTER = 10.0  # seconds between two fetches for unknown keys
_TRY_AGAIN_AFTER = 0.5  # seconds after a failed fetch; less than the retry delay of Teams
_FETCH_ANYWAY_AFTER = 24 * 3600.0  # seconds; a withdrawn key is valid no longer than this
_TOKENS_REMEMBERED = 256
_LAST = 2**53  # seconds; beyond, a JSON number is not exact
_LONGEST_KEY_ID = 100  # characters; the log has it, and anybody can send one

# Errors that PyJWT does not catch for odd tokens: deep nesting, claims of other types.
_UNREADABLE = (RecursionError, ValueError, TypeError, AttributeError, OverflowError)

Fetch = Callable[[str], Awaitable[bytes]]


@dataclass(frozen=True)
class SigningKey:
    """A public key and the channels for which it is endorsed."""

    key: Any
    endorsements: frozenset[str]


@dataclass(frozen=True)
class Claims:
    """The claims of a valid token."""

    service_url: str
    endorsements: frozenset[str]


@dataclass(frozen=True)
class _Verified:
    """A token with valid signature, issuer and audience, and the key that verified it."""

    kid: str
    key: SigningKey
    claims: Json


class SigningKeys:
    """The Bot Framework's published keys; an unknown key id triggers a fetch, at a limited rate."""

    def __init__(self, openid_url: str, fetch: Fetch, clock: Clock) -> None:
        self._openid_url = openid_url
        self._fetch = fetch
        self._clock = clock
        self._keys: Mapping[str, SigningKey] = {}
        self._fetched: float | None = None
        self._failed: float | None = None
        self._fetching = asyncio.Lock()

    async def key(self, kid: str) -> SigningKey:
        """Return the key. Raises Unauthorized if it is unknown, PlatformError without keys."""
        if self._needs_fetch(kid):  # other requests do not wait for this fetch
            async with self._fetching:
                await self._refresh_for(kid)
        if (key := self._keys.get(kid)) is None:
            raise Unauthorized(f"The token is signed with a key that nobody published: {kid!r}")
        return key

    def _needs_fetch(self, kid: str) -> bool:
        outdated = kid not in self._keys or self._age() > _FETCH_ANYWAY_AFTER
        return outdated and self._age() >= _FETCH_AGAIN_AFTER

    async def _refresh_for(self, kid: str) -> None:
        if not self._needs_fetch(kid):
            return
        try:
            if self._since(self._failed) < _TRY_AGAIN_AFTER:
                raise Unavailable(f"{self._openid_url} returned no keys a moment ago")
            await self._refresh()
        except PlatformError:
            if self._since(self._failed) >= _TRY_AGAIN_AFTER:
                self._failed = self._clock.monotonic()
            if kid not in self._keys:
                raise  # a known key stays valid while fetches fail

    async def _refresh(self) -> None:
        metadata = _json(await self._fetch(self._openid_url), self._openid_url)
        url = string(metadata, "jwks_uri")
        if not url:
            raise Unavailable(f"{self._openid_url} names no jwks_uri; check openid_url")
        keys = _read_keys(_json(await self._fetch(url), url))
        if not keys:
            raise Unavailable(f"{url} holds no usable key; check openid_url")
        self._keys = keys
        self._fetched = self._clock.monotonic()

    def _age(self) -> float:
        return self._since(self._fetched)

    def _since(self, moment: float | None) -> float:
        return float("inf") if moment is None else self._clock.monotonic() - moment


class TokenValidator:
    """Checks that a request comes from the Bot Framework and is meant for this bot."""

    def __init__(self, settings: TeamsSettings, keys: SigningKeys, clock: Clock) -> None:
        self._settings = settings
        self._keys = keys
        self._clock = clock
        self._verified: OrderedDict[str, _Verified] = OrderedDict()

    async def claims(self, authorization: str) -> Claims:
        """Return the claims of `Bearer <token>`.

        Raises Unauthorized if signature, issuer, audience or time is invalid, PlatformError if the
        signing keys cannot be fetched.
        """
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized("The request has no bearer token")
        verified = await self._check_signature(token.strip())
        self._check_time(verified.claims)
        return Claims(string(verified.claims, "serviceurl"), verified.key.endorsements)

    async def _check_signature(self, token: str) -> _Verified:
        """Verify a signature once for each token and key: Teams reuses tokens."""
        verified = self._verified.get(token)
        kid = verified.kid if verified else _key_id(token)
        key = await self._keys.key(kid)
        if verified is None or verified.key is not key:
            verified = _Verified(kid, key, self._decode(token, key))
            self._verified[token] = verified
            if len(self._verified) > _TOKENS_REMEMBERED:
                self._verified.popitem(last=False)
        return verified

    def _decode(self, token: str, key: SigningKey) -> Json:
        try:
            return jwt.decode(
                token,
                key.key,
                algorithms=list(ALGORITHMS),
                audience=self._settings.app_id,
                issuer=self._settings.issuer,
                # `_check_time` checks the times, with our clock.
                options={
                    "require": ["exp", "iss", "aud"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWTError as error:
            raise Unauthorized(f"The token is not good: {error}") from error
        except _UNREADABLE as error:
            raise Unauthorized("The token's claims cannot be read") from error

    def _check_time(self, claims: Json) -> None:
        now = self._clock.time()
        ends, begins = _moment(claims, "exp"), _moment(claims, "nbf")
        _moment(claims, "iat")
        if ends is None:
            raise Unauthorized("The token says no time at which it ends")
        if now > ends + LEEWAY:
            raise Unauthorized(f"The token ended {now - ends:.0f} s ago; is our clock right?")
        if begins is not None and now < begins - LEEWAY:
            raise Unauthorized(f"The token begins in {begins - now:.0f} s; is our clock right?")


def _moment(claims: Json, name: str) -> float | None:
    """Return a claim in seconds since 1970 (RFC 7519: a JSON number); None if it is absent.

    Raises Unauthorized for other values: Python's JSON reader accepts NaN, Infinity and integers of
    any length.
    """
    value = claims.get(name)
    if value is None and name not in claims:
        return None
    # bool is an int, and NaN is neither smaller nor larger than anything
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LAST:
        raise Unauthorized(f"The token's {name} is no time")
    return float(value)


def check_belongs(claims: Claims, activity: Json) -> None:
    """Raise Unauthorized unless the token fits the activity: channel and service address."""
    channel = string(activity, "channelId")
    if channel != CHANNEL:
        raise Unauthorized(f"The activity comes from channel {channel!r}, not {CHANNEL!r}")
    if CHANNEL not in claims.endorsements:
        raise Unauthorized(f"The token's key is not endorsed for {CHANNEL!r}")
    service_url = string(activity, "serviceUrl")
    if not service_url or claims.service_url != service_url:
        raise Unauthorized(
            f"The token is for {claims.service_url!r}, the activity for {service_url!r}"
        )


def _key_id(token: str) -> str:
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, *_UNREADABLE) as error:
        raise Unauthorized(f"The token cannot be read: {error}") from error
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS or not isinstance(kid, str) or len(kid) > _LONGEST_KEY_ID:
        signer = f"{algorithm!r} with key {kid!r}"
        raise Unauthorized(f"The token is signed by {signer[:120]}, not by RSA")
    return kid


def _read_keys(jwks: Json) -> dict[str, SigningKey]:
    keys: dict[str, SigningKey] = {}
    for jwk in objects(jwks, "keys"):
        named = jwk.get("endorsements")
        endorsements = frozenset(map(str, named)) if isinstance(named, list) else frozenset[str]()
        try:
            public = {name: string(jwk, name) for name in ("kty", "n", "e")}
            keys[string(jwk, "kid")] = SigningKey(RSAAlgorithm.from_jwk(public), endorsements)
        except (jwt.InvalidKeyError, ValueError):
            continue  # not an RSA key
    return keys


def _json(body: bytes, url: str) -> Json:
    try:
        return object_of({"answer": orjson.loads(body)}, "answer")
    except orjson.JSONDecodeError as error:
        raise Unavailable(f"{url} did not answer with JSON: {error}") from error
