"""The messaging endpoint: accepted and refused requests, and the order of the checks."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from bridge.errors import StoreFull
from bridge.model import AccountId
from bridge.model.secret_refs import SecretRef
from bridge.ports.installs import Tenancy
from bridge.runtime.clock import SystemClock
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from bridge.testing.inbox import ListInbox
from connectors.teams.activity import BotIdentity
from connectors.teams.receive import MAX_BODY, Receiver
from connectors.teams.references import Reference, References
from connectors.teams.settings import TeamsSettings
from connectors.teams.validate import SigningKeys, TokenValidator
from tests.connectors.doubles import MemoryKeyValues
from tests.connectors.teams.local import Bench, bench
from tests.connectors.teams.payloads import (
    APP_ID,
    BOT,
    CHANNEL,
    SERVICE_URL,
    TENANT,
    activity,
    conversation,
)
from tests.connectors.teams.test_validate import KEY, Publisher, token
from tests.examples import examples

SETTINGS = TeamsSettings(app_id=APP_ID, app_password=SecretRef(env="X"), tenant_id=TENANT)
MANY_TENANTS = SETTINGS.model_copy(update={"tenant_id": None})


class Endpoint:
    """The route with an inbox and a key-value store in memory; posts signed activities."""

    def __init__(self, settings: TeamsSettings = SETTINGS, tenancy: Tenancy | None = None) -> None:
        self.inbox = ListInbox()
        self.key_values = MemoryKeyValues()
        self.references = References(self.key_values)
        self.publisher = Publisher(k1=KEY)
        keys = SigningKeys(settings.openid_url, self.publisher.fetch, SystemClock())
        receiver = Receiver(
            settings,
            BotIdentity(AccountId("teams"), APP_ID, settings.tenant_id),
            self.inbox,
            self.references,
            TokenValidator(settings, keys, SystemClock()),
            lambda _activity: None,
            lambda activity: activity.get("name") == "fileConsent/invoke",
            tenancy=tenancy,
        )
        transport = httpx.ASGITransport(Starlette(routes=list(receiver.routes())))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://bridge")

    async def post(self, body: Any, header: str | None = None) -> httpx.Response:
        now = int(time.time())
        signed = f"Bearer {token(nbf=now, exp=now + 60)}" if header is None else header
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        headers = {"Authorization": signed} if signed else {}
        return await self.client.post("/messages", content=content, headers=headers)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    new_endpoint = Endpoint()
    async with new_endpoint.client:
        yield new_endpoint


async def test_a_signed_activity_is_stored_and_acknowledged(endpoint: Endpoint) -> None:
    answer = await endpoint.post(activity(text="hello"))

    assert (answer.status_code, answer.content) == (201, b"")
    assert [orjson.loads(raw.payload)["text"] for raw in endpoint.inbox.raws] == ["hello"]


async def test_a_repeated_activity_is_acknowledged(endpoint: Endpoint) -> None:
    first, second = [await endpoint.post(activity(text="hello")) for _ in range(2)]

    assert first.status_code == second.status_code == 201
    assert (len(endpoint.inbox.raws), endpoint.inbox.repeats) == (1, 1)


async def test_the_conversation_reference_is_stored(endpoint: Endpoint) -> None:
    await endpoint.post(activity(text="hello"))

    assert await References(endpoint.key_values).get(CHANNEL) == Reference(
        conversation=CHANNEL, tenant=TENANT, service_url=SERVICE_URL, bot=BOT, kind="channel",
        team=CHANNEL,
    )  # fmt: skip


async def test_an_activity_that_cannot_be_stored_is_not_acknowledged(endpoint: Endpoint) -> None:
    endpoint.inbox.fail_with = StoreFull("no room left")

    answer = await endpoint.post(activity(text="hello"))

    assert answer.status_code == 500
    assert endpoint.inbox.raws == []


@pytest.mark.parametrize("header", ["", "Bearer a.b.c", "Basic eDp5"])
async def test_an_unsigned_request_stores_nothing(endpoint: Endpoint, header: str) -> None:
    answer = await endpoint.post(activity(text="hello"), header)

    assert answer.status_code == 401
    assert endpoint.inbox.raws == []
    assert endpoint.key_values.values == {}


async def test_a_token_is_refused_with_another_service_url(endpoint: Endpoint) -> None:
    answer = await endpoint.post(activity(text="hello", serviceUrl="https://evil.example/"))

    assert answer.status_code == 401
    assert endpoint.inbox.raws == []


async def test_another_tenants_activity_is_refused(endpoint: Endpoint) -> None:
    elsewhere = conversation(CHANNEL, "channel", tenantId="7e0a0000-0000-4000-8000-0000000000bb")

    answer = await endpoint.post(activity(text="hello", conversation=elsewhere))

    assert answer.status_code == 401
    assert "not ours" in answer.text


async def test_an_unknown_service_url_is_not_stored() -> None:
    endpoint = Endpoint(SETTINGS.model_copy(update={"service_hosts": ("127.0.0.1",)}))

    async with endpoint.client:
        answer = await endpoint.post(activity(text="hello"))

    assert answer.status_code == 201
    assert len(endpoint.inbox.raws) == 1
    assert endpoint.key_values.values == {}


async def test_an_activity_is_answered_503_when_its_key_cannot_be_fetched(
    endpoint: Endpoint,
) -> None:
    from bridge.errors import Unavailable

    endpoint.publisher.broken = Unavailable("down")

    answer = await endpoint.post(activity(text="hello"))

    assert answer.status_code == 503
    assert endpoint.inbox.raws == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"{}", b'{"type": 7}'])
async def test_a_body_that_is_not_an_activity_is_refused(endpoint: Endpoint, body: bytes) -> None:
    answer = await endpoint.post(body)

    assert answer.status_code in (400, 401)
    assert "message" in answer.json()["error"]
    assert endpoint.inbox.raws == []


async def test_malformed_json_is_a_bad_request(endpoint: Endpoint) -> None:
    assert (await endpoint.post(b"{")).status_code == 400


async def test_a_body_above_the_size_limit_is_refused(endpoint: Endpoint) -> None:
    answer = await endpoint.post(activity(text="x" * MAX_BODY))

    assert answer.status_code == 413
    assert endpoint.inbox.raws == []


async def test_an_unsupported_invoke_is_stored_and_answered_501(endpoint: Endpoint) -> None:
    answer = await endpoint.post(activity("invoke", name="task/fetch", value={"a": 1}))

    assert (answer.status_code, answer.json()) == (501, {"code": "NotSupported"})
    assert len(endpoint.inbox.raws) == 1


async def test_a_file_consent_answer_is_stored_and_accepted(endpoint: Endpoint) -> None:
    upload = {"uploadUrl": "https://drive.example/secret"}
    value = {"action": "accept", "uploadInfo": upload}
    answer = await endpoint.post(activity("invoke", name="fileConsent/invoke", value=value))

    assert answer.status_code == 200
    assert b"secret" not in endpoint.inbox.raws[0].payload


async def test_a_press_is_stored_and_answered_with_a_check_mark(endpoint: Endpoint) -> None:
    action = {"type": "Action.Execute", "verb": "press", "data": {"token": "t"}}
    answer = await endpoint.post(
        activity("invoke", name="adaptiveCard/action", value={"action": action}, replyToId="1")
    )

    assert (answer.status_code, answer.json()["statusCode"]) == (200, 200)
    assert len(endpoint.inbox.raws) == 1


@pytest.mark.parametrize("name", ["signin/verifyState", "adaptiveCard/action", "task/fetch", None])
async def test_no_invoke_makes_the_sdk_fail(endpoint: Endpoint, name: str | None) -> None:
    answer = await endpoint.post(activity("invoke", name=name, value="not an object"))

    assert answer.status_code == 501


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=examples(60))
@given(
    st.sampled_from(["message", "invoke", "conversationUpdate", "event"]),
    st.dictionaries(st.sampled_from(sorted(activity())), _JSON, max_size=3),
)
async def test_a_damaged_activity_is_stored_or_refused(kind: str, damage: dict[str, Any]) -> None:
    endpoint = Endpoint()
    async with endpoint.client:
        answer = await endpoint.post(activity() | damage | {"type": kind})

    assert answer.status_code in (201, 400, 401, 501)
    assert len(endpoint.inbox.raws) == (answer.status_code in (201, 501))


async def test_unsigned_local_activities_are_accepted_when_validation_is_off() -> None:
    endpoint = Endpoint(
        SETTINGS.model_copy(update={"validate_tokens": False, "service_hosts": ("127.0.0.1",)})
    )

    async with endpoint.client:
        answer = await endpoint.post(activity(serviceUrl="http://127.0.0.1:1/", text="hello"), "")

    assert answer.status_code == 201
    assert await endpoint.references.get(CHANNEL) is not None


# --- against the local Teams, which signs its activities ---------------------------------------


@pytest.fixture
async def local() -> AsyncIterator[Bench]:
    async with bench() as running:
        yield running


async def say(local: Bench, text: str) -> None:
    await local.teams.post_as(local.channel.workspace, local.channel.channel, local.person, text)


async def test_a_rotated_signing_key_is_fetched(
    local: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.teams.validate._FETCH_AGAIN_AFTER", 0.0)
    await say(local, "before")
    await local.inbox.until(lambda: len(local.inbox.raws) == 1)

    local.teams.keys.rotate()
    await say(local, "after")
    await local.inbox.until(lambda: len(local.inbox.raws) == 2)

    assert local.teams.outbox.lost == []


async def test_teams_resends_an_event_when_the_keys_were_unavailable(local: Bench) -> None:
    local.context.faults.add(Fault(kind="status", where="teams:keys:", status=500))

    await say(local, "once more")
    await local.inbox.until(lambda: len(local.inbox.raws) == 1)

    assert local.teams.outbox.lost == []


async def test_a_token_signed_with_another_key_is_refused(local: Bench) -> None:
    body = activity(text="forged", serviceUrl=local.teams.service_url("bridge"))
    now = int(time.time())
    forged = token(nbf=now, exp=now + 60, kid=local.teams.keys.kid)

    async with (
        aiohttp.ClientSession() as session,
        session.post(local.url, json=body, headers={"Authorization": f"Bearer {forged}"}) as answer,
    ):
        assert answer.status == 401

    assert local.inbox.raws == []


async def test_health_shows_when_the_last_activity_arrived(local: Bench) -> None:
    await say(local, "hello")
    await local.inbox.until(lambda: len(local.inbox.raws) == 1)
    await local.teams.outbox.idle()

    health = required(local.connector.abilities.health).current()

    assert health.state == "listening"
    assert health.last_event_at is not None
    assert abs(time.time() - health.last_event_at) < 5
