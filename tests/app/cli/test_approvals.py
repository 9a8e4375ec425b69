"""`uacs-bridge approvals` lists the calls that needed an approval, and who decided."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from bridge.app.build import open_store
from bridge.app.settings.file import settings_of
from bridge.model import ActorId, MessageId, RoomId, TurnId
from bridge.model.turn_records import Approval, Decision
from bridge.runtime.clock import SystemClock
from tests.app.running import cli, write

ANN = ActorId("slack:T1:U1")


def approval(own_id: str, call: str) -> Approval:
    return Approval(
        id=own_id, turn=TurnId("t1"), room=RoomId("lobby"), agent="helper",
        tool="calendar__remove", call=call, arguments='{"title": "Lunch"}', reason="",
        trigger=MessageId("m1"), asker=ANN, approvers=("asker",), quorum=1, created=1.7e9,
        expires=1.7e9 + 600,
    )  # fmt: skip


def test_requests_and_decisions_are_listed(tmp_path: Path) -> None:
    settings = {"store": {"path": str(tmp_path / "b.sqlite3")}}
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))

    async def fill() -> None:
        store = await open_store(settings_of(settings), SystemClock())
        await store.ask_approval(approval("a1", "c1"))
        await store.ask_approval(approval("a2", "c2"))
        await store.decide("a1", Decision(ANN, True, 1.7e9 + 5, "slack:T1:C1"), [ANN])
        await store.close()

    asyncio.run(fill())

    table = cli("approvals", "-c", str(config))
    still_open = cli("approvals", "--open", "--json", "-c", str(config))

    assert table.exit_code == 0, table.output
    assert "calendar__remove" in table.output
    assert "allowed by slack:T1:U1" in table.output
    (listed,) = json.loads(still_open.stdout)
    assert (listed["id"], listed["state"], listed["arguments"]) == (
        "a2",
        "open",
        '{"title": "Lunch"}',
    )
