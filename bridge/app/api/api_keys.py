"""Tokens of programs: created, parsed and checked.

A token has the form `uacs.NAME.SECRET`. The program posts under NAME. The store keeps only a digest
of the secret. A token is valid for some rooms, scopes and a limited time.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bridge.app.api.problems import Problem
from bridge.content.text.globs import matches
from bridge.errors import InvalidData
from bridge.model import ActorId
from bridge.model.api_records import ApiToken, Role, Scope
from bridge.ports.clock import Clock
from bridge.ports.store.reading import ReadingStore
from bridge.router.rooms.programs import outside_actor

PREFIX = "uacs"
SCOPES: tuple[Scope, ...] = ("read", "post", "interact")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_LONGEST = 400  # characters of a header that are read
_DIGEST_OF_NOTHING = hashlib.sha256(b"").hexdigest()
_DAY = 86_400.0
_UNITS = {"m": 60.0, "h": 3600.0, "d": _DAY, "w": 7 * _DAY}
_CREATE_ONE = "make one: uacs-bridge tokens add NAME --room ROOM --scope read,post"


@dataclass(frozen=True)
class TokenRequest:
    """The properties of a token to create; `seconds` None: it never expires."""

    name: str
    rooms: tuple[str, ...]
    scopes: tuple[Scope, ...]
    role: Role = "assistant"
    seconds: float | None = 30 * _DAY
    per_minute: int = 120
    actors: tuple[str, ...] = ()


def new_token(
    request: TokenRequest, now: float, taken: Collection[str] = ()
) -> tuple[ApiToken, str]:
    """Create a token.

    Returns the record for the store, and the token itself, which cannot be shown again.

    Raises:
        InvalidData: A property is not valid; `taken` are names that a token may not have.
    """
    if not _NAME.fullmatch(request.name):
        raise InvalidData(
            f"{request.name!r} is no name for a token; use lower-case letters, digits, - and _"
        )
    if request.name in taken:
        raise InvalidData(f"{request.name!r} is the name of an agent; choose another")
    if not request.rooms or not request.scopes:
        raise InvalidData("A token needs at least one room and one scope")
    if request.per_minute < 1 or (request.seconds is not None and request.seconds <= 0):
        raise InvalidData("A token needs some time, and at least one request a minute")
    secret = secrets.token_urlsafe(32)
    record = ApiToken(
        name=request.name,
        digest=_digest(secret),
        role=request.role,
        rooms=request.rooms,
        scopes=request.scopes,
        created=now,
        expires=None if request.seconds is None else now + request.seconds,
        per_minute=request.per_minute,
        actors=request.actors,
    )
    return record, f"{PREFIX}.{request.name}.{secret}"


_TOKEN: TypeAdapter[ApiToken] = TypeAdapter(ApiToken)


def token_from_json(fields: Mapping[str, Any]) -> ApiToken:
    """The token in the JSON form of `dataclasses.asdict`.

    Raises:
        InvalidData: The fields are not those of a token.
    """
    try:
        return _TOKEN.validate_python(fields)
    except ValidationError as error:
        raise InvalidData(f"this is no token: {error}") from None


def scopes_of(text: str) -> tuple[Scope, ...]:
    """The scopes in a list such as `read,post`.

    Raises:
        InvalidData: A scope does not exist, or the list is empty.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in SCOPES]
    if unknown or not names:
        unknown_scope = repr(unknown[0]) if unknown else "nothing"
        raise InvalidData(f"{unknown_scope} is no scope; there are {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in names)


def seconds_of(text: str) -> float | None:
    """The seconds in a duration such as `30d` or `12h`; None for `never`.

    Raises:
        InvalidData: The text is no duration.
    """
    if text.strip() == "never":
        return None
    match = re.fullmatch(r"\s*(\d{1,6})\s*([mhdw])\s*", text)
    if match is None or not int(match[1]):
        raise InvalidData(f"{text!r} is no time; write 30d, 12h, 90m, 2w or never")
    return int(match[1]) * _UNITS[match[2]]


def has_expired(token: ApiToken, now: float) -> bool:
    """Whether a token is not valid any more; `now` is in seconds since 1970."""
    return token.expires is not None and token.expires <= now


@dataclass(frozen=True)
class Caller:
    """A program whose token is valid."""

    token: ApiToken

    @property
    def name(self) -> str:
        return self.token.name

    @property
    def actor(self) -> ActorId:
        return outside_actor(self.token.name)

    @property
    def is_bot(self) -> bool:
        return self.token.role == "assistant"

    def sees(self, room: str) -> bool:
        return any(matches(glob, room) for glob in self.token.rooms)

    def require_scope(self, scope: Scope) -> None:
        """Check that the token has the scope.

        Raises:
            Problem: 403; the token does not have it.
        """
        if scope not in self.token.scopes:
            raise Problem(
                403,
                f"The token {self.name!r} has no scope {scope!r}",
                value=", ".join(self.token.scopes),
                todo="use a token that has it, or make one: uacs-bridge tokens add",
            )


@dataclass
class _Bucket:
    """A token bucket: the requests `left` at the time `at` (monotonic seconds)."""

    left: float
    at: float


class Authenticator:
    """Authenticates requests by their token and limits the requests of each token."""

    def __init__(self, store: ReadingStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    async def caller(self, authorization: str) -> Caller:
        """The program that sent this `Authorization: Bearer ...` header; counts one request.

        Raises:
            Problem: 401 without a valid token; 429 if the token has made too many requests.
        """
        scheme, _, credentials = authorization[:_LONGEST].strip().partition(" ")
        if scheme.lower() != "bearer" or not credentials.strip():
            raise _refused(
                "The request has no token", f"send Authorization: Bearer TOKEN; {_CREATE_ONE}"
            )
        caller = await self._caller_of(credentials.strip())
        self._count(caller.token)
        return caller

    async def is_valid(self, caller: Caller) -> bool:
        """Whether the token of an open stream is unchanged and has not expired."""
        record = await self._store.token(caller.name)
        return record == caller.token and not self._has_expired(caller.token)

    async def _caller_of(self, api_key: str) -> Caller:
        prefix, _, name_and_secret = api_key.partition(".")
        name, _, secret = name_and_secret.partition(".")
        record = await self._store.token(name) if prefix == PREFIX else None
        digest = _DIGEST_OF_NOTHING if record is None else record.digest
        same = hmac.compare_digest(digest, _digest(secret))
        if record is None or not same:
            raise _refused("The token is unknown", f"it may have been revoked; {_CREATE_ONE}")
        if self._has_expired(record):
            raise _refused(f"The token {name!r} has expired", _CREATE_ONE)
        return Caller(record)

    def _has_expired(self, token: ApiToken) -> bool:
        return has_expired(token, self._clock.time())

    def _count(self, token: ApiToken) -> None:
        now, rate = self._clock.monotonic(), token.per_minute / 60
        bucket = self._buckets.setdefault(token.name, _Bucket(token.per_minute, now))
        bucket.left = min(token.per_minute, bucket.left + (now - bucket.at) * rate)
        bucket.at = now
        if bucket.left < 1:
            wait = (1 - bucket.left) / rate
            raise Problem(
                429,
                f"The token {token.name!r} may make {token.per_minute} requests a minute",
                todo=f"wait {wait:.1f} s; follow /events instead of asking again and again",
                headers={"Retry-After": str(math.ceil(wait))},
            )
        bucket.left -= 1


def _refused(detail: str, todo: str) -> Problem:
    return Problem(401, detail, todo=todo, headers={"WWW-Authenticate": "Bearer"})


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
