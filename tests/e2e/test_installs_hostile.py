"""Requests of others cannot install, end or use the installation of a workspace."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import structlog

from bridge.model.tenants import TenantId
from tests.e2e.installing import Browser, Installing, installing, relaying, slack_of
from tests.e2e.local_sandbox import local_sandbox

ACME = TenantId("slack:T0ACME")


@asynccontextmanager
async def open_to(tmp_path: Path, allow: object = "anyone") -> AsyncGenerator[Installing]:
    async with (
        local_sandbox(names=("slack",)) as local,
        installing(local, tmp_path, slack={}, allow=allow) as here,
    ):
        yield here


async def test_another_browser_cannot_finish_an_installation(tmp_path: Path) -> None:
    async with open_to(tmp_path) as here:
        callback = await here.browser.allow(await here.browser.begin("slack"), "T0ACME")
        victim = Browser(here.browser.url)
        without_cookie = await victim.get(callback)
        await victim.begin("slack")
        with_own_cookie = await victim.get(callback)
        await victim.http.aclose()

        assert [without_cookie.status_code, with_own_cookie.status_code] == [403, 403]
        assert not await here.bridge.store.tenants()


@pytest.mark.parametrize("state", ["", "x", "9999999999." + "A" * 22 + "." + "0" * 64])
async def test_a_forged_state_is_refused(tmp_path: Path, state: str) -> None:
    async with open_to(tmp_path) as here:
        callback = await here.browser.allow(await here.browser.begin("slack"), "T0ACME")
        code = parse_qs(urlsplit(callback).query)["code"][0]
        answer = await here.browser.get(f"/oauth/slack/callback?code={code}&state={state}")

        assert answer.status_code == 403
        assert not await here.bridge.store.tenants()


async def test_a_callback_works_once_and_a_code_works_once(tmp_path: Path) -> None:
    async with open_to(tmp_path) as here:
        callback = await here.browser.allow(await here.browser.begin("slack"), "T0ACME")
        first, second = await here.browser.get(callback), await here.browser.get(callback)
        code = parse_qs(urlsplit(callback).query)["code"][0]
        consent = await here.browser.begin("slack")
        state = parse_qs(urlsplit(consent).query)["state"][0]
        replayed = await here.browser.get(f"/oauth/slack/callback?code={code}&state={state}")

        assert [first.status_code, second.status_code, replayed.status_code] == [303, 403, 400]
        assert "used already" in second.text
        assert "invalid_code" in replayed.text


async def test_a_person_may_decline(tmp_path: Path) -> None:
    async with open_to(tmp_path) as here:
        consent = await here.browser.begin("slack")
        state = parse_qs(urlsplit(consent).query)["state"][0]
        answer = await here.browser.get(f"/oauth/slack/callback?error=access_denied&state={state}")

        assert answer.status_code == 400
        assert "Nothing was changed" in answer.text


async def test_another_site_cannot_send_the_form(tmp_path: Path) -> None:
    async with open_to(tmp_path) as here:
        address = f"{here.browser.url}/oauth/slack/begin"
        by_metadata = await here.browser.http.post(
            address, headers={"Sec-Fetch-Site": "cross-site"}
        )
        by_origin = await here.browser.http.post(
            address, headers={"Origin": "https://evil.example"}
        )

        assert [by_metadata.status_code, by_origin.status_code] == [403, 403]


async def test_a_workspace_that_is_not_allowed_loses_the_app_again(tmp_path: Path) -> None:
    async with open_to(tmp_path, allow=["T0GLOBEX"]) as here:
        callback = await here.browser.allow(await here.browser.begin("slack"), "T0ACME")
        answer = await here.browser.get(callback)

        assert answer.status_code == 403
        assert slack_of(here.local).oauth.installation("T0ACME") is None
        assert not await here.bridge.store.tenants()


async def test_an_installation_waits_for_approval(tmp_path: Path) -> None:
    async with open_to(tmp_path, allow="approval") as here:
        page = await here.browser.install_slack("T0ACME")
        tenant = await here.bridge.store.tenant(ACME)

        assert "Waiting for approval: Acme on Slack" in page
        assert tenant is not None
        assert tenant.state == "waiting"
        assert not here.bridge.connectors


async def test_events_need_the_signature_and_a_tenant_of_their_own(tmp_path: Path) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}) as here,
    ):
        message = {"type": "message", "channel": "C0ACME001", "user": "U0ACME01", "text": "forged"}
        event = {"type": "event_callback", "event": {**message, "ts": "1700000000.000100"}}
        unsigned = await here.send_signed({**event, "team_id": "T0ACME"}, "another secret")
        foreign = await here.send_signed({**event, "team_id": "T0STRANGER"})
        kept = await here.bridge.store.status()
        past_the_app = await here.browser.http.post(f"{here.browser.url}/slack-t0acme/events")

        assert [unsigned, foreign, past_the_app.status_code] == [401, 200, 404]
        assert "forged" not in str(kept)
        assert "forged" not in here.texts("T0GLOBEX")


async def test_no_page_header_address_or_log_has_a_token(tmp_path: Path) -> None:
    written = io.StringIO()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(written))
    async with open_to(tmp_path) as here:
        browser = here.browser
        begun = await browser.get("/oauth/slack/install")
        consent = await browser.begin("slack")
        callback = await browser.get(await browser.allow(consent, "T0ACME"))
        done = await browser.get("/oauth/slack/done")
        await here.until_account("slack-t0acme")
        secrets = await here.bridge.store.tenant_secrets(ACME)
        seen = [consent, written.getvalue()]
        for answer in (begun, callback, done):
            seen += [answer.text, str(answer.headers)]

        assert secrets["bot_token"]
        for secret in (*secrets.values(), slack_of(here.local).oauth.app.client_secret):
            assert not any(secret in text for text in seen)
        for answer in (begun, callback, done):
            assert answer.headers["cache-control"] == "no-store"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert re.search(r"HttpOnly.*SameSite=lax", callback.headers["set-cookie"])
