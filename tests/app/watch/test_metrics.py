"""Every metric is documented, and moves at /metrics when the thing happens that it counts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import cast

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bridge.app.build import Bridge, build
from bridge.app.settings.file import settings_of
from bridge.app.watch.event_loop import measure_lag
from bridge.app.web.server import web_app
from bridge.model import ActorId, RoomId
from bridge.ports.abilities.health import Health
from bridge.ports.connector import Connector
from bridge.router.inbound.refusal_reasons import REASONS, refusal_reason
from bridge.router.turns.quotas import Limit, Prices, Quota, Quotas, QuotaSettings
from bridge.testing.store_contract import ACME, FAR, admit, new_message, post, raw
from tests.app.watch.metrics_page import PAGE, described, page
from tests.app.web.test_server import ReportsHealth
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.waiting import LONGEST_WAIT, pass_time

ROUTER = Path(__file__).parents[3] / "bridge" / "router"


class Scrape:
    """What one request to /metrics returns; a series that is not there is 0."""

    def __init__(self, text: str) -> None:
        families = text_string_to_metric_families(text)
        samples = [sample for family in families for sample in family.samples]
        self._values = {(s.name, frozenset(s.labels.items())): s.value for s in samples}
        self.names = {sample.name for sample in samples}

    def of(self, name: str, **labels: str) -> float:
        return self._values.get((name, frozenset(labels.items())), 0.0)


async def scrape(bridge: Bridge) -> Scrape:
    """Ask an app that has nothing in its cache."""
    transport = httpx.ASGITransport(web_app(bridge))
    async with httpx.AsyncClient(transport=transport, base_url="http://bridge") as http:
        return Scrape((await http.get("/metrics")).text)


@pytest.fixture
async def idle(tmp_path: Path) -> AsyncIterator[Bridge]:
    """A bridge with one account that only has a health; its router does not run."""
    bridge = await build(settings_of({"store": {"path": str(tmp_path / "b.sqlite3")}}))
    bridge.connectors[ACME] = cast("Connector", ReportsHealth(Health("connected")))
    yield bridge
    bridge.connectors.clear()
    await bridge.close()


def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), (
        "write it anew: python -m tests.app.watch.metrics_page"
    )


def test_names_and_labels_follow_the_conventions_of_prometheus() -> None:
    for metric in described():
        assert re.fullmatch(r"bridge_[a-z]+(_[a-z]+)*", metric.name)
        assert metric.name.endswith("_total") == (metric.type == "counter")
        assert metric.text
        assert set(metric.labels) <= {
            "account", "agent", "kind", "outcome", "owner", "reason", "server", "state",
        }  # fmt: skip


async def test_commits_and_the_units_in_them_are_measured(idle: Bridge) -> None:
    before = await scrape(idle)

    await asyncio.gather(*(idle.store.accept(raw(number), advance=False) for number in range(50)))

    after = await scrape(idle)
    commits = grown("bridge_store_commit_seconds_count", before, after)
    assert 1 <= commits < 50
    assert grown("bridge_store_commit_seconds_sum", before, after) > 0
    assert grown("bridge_store_commit_units_count", before, after) == commits
    assert grown("bridge_store_commit_units_sum", before, after) == 50


async def test_what_waits_is_counted_by_account(idle: Bridge) -> None:
    new = new_message("m1")
    for number in range(3):
        await idle.store.accept(raw(number), advance=False)
    await admit(idle.store, new, post("p1", new), post("p2", new), post("p3", new, FAR), row=1)

    now = await scrape(idle)

    assert now.of("bridge_account_waiting_events", account=ACME) == 2
    assert now.of("bridge_account_waiting_operations", account=ACME) == 3
    assert now.of("bridge_lanes_waiting", account=ACME) == 2
    assert now.of("bridge_lane_oldest_seconds", account=ACME) >= 0


async def test_the_store_and_its_files_have_sizes(idle: Bridge) -> None:
    async def bytes_of_a_file() -> AsyncIterator[bytes]:
        yield b"x" * 5000

    before = await scrape(idle)
    await idle.files.blobs.put(bytes_of_a_file(), limit=10_000)
    await idle.store.accept(raw(1, payload=Random(1).randbytes(200_000)), advance=False)

    after = await scrape(idle)

    assert grown("bridge_files", before, after) == 1
    assert grown("bridge_files_bytes", before, after) == 5000
    assert grown("bridge_store_log_bytes", before, after) >= 200_000
    assert grown("bridge_store_database_bytes", before, after) >= 150_000
    assert after.of("bridge_store_disk_available_bytes") > 1_000_000
    assert "bridge_store_free_bytes" in after.names


async def test_counts_are_read_at_most_every_ten_seconds(idle: Bridge) -> None:
    transport = httpx.ASGITransport(web_app(idle))
    async with httpx.AsyncClient(transport=transport, base_url="http://bridge") as http:
        first = Scrape((await http.get("/metrics")).text)
        await idle.store.accept(raw(1), advance=False)
        second = Scrape((await http.get("/metrics")).text)

    name, labels = "bridge_account_waiting_events", {"account": ACME}
    assert (first.of(name, **labels), second.of(name, **labels)) == (0, 0)
    assert (await scrape(idle)).of(name, **labels) == 1


async def test_a_loop_that_is_late_is_measured(idle: Bridge) -> None:
    name = "bridge_event_loop_lag_seconds"
    before = await scrape(idle)
    measuring = asyncio.create_task(measure_lag(every=100.0))
    await asyncio.sleep(0)

    pass_time(103.0)  # as if something had held the loop for 3 s

    async with asyncio.timeout(LONGEST_WAIT):
        while not grown(f"{name}_count", before, after := await scrape(idle)):  # noqa: ASYNC110
            await asyncio.sleep(0)
    measuring.cancel()
    assert grown(f"{name}_sum", before, after) == pytest.approx(3.0, abs=0.9)


async def test_tokens_money_and_used_up_quotas_are_counted_by_agent(idle: Bridge) -> None:
    room, prices = RoomId("general"), {"counted": Prices(input=2.0, output=10.0)}
    quotas = Quotas(
        idle.store, idle.clock,
        QuotaSettings(agents={"counted": Quota(hour=Limit(tokens=1000))}, prices=prices),
    )  # fmt: skip
    before = await scrape(idle)

    usage = {"input_tokens": 500_000, "output_tokens": 100_000}
    asker = ActorId("slack:T01:U01")
    await quotas.count_usage(room, "counted", asker, asker, usage)
    refusal = await quotas.refuses(room, "counted", asker, asker)

    after = await scrape(idle)
    tokens = "bridge_agent_tokens_total"
    assert grown(tokens, before, after, agent="counted", kind="input") == 500_000
    assert grown(tokens, before, after, agent="counted", kind="output") == 100_000
    assert grown("bridge_agent_money_total", before, after, agent="counted") == 2.0
    assert refusal
    labels = {"agent": "counted", "owner": "agent"}
    assert grown("bridge_agent_quota_refusals_total", before, after, **labels) == 1


async def test_refusals_answers_and_usage_are_measured_while_messages_are_carried(
    tmp_path: Path,
) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "b.sqlite3", channels=("general",))
        settings["rooms"]["general"] |= {
            "exclude": [{"matching": "secret"}],
            "agents": [{"agent": "echo", "listen": "always"}],
        }
        async with running(local, settings) as (bridge, _):
            before = await scrape(bridge)
            await local.say("slack", "general", "this is secret")
            await local.say("slack", "general", "this is not")

            def answered() -> bool:
                standing = local.standing("discord", "general")
                return any("my answer is shown on" in message.text for message in standing)

            await local.until(answered)
            await until_counted(bridge, "bridge_turns_total", before, agent="echo", state="done")
            after = await scrape(bridge)

    refused = {"account": "slack", "reason": "excluded"}
    assert grown("bridge_events_refused_total", before, after, **refused) == 1
    for name in ("bridge_agent_first_output_seconds", "bridge_agent_turn_seconds"):
        assert grown(f"{name}_count", before, after, agent="echo") == 1
    first, whole = (
        grown(f"bridge_agent_{name}_seconds_sum", before, after, agent="echo")
        for name in ("first_output", "turn")
    )
    assert 0 <= first < whole
    assert not any("secret" in str(key) for key in vars(after)["_values"])


async def until_counted(bridge: Bridge, name: str, before: Scrape, **labels: str) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        while not grown(name, before, await scrape(bridge), **labels):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def test_every_reason_of_a_refusal_has_a_word_and_no_word_is_without_its_text() -> None:
    code = " ".join(path.read_text("utf-8") for path in sorted(ROUTER.rglob("*.py")))
    texts = code.replace((ROUTER / "inbound" / "refusal_reasons.py").read_text("utf-8"), "")

    assert [text for text in REASONS if text not in texts] == []
    assert refusal_reason("not admitted: bots said more than 9 things in a minute") == "flood"
    assert refusal_reason("not admitted: of a new kind") == "other"
    assert refusal_reason("routed") is None


def grown(name: str, before: Scrape, after: Scrape, **labels: str) -> float:
    return after.of(name, **labels) - before.of(name, **labels)
