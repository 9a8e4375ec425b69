"""The checks of a token: signature, key, issuer, audience, times, channel, service URL."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from bridge.errors import Unauthorized, Unavailable
from bridge.model.secret_refs import SecretRef
from connectors.teams.settings import TeamsSettings
from connectors.teams.validate import Claims, SigningKeys, TokenValidator, check_belongs
from tests.connectors.teams.payloads import APP_ID, SERVICE_URL, activity

NOW = 1_800_000_000.0
SETTINGS = TeamsSettings(app_id=APP_ID, app_password=SecretRef(env="X"))
KEY = generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = generate_private_key(public_exponent=65537, key_size=2048)


class StillClock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = NOW

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Publisher:
    """Serves the Bot Framework's two documents, and counts the requests."""

    def __init__(self, **keys: RSAPrivateKey) -> None:
        self.keys = keys
        self.endorsements: Any = ["msteams", "webchat"]
        self.fetched = 0
        self.broken: Exception | None = None

    async def fetch(self, url: str) -> bytes:
        self.fetched += 1
        if self.broken:
            raise self.broken
        if url == SETTINGS.openid_url:
            return orjson.dumps({"jwks_uri": "https://keys.example/"})
        published = [self._jwk(kid, key) for kid, key in self.keys.items()]
        return orjson.dumps({"keys": [{"kty": "EC", "kid": "ec"}, 17, *published]})

    def _jwk(self, kid: str, key: RSAPrivateKey) -> dict[str, Any]:
        jwk = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
        return jwk | {"kid": kid, "endorsements": self.endorsements}


def claims(**changes: Any) -> dict[str, Any]:
    all_claims = {
        "iss": "https://api.botframework.com", "aud": APP_ID, "serviceurl": SERVICE_URL,
        "nbf": NOW - 60, "exp": NOW + 60, "iat": NOW,
    } | changes  # fmt: skip
    return {name: value for name, value in all_claims.items() if value is not None}


def token(key: Any = KEY, algorithm: str = "RS256", kid: str | None = "k1", **changes: Any) -> str:
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(claims(**changes), key, algorithm, headers=headers)


def validator(publisher: Publisher, clock: StillClock) -> TokenValidator:
    return TokenValidator(SETTINGS, SigningKeys(SETTINGS.openid_url, publisher.fetch, clock), clock)


async def checked(header: str, publisher: Publisher | None = None) -> Claims:
    return await validator(publisher or Publisher(k1=KEY), StillClock()).claims(header)


async def test_a_valid_token_is_accepted() -> None:
    claims = await checked(f"Bearer {token()}")

    assert claims == Claims(SERVICE_URL, frozenset({"msteams", "webchat"}))
    check_belongs(claims, activity())


async def test_a_token_has_five_minutes_of_clock_tolerance() -> None:
    assert await checked(f"Bearer {token(exp=NOW - 299, nbf=NOW - 400)}")
    assert await checked(f"Bearer {token(nbf=NOW + 299)}")


def _unsigned() -> str:
    return jwt.encode(claims(), "", algorithm="none", headers={"kid": "k1"})


def _hs256_with_the_public_key() -> str:
    """A known attack: the public key as the secret of a symmetric signature."""
    public = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def part(value: bytes) -> bytes:
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    head = part(orjson.dumps({"alg": "HS256", "typ": "JWT", "kid": "k1"}))
    signed = head + b"." + part(orjson.dumps(claims()))
    signature = hmac.digest(public, signed, "sha256")
    return (signed + b"." + part(signature)).decode()


def _tampered() -> str:
    head, _body, signature = token().split(".")
    body = base64.urlsafe_b64encode(orjson.dumps(claims(aud=APP_ID, sub="x"))).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: token(OTHER_KEY), "Signature verification failed"),
        (_tampered, "Signature verification failed"),
        (_unsigned, "not by RSA"),
        (_hs256_with_the_public_key, "not by RSA"),
        (lambda: token(kid="k9"), "nobody published: 'k9'"),
        (lambda: token(kid=None), "not by RSA"),
        (lambda: token(exp=NOW - 301), "ended 301 s ago"),
        (lambda: token(nbf=NOW + 301), "begins in 301 s"),
        (lambda: token(exp=None), "exp"),
        (lambda: token(aud="somebody-else"), "Audience"),
        (lambda: token(aud=None), "aud"),
        (lambda: token(iss="https://sts.windows.net/x/"), "issuer"),
        (lambda: token(iss=None), "iss"),
        (lambda: "a.b.c", "cannot be read"),
        (lambda: "", "no bearer token"),
    ],
)
async def test_a_bad_token_is_refused(make: Callable[[], str], reason: str) -> None:
    with pytest.raises(Unauthorized, match=reason):
        await checked(f"Bearer {make()}")


_NO_TIMES = (
    float("nan"), float("inf"), float("-inf"), 10**400, -(10**400), 10**16, -1, 1e300, True, False,
    "1800000060", [], {}, "NaN",
)  # fmt: skip


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("value", _NO_TIMES, ids=lambda value: str(value)[:12])
async def test_a_time_claim_that_is_not_a_number_is_refused(name: str, value: Any) -> None:
    all_claims = claims(**{name: value})
    header = {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    parts = [json.dumps(part).encode() for part in (header, all_claims)]

    with pytest.raises(Unauthorized, match=f"{name} is no time"):
        await checked(f"Bearer {_signed(*parts)}")


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
async def test_a_claim_that_is_null_is_refused(name: str) -> None:
    all_claims = json.dumps({**claims(), name: None}).encode()

    signed = _signed(b'{"alg": "RS256", "kid": "k1"}', all_claims)

    with pytest.raises(Unauthorized, match=name):
        await checked(f"Bearer {signed}")


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"[" * 30_000, b"{}"),
        (b'{"alg": "RS256", "kid": "k1", "x": ' + b"[" * 10_000, b"{}"),
        (b'{"alg": ["RS256"], "kid": "k1"}', b"{}"),
        (b'{"alg": "RS256", "kid": {"k": 1}}', b"{}"),
        (b'{"alg": "RS256", "kid": "k1", "x": 1' + b"0" * 5000 + b"}", b"{}"),
        (b'{"alg": "RS256", "kid": "k1", "b64": false, "crit": ["b64"]}', b"{}"),
        (b'{"alg": "RS256", "kid": "k1", "crit": {}}', b"{}"),
        (b'{"alg": "RS256", "kid": "k1"}', b"[]"),
        (b'{"alg": "RS256", "kid": "k1"}', b"[" * 30_000),
        (b'{"alg": "RS256", "kid": "k1"}', b'{"exp": 1' + b"0" * 5000 + b"}"),
        (b'{"alg": "RS256", "kid": "k1"}', b"\xff\xfe"),
        (b'{"alg": "RS256", "kid": "k1"}', b""),
    ],
)
async def test_a_malformed_token_is_refused(head: bytes, body: bytes) -> None:
    """Also one that is signed by the right key."""
    with pytest.raises(Unauthorized):
        await checked(f"Bearer {_signed(head, body)}")


@pytest.mark.parametrize(
    "changes",
    [{"aud": [[APP_ID]]}, {"aud": {APP_ID: 1}}, {"aud": 1}, {"iss": ["https://x"]}, {"iss": 1},
     {"sub": 1}, {"jti": 1}, {"serviceurl": 1}],
)  # fmt: skip
async def test_claims_of_a_wrong_type_are_refused(changes: dict[str, Any]) -> None:
    body = json.dumps({**claims(), **changes}).encode()
    signed = _signed(b'{"alg": "RS256", "kid": "k1"}', body)

    with pytest.raises(Unauthorized):
        check_belongs(await checked(f"Bearer {signed}"), activity())


def _signed(head: bytes, body: bytes) -> str:
    """Sign any two parts with the published key."""
    parts = [base64.urlsafe_b64encode(part).rstrip(b"=") for part in (head, body)]
    signature = KEY.sign(b".".join(parts), PKCS1v15(), SHA256())
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


@pytest.mark.parametrize("header", ["", "Basic abc", "Bearer", "bearer "])
async def test_a_request_without_a_token_is_refused(header: str) -> None:
    with pytest.raises(Unauthorized, match="no bearer token"):
        await checked(header)


@pytest.mark.parametrize(
    ("service_url", "endorsed", "changes", "reason"),
    [
        ("https://evil.example/", ["msteams"], {}, "The token is for"),
        (SERVICE_URL, ["msteams"], {"serviceUrl": "https://evil.example/"}, "The token is for"),
        ("", ["msteams"], {"serviceUrl": ""}, "The token is for"),
        (SERVICE_URL, ["webchat"], {}, "not endorsed"),
        (SERVICE_URL, [], {}, "not endorsed"),
        (SERVICE_URL, ["webchat"], {"channelId": "webchat"}, "comes from channel 'webchat'"),
    ],
)
def test_a_token_must_match_the_activity(
    service_url: str, endorsed: list[str], changes: dict[str, str], reason: str
) -> None:
    with pytest.raises(Unauthorized, match=reason):
        check_belongs(Claims(service_url, frozenset(endorsed)), activity(**changes))


async def test_a_key_without_endorsements_endorses_no_channel() -> None:
    publisher = Publisher(k1=KEY)
    publisher.endorsements = None

    assert await checked(f"Bearer {token()}", publisher) == Claims(SERVICE_URL, frozenset())


async def test_keys_are_fetched_once_and_again_after_a_rotation() -> None:
    publisher, clock = Publisher(k1=KEY), StillClock()
    validate = validator(publisher, clock)
    await validate.claims(f"Bearer {token()}")
    await validate.claims(f"Bearer {token()}")
    assert publisher.fetched == 2

    publisher.keys = {"k2": OTHER_KEY}
    clock.now += 11
    assert await validate.claims(f"Bearer {token(OTHER_KEY, kid='k2')}")

    assert publisher.fetched == 4
    with pytest.raises(Unauthorized, match="nobody published"):
        await validate.claims(f"Bearer {token()}")


async def test_forged_key_ids_do_not_cause_repeated_fetches() -> None:
    publisher, clock = Publisher(k1=KEY), StillClock()
    validate = validator(publisher, clock)

    for number in range(20):
        with pytest.raises(Unauthorized):
            await validate.claims(f"Bearer {token(kid=f'forged-{number}')}")

    assert publisher.fetched == 2


async def test_when_keys_cannot_be_fetched_teams_is_asked_to_retry() -> None:
    publisher = Publisher(k1=KEY)
    publisher.broken = Unavailable("down")

    with pytest.raises(Unavailable):
        await checked(f"Bearer {token()}", publisher)


async def test_known_keys_stay_valid_while_the_key_server_is_down() -> None:
    publisher, clock = Publisher(k1=KEY), StillClock()
    validate = validator(publisher, clock)
    await validate.claims(f"Bearer {token()}")

    publisher.broken = Unavailable("down")
    clock.now += 25 * 3600

    assert await validate.claims(f"Bearer {token(nbf=clock.now, exp=clock.now + 60)}")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"jwks_uri": ""}'])
async def test_broken_key_metadata_is_reported(body: bytes) -> None:
    async def fetch(_url: str) -> bytes:
        return body

    keys = SigningKeys(SETTINGS.openid_url, fetch, StillClock())

    with pytest.raises(Unavailable, match="openid"):
        await keys.key("k1")


async def test_a_cached_token_is_checked_again_for_its_time_and_key() -> None:
    publisher, clock = Publisher(k1=KEY), StillClock()
    validate = validator(publisher, clock)
    header = f"Bearer {token()}"
    assert await validate.claims(header) == await validate.claims(header)

    clock.now += 400
    with pytest.raises(Unauthorized, match="ended"):
        await validate.claims(header)

    clock.now += 25 * 3600
    publisher.keys = {"k1": OTHER_KEY}
    with pytest.raises(Unauthorized, match="Signature"):
        await validate.claims(header)


async def test_the_cache_of_verified_tokens_is_bounded() -> None:
    validate = validator(Publisher(k1=KEY), StillClock())

    for number in range(300):
        await validate.claims(f"Bearer {token(jti=str(number))}")

    assert len(validate._verified) == 256  # pyright: ignore[reportPrivateUsage]  # its bound
