"""Workspaces install the Slack app by themselves, and are relayed, renewed and removed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

from bridge.app.control import running_bridge
from bridge.app.installs.renewal import renew_due
from bridge.model.tenants import TenantId, TenantLimits
from bridge.sandbox.faults import Fault
from bridge.store.packing import unpack
from bridge.store.schema import open_to_read
from tests.e2e.installing import relaying, slack_of
from tests.e2e.local_sandbox import local_sandbox

ACME, GLOBEX = TenantId("slack:T0ACME"), TenantId("slack:T0GLOBEX")


async def test_two_workspaces_install_the_app_and_are_relayed_without_a_restart(
    tmp_path: Path,
) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}) as here,
    ):
        await here.say("T0ACME", "hello from Acme")
        await here.local.until(lambda: "hello from Acme" in here.texts("T0GLOBEX"))
        await here.say("T0GLOBEX", "hello from Globex")
        await here.local.until(lambda: "hello from Globex" in here.texts("T0ACME"))

        assert "Added to Acme on Slack" in here.pages[0]


async def test_tokens_are_renewed_while_messages_flow(tmp_path: Path) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}, rotates=True) as here,
    ):
        before = await here.bridge.store.tenant_secrets(ACME)
        for number in range(3):
            await here.say("T0ACME", f"number {number}")
            if number in (0, 1):
                await renew_due(here.bridge.installs, {})
        await here.local.until(lambda: "number 2" in here.texts("T0GLOBEX"))
        after = await here.bridge.store.tenant_secrets(ACME)

        numbers = [text for text in here.texts("T0GLOBEX") if text.startswith("number")]
        assert numbers == [f"number {number}" for number in range(3)]
        assert not set(before.values()) & set(after.values())


async def test_a_refusal_to_renew_is_shown_and_ends_with_a_second_installation(
    tmp_path: Path,
) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}, rotates=True) as here,
    ):
        local.context.faults.add(Fault(where="slack:oauth.v2.access:-", kind="lose_answer"))
        await renew_due(here.bridge.installs, {})
        await renew_due(here.bridge.installs, {})
        troubled = await here.bridge.store.tenants()
        await here.say("T0ACME", "still works")
        await here.local.until(lambda: "still works" in here.texts("T0GLOBEX"))
        for tenant in troubled:
            if tenant.trouble:
                await here.browser.install_slack(tenant.native_id)

        assert [one.native_id for one in troubled if "invalid_refresh_token" in one.trouble] == [
            "T0ACME"
        ]
        assert not any(tenant.trouble for tenant in await here.bridge.store.tenants())


async def test_a_token_that_never_ends_is_exchanged_for_one_that_does(tmp_path: Path) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={"rotate_tokens": True}) as here,
    ):
        slack_of(local).oauth.app.rotates = True
        await renew_due(here.bridge.installs, {})
        secrets = await here.bridge.store.tenant_secrets(ACME)
        await here.say("T0ACME", "with a token that ends")
        await here.local.until(lambda: "with a token that ends" in here.texts("T0GLOBEX"))

        assert secrets["bot_token"].startswith("xoxe.xoxb-")
        assert secrets["refresh_token"].startswith("xoxe-")


async def test_removing_the_app_ends_the_account_and_installing_it_again_begins_it(
    tmp_path: Path,
) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}) as here,
    ):
        slack_of(local).oauth.remove("T0GLOBEX")
        await here.until_account("slack-t0globex", runs=False)
        ended = await here.bridge.store.tenant(GLOBEX)
        secrets = await here.bridge.store.tenant_secrets(GLOBEX)
        await here.browser.install_slack("T0GLOBEX")
        await here.until_account("slack-t0globex")
        await here.invite_slack("T0GLOBEX")
        await here.local.until(lambda: len(here.bridge.rooms.all[0].members) == 2)
        await here.say("T0ACME", "welcome back")
        await here.local.until(lambda: "welcome back" in here.texts("T0GLOBEX"))

        assert ended is not None
        assert (ended.state, secrets) == ("ended", {})


async def test_a_late_report_of_a_removal_does_not_end_a_second_installation(
    tmp_path: Path,
) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}) as here,
    ):
        body = {"type": "event_callback", "team_id": "T0ACME", "event": {"type": "app_uninstalled"}}
        status = await here.send_signed(body)

        assert status == 200
        assert (await here.bridge.store.tenant(ACME)).state == "active"  # type: ignore[union-attr]


async def test_a_suspended_tenant_is_silent_until_it_is_resumed(tmp_path: Path) -> None:
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}) as here,
    ):
        admin = await asyncio.to_thread(running_bridge, tmp_path / "bridge.sqlite3")
        assert admin
        await asyncio.to_thread(admin.ask, "/admin/tenants", {"suspend": ACME})
        await here.until_account("slack-t0acme", runs=False)
        await here.say("T0ACME", "while suspended")
        await here.browser.install_slack("T0ACME")
        state = (await here.bridge.store.tenant(ACME)).state  # type: ignore[union-attr]
        unseen = "while suspended" not in here.texts("T0GLOBEX")
        rotated = await asyncio.to_thread(admin.ask, "/admin/tenants", {"rotate": ACME})
        await asyncio.to_thread(admin.ask, "/admin/tenants", {"resume": ACME})
        await here.until_account("slack-t0acme")
        await here.local.until(lambda: "while suspended" in here.texts("T0GLOBEX"))

        assert (state, unseen, rotated) == ("suspended", True, {"secrets": 1})


async def test_a_tenant_over_its_limit_waits_and_is_told_once_while_the_other_is_served(
    tmp_path: Path,
) -> None:
    limits = {"messages_per_minute": 2}
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}, limits=limits) as here,
    ):
        for number in range(3):
            await here.say("T0ACME", f"number {number}")
        await here.local.until(lambda: waits_in(here.texts("T0ACME")) == 1)
        await here.say("T0GLOBEX", "not held up")
        await here.local.until(lambda: "not held up" in here.texts("T0ACME"))
        passed = [text for text in here.texts("T0GLOBEX") if text.startswith("number")]
        admin = await asyncio.to_thread(running_bridge, tmp_path / "bridge.sqlite3")
        assert admin
        order = {"limit": ACME, "limits": {"messages_per_minute": 100}}
        await asyncio.to_thread(admin.ask, "/admin/tenants", order)
        await here.local.until(lambda: "number 2" in here.texts("T0GLOBEX"))

        assert len(passed) < 3
        assert waits_in(here.texts("T0ACME")) == 1


def waits_in(texts: list[str]) -> int:
    return sum("nothing is lost" in text for text in texts)


async def test_the_turns_of_a_tenant_do_not_use_up_those_of_another(tmp_path: Path) -> None:
    limits = {"quota": {"day": {"messages": 0}}}
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}, limits=limits, agents=[{"agent": "echo"}]) as here,
    ):
        globex = await here.bridge.store.tenant(GLOBEX)
        assert globex
        await here.bridge.installs.set_limits(globex, TenantLimits(turns_per_day=1))
        assert here.bridge.installs.apply
        await here.bridge.installs.apply(frozenset())
        await here.say("T0ACME", "@echo for Acme")
        await here.local.until(lambda: "your workspace are used up" in str(here.texts("T0ACME")))
        await here.say("T0GLOBEX", "@echo for Globex")
        await here.local.until(lambda: "> @echo for Globex" in str(here.texts("T0ACME")))

        assert "your workspace are used up" not in str(here.texts("T0GLOBEX"))


async def test_an_erased_tenant_leaves_no_token_message_or_person(tmp_path: Path) -> None:
    path = tmp_path / "bridge.sqlite3"
    async with (
        local_sandbox(names=("slack",)) as local,
        relaying(local, tmp_path, slack={}) as here,
    ):
        await here.say("T0ACME", "confidential words of Acme")
        await here.local.until(lambda: "confidential words of Acme" in here.texts("T0GLOBEX"))
        await here.say("T0GLOBEX", "words of Globex")
        await here.local.until(lambda: "words of Globex" in here.texts("T0ACME"))
        people = await here.bridge.store.actors_of(ACME)
        admin = await asyncio.to_thread(running_bridge, path)
        assert admin
        order = {"id": "e1", "by": "ops", "reason": "contract ended"}
        body = {"erase": ACME, "order": order, "dry_run": True}
        counted = await asyncio.to_thread(admin.ask, "/admin/tenants", body)
        still_there = await here.bridge.store.tenant(ACME)
        body["dry_run"] = False
        erased = await asyncio.to_thread(admin.ask, "/admin/tenants", body)
        await here.until_account("slack-t0acme", runs=False)
        await here.say("T0GLOBEX", "after it")

        assert still_there is not None
        assert counted["counts"]["messages"] == erased["counts"]["messages"] == 1
        assert (erased["counts"]["tokens"], erased["counts"]["people"]) == (1, len(people))
        assert slack_of(local).oauth.installation("T0ACME") is None
        assert await here.bridge.store.tenant(ACME) is None
        assert not await here.bridge.store.actors_of(ACME)
        assert await here.bridge.store.actors_of(GLOBEX)
    with closing(open_to_read(path)) as db:
        (bodies,) = db.execute("SELECT group_concat(body) FROM messages").fetchone()
        payloads = [unpack(own) for (own,) in db.execute("SELECT payload FROM payloads")]
    assert "words of Globex" in str(bodies)
    assert "confidential" not in str(bodies) + str(payloads)
    assert "U0ACME" not in str(payloads)
