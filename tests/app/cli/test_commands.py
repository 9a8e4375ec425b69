"""Commands for a bridge that runs, and for one that does not."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from click.testing import Result

from bridge.app.build import Bridge
from bridge.app.settings.keys import key_for
from bridge.model import ActorId, OperationId
from bridge.runtime.clock import SystemClock
from bridge.sandbox.faults import Fault
from bridge.store.sqlite import open_sqlite
from bridge.testing import store_contract
from bridge.uacs import read_conversation
from tests.app.running import cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running


@dataclass
class CliRig:
    """A running bridge with two messages, and its configuration file."""

    local: Sandbox
    bridge: Bridge
    url: str
    config: Path
    message_ts: str

    async def cli(self, *args: str, stdin: str | None = None) -> Result:
        return await asyncio.to_thread(cli, *args, "-c", str(self.config), stdin=stdin)

    async def json(self, *args: str) -> Any:
        result = await self.cli(*args)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncGenerator[CliRig]:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])
        config = write(tmp_path / "bridge.yaml", json.dumps(settings))
        async with running(local, settings) as (bridge, url):
            message_ts = await local.say("slack", "general", "hello there")
            await local.until(lambda: len(local.standing("discord", "general")) == 1)
            await bridge.router.settled()
            yield CliRig(local, bridge, url, config, message_ts)


async def test_status_shows_accounts_queues_and_counts(rig: CliRig) -> None:
    found = await rig.json("status", "--json")

    assert found["running"] == {"pid": os.getpid(), "url": rig.url}
    assert {n: a["state"] for n, a in found["accounts"].items()} == {
        "slack": "connected", "discord": "connected"
    }  # fmt: skip
    assert (found["stalled"], found["messages"], found["outbox"]) == ([], 1, {"done": 1})
    text = (await rig.cli("status")).stdout
    assert "running, pid" in text
    assert "slack    slack     connected" in text


async def test_rooms_lists_members_agents_and_counts(rig: CliRig) -> None:
    found = await rig.json("rooms", "--json")

    assert "  1 message, conversation " in (await rig.cli("rooms")).stdout
    assert list(found) == ["general"]
    assert (found["general"]["messages"], len(found["general"]["members"])) == (1, 2)
    (membership,) = found["general"]["agents"]
    assert (membership["agent"], membership["listen"], membership["busy"]) == (
        "echo",
        "mentions",
        "queue",
    )
    output = (await rig.cli("rooms")).stdout
    assert "agent @echo, listens to mentions" in output
    assert output.count("(#general)") == 2  # configured by their ids, called by their names


async def test_explain_accepts_ids_links_and_texts_of_a_message(rig: CliRig) -> None:
    workspace, channel = rig.local.place("slack", "general")
    copy = rig.local.standing("discord", "general")[0].id
    guild, there = rig.local.place("discord", "general")
    message = f"slack:{workspace}:{channel}:{rig.message_ts}"
    in_link = rig.message_ts.replace(".", "")

    for pasted in (
        message,
        rig.message_ts,
        f"{channel}:{rig.message_ts}",
        f"https://acme.slack.com/archives/{channel}/p{in_link}?thread_ts=1.2",
        f"https://discord.com/channels/{guild}/{there}/{copy}",
        f"<https://discord.com/channels/{guild}/{there}/{copy}>",
        f"{there}-{copy}",  # the id that Discord copies while Shift is held
        in_link,
    ):
        assert (await rig.json("explain", pasted, "--json"))["message"]["id"] == message, pasted


async def test_explain_shows_every_step(rig: CliRig) -> None:
    way = await rig.json("explain", rig.message_ts, "--json")

    assert list(way) == ["message", "receive", "inbox", "decode", "stages", "outbox", "lane",
                         "encode", "send", "receipt"]  # fmt: skip
    assert way["inbox"]["payload"]["event"]["ts"] == rig.message_ts
    assert [event["type"] for event in way["decode"]] == ["message_posted"]
    assert way["stages"]["outcome"] == "routed"
    assert [t["sequence"] for t in way["stages"]["timelines"]] == [1, 1]
    assert way["receipt"][0]["native_ids"] == [rig.local.standing("discord", "general")[0].id]
    text = (await rig.cli("explain", rig.message_ts)).stdout
    words = [line for line in text.splitlines() if line[:1].isdigit()]
    assert [line.split()[1] for line in words] == [
        "receive", "inbox", "decode", "stages", "outbox", "lane", "encode", "send", "receipt"
    ]  # fmt: skip


async def test_explain_draws_a_sequence_diagram(rig: CliRig) -> None:
    drawn = (await rig.cli("explain", "--sequence", "general")).stdout.splitlines()

    assert drawn[:2] == ["sequenceDiagram", "    participant B as bridge"]
    names = [line.split(" as ")[1] for line in drawn[2:4]]
    assert names == ["slack #35;general", "discord #35;general"]
    assert drawn[4].startswith("    C1->>B: ")
    assert drawn[4].endswith(": hello there")
    assert drawn[5] == "    B->>C2: hello there"


async def test_explain_requires_either_a_message_or_a_known_room(rig: CliRig) -> None:
    both = await rig.cli("explain", rig.message_ts, "--sequence", "general")
    assert "either a MESSAGE, or a room" in both.output
    for more in (["--json"], ["--newest", "0"]):
        assert (await rig.cli("explain", "--sequence", "general", *more)).exit_code == 2
    other = await rig.cli("explain", "--sequence", "nowhere")
    assert "no" in other.output
    assert "general" in other.output


async def test_explain_of_an_unknown_message_says_where_to_look(rig: CliRig) -> None:
    result = await rig.cli("explain", "slack:T0:C0:1.2")

    assert (result.exit_code, "uacs-bridge status" in result.stderr) == (1, True)


async def test_archive_show_prints_a_valid_conversation(rig: CliRig) -> None:
    workspace, channel = rig.local.place("slack", "general")

    room = read_conversation((await rig.cli("archive", "show", "general")).stdout.encode())
    by_id = await rig.cli("archive", "show", room.conversation_id, "--newest", "1")
    own = await rig.cli("archive", "show", "--channel", f"slack:{workspace}:{channel}")

    assert [m.message_id for m in room.messages] == [
        f"slack:{workspace}:{channel}:{rig.message_ts}"
    ]
    assert read_conversation(by_id.stdout.encode()) == room
    assert read_conversation(own.stdout.encode()).messages == room.messages


async def test_archive_show_prints_what_a_member_may_see(rig: CliRig) -> None:
    async def message_count(*args: str) -> int:
        return len((await rig.json("archive", "show", "general", *args))["messages"])

    assert await message_count("--member", "agent:echo", "--reader", "slack:T1:U1") == 1
    assert await message_count("--member", "agent:nobody") == 0


async def test_archive_show_of_a_missing_room_is_an_error(rig: CliRig) -> None:
    for args, code, expected in (
        (["nowhere"], 1, "rooms with messages: general"),
        (["--channel", "slack:T0:C9"], 1, "no conversation"),
        (["--channel", "general"], 2, "platform:workspace:channel"),
        ([], 2, "name a room"),
        (["--channel", "slack:T0:C9", "--member", "agent:echo"], 2, "--member is of a room"),
        (["general", "--newest", "0"], 2, "newest"),
    ):
        result = await rig.cli("archive", "show", *args)
        assert (result.exit_code, expected in result.stderr) == (code, True), args


async def _dead_letter(rig: CliRig) -> str:
    """A post to Discord that was refused."""
    fault = Fault(kind="status", where="discord:webhook.execute:*", status=400, times=1)
    rig.local.context.faults.add(fault)
    await rig.local.say("slack", "general", "this one is refused")
    await rig.local.until(lambda: bool(rig.local.standing("slack", "general")[1:]))
    for _ in range(500):
        if letters := await rig.bridge.store.dead_letters():
            return letters[0].operation.id
        await asyncio.sleep(0.01)
    pytest.fail(f"nothing was refused: {await rig.bridge.store.status()}")


async def test_dead_letters_are_listed_shown_and_replayed_while_the_bridge_runs(
    rig: CliRig,
) -> None:
    operation = await _dead_letter(rig)

    listed = await rig.json("dead-letters", "list", "--json")
    letter = await rig.json("dead-letters", "show", operation[:6], "--json")
    replayed = await rig.cli("dead-letters", "replay", operation[:6])
    await rig.local.until(lambda: len(rig.local.standing("discord", "general")) == 2)

    assert [entry["operation"] for entry in listed] == [operation]
    assert (letter["excerpt"], letter["state"]) == ("this one is refused", "dead")
    assert replayed.stdout == "1 set waiting again, and sent now\n"
    assert "this one is refused" in rig.local.standing("discord", "general")[1].text
    assert (await rig.cli("dead-letters", "replay", "--all")).stdout == (
        "There is nothing to replay\n"
    )


async def _held_up(rig: CliRig, text: str) -> str:
    """A post to Discord that fails for as long as the fault lasts."""
    fault = Fault(kind="status", where="discord:webhook.execute:*", status=500, times=None)
    rig.local.context.faults.add(fault)
    await rig.local.say("slack", "general", text)
    for _ in range(1000):
        if letters := await rig.bridge.store.held_up():
            return letters[0].operation.id
        await asyncio.sleep(0.01)
    pytest.fail(f"nothing is held up: {await rig.bridge.store.status()}")


async def test_held_up_operations_are_listed_retried_and_skipped_while_the_bridge_runs(
    rig: CliRig,
) -> None:
    operation = await _held_up(rig, "this one fails")
    standing = len(rig.local.standing("discord", "general"))

    (listed,) = await rig.json("dead-letters", "list", "--json")
    skipped = await rig.cli("dead-letters", "skip", operation[:6])

    assert (listed["operation"], listed["excerpt"]) == (operation, "this one fails")
    assert listed["state"] in ("waiting", "sending")
    assert "500" in listed["error"]
    assert skipped.stdout == "1 operation skipped\n"
    (letter,) = await rig.bridge.store.dead_letters()
    assert letter.error.startswith("skipped by an operator: ")
    again = await rig.cli("dead-letters", "skip", operation)
    assert (again.exit_code, "is dead already" in again.stderr) == (1, True)

    rig.local.context.faults.clear()
    retried = await rig.cli("dead-letters", "retry", operation)
    await rig.local.until(lambda: len(rig.local.standing("discord", "general")) == standing + 1)
    assert retried.stdout == "1 operation tried now\n"


async def test_a_waiting_operation_can_be_tried_now(rig: CliRig) -> None:
    operation = await _held_up(rig, "this one waits")
    standing = len(rig.local.standing("discord", "general"))

    retried = await rig.cli("dead-letters", "retry", operation[:6])
    rig.local.context.faults.clear()
    await rig.local.until(lambda: len(rig.local.standing("discord", "general")) == standing + 1)

    assert retried.stdout == "1 operation tried now\n"
    assert await rig.bridge.store.dead_letters() == []


async def test_people_are_banned_while_the_bridge_runs(rig: CliRig) -> None:
    workspace, _ = rig.local.place("slack", "general")
    actor_id = f"slack:{workspace}:{rig.local.person('slack', workspace)}"
    standing = len(rig.local.standing("discord", "general"))

    result = await rig.cli("people", "ban", actor_id)
    assert result.stdout == f"{actor_id} is banned from all rooms\n"
    (barred,) = rig.bridge.router.parts.rooms.bans.bans()
    assert (barred.actor, barred.reason, barred.room) == (actor_id, "banned", None)
    await rig.local.say("slack", "general", "unheard")
    await rig.local.say("slack", "general", "of another", person=1)
    await rig.local.until(lambda: len(rig.local.standing("discord", "general")) == standing + 1)
    assert (
        "were not before"
        in (await rig.cli("people", "unban", actor_id, "--room", "general")).stdout
    )
    result = await rig.cli("people", "unban", actor_id)
    assert result.stdout == f"{actor_id} is not banned from all rooms\n"
    await rig.local.say("slack", "general", "heard")
    await rig.local.until(lambda: len(rig.local.standing("discord", "general")) == standing + 2)
    found = [entry.text for entry in rig.local.standing("discord", "general")[standing:]]
    assert found == ["of another", "heard"]

    await rig.cli("people", "ban", actor_id, "--room", "general")
    assert [entry.room for entry in rig.bridge.router.parts.rooms.bans.bans()] == ["general"]
    await rig.cli("people", "unban", actor_id, "--room", "general")
    wrong = await rig.cli("people", "ban", actor_id, "--room", "nowhere")
    assert (wrong.exit_code, "There is no room 'nowhere'" in wrong.stderr) == (2, True)


async def test_people_are_linked_while_the_bridge_runs(rig: CliRig) -> None:
    workspace, _ = rig.local.place("slack", "general")
    guild, _ = rig.local.place("discord", "general")
    actor_id = f"slack:{workspace}:{rig.local.person('slack', workspace)}"
    other = f"discord:{guild}:{rig.local.person('discord', guild)}"
    author = (await rig.bridge.store.person(ActorId(actor_id)) or pytest.fail("nobody")).name

    assert (await rig.json("people", "list", "--json")) == []
    linked = await rig.cli("people", "link", f"slack:{author}", other)
    assert linked.stdout == f"{actor_id} and {other} are one person\n"
    accounts = await rig.json("people", "show", author, "--json")
    assert [(linked_account["account"], linked_account["how"]) for linked_account in accounts] == [
        (other, "command"), (actor_id, "command"),
    ]  # fmt: skip
    assert (
        await rig.bridge.router.parts.rooms.linking.person_of(ActorId(other))
        == accounts[0]["person"]
    )
    assert actor_id in (await rig.cli("people", "list")).stdout

    assert "no other account\n" in (await rig.cli("people", "unlink", actor_id)).stdout
    assert "it was not before" in (await rig.cli("people", "unlink", actor_id)).stdout
    assert await rig.bridge.router.parts.rooms.linking.person_of(ActorId(other)) is None
    for args, expected in (
        (("link", actor_id, actor_id), "are one account"),
        (("link", "Nobody", other), "Nobody called 'Nobody' is known"),
        (("show", "teams:x"), "Nobody called 'teams:x' is known"),
    ):
        result = await rig.cli("people", *args)
        assert (result.exit_code, expected in result.stderr) == (1, True)


async def test_a_missing_dead_letter_is_an_error(rig: CliRig) -> None:
    for args in (["show", "x"], ["replay", "x"], ["retry", "x"], ["skip", "x"]):
        result = await rig.cli("dead-letters", *args)
        assert (result.exit_code, "There is no operation 'x' here" in result.stderr) == (1, True)
    assert (await rig.cli("dead-letters", "replay")).exit_code == 2


async def test_a_secret_set_while_the_bridge_runs_reaches_it(rig: CliRig) -> None:
    result = await rig.cli("secrets", "set", "slack-bot", stdin="xoxb-new\n")

    assert (result.exit_code, "xoxb" in result.output) == (0, False)
    assert await rig.bridge.store.credential("slack-bot") == "xoxb-new"
    assert (await rig.cli("secrets", "list")).stdout == "slack-bot\n"


async def test_a_backup_is_taken_while_the_bridge_runs_and_restore_waits_for_its_end(
    rig: CliRig, tmp_path: Path
) -> None:
    target = str(tmp_path / "copy.sqlite3")

    assert (await rig.cli("db", "backup", target)).exit_code == 0
    again = await rig.cli("db", "backup", target)
    refused = await rig.cli("db", "restore", target)

    assert (again.exit_code, "exists already" in again.stderr) == (1, True)
    assert (refused.exit_code, "in use by another process" in refused.stderr) == (1, True)


# --- without a running bridge -------------------------------------------------------------------


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    return write(tmp_path / "bridge.yaml", "store: {path: bridge.sqlite3}\n")


def test_before_the_first_start_commands_say_that_there_is_no_store(alone: Path) -> None:
    for args in (["status"], ["archive", "show", "x"], ["explain", "x"], ["dead-letters", "list"],
                 ["db", "migrate"], ["secrets", "list"]):  # fmt: skip
        result = cli(*args, "-c", str(alone))
        assert (result.exit_code, "There is no store" in result.stderr) == (1, True), args
    assert cli("rooms", "-c", str(alone)).exit_code == 0


def test_secrets_backup_restore_and_status_work_while_nothing_runs(alone: Path) -> None:
    def run(*args: str, stdin: str | None = None) -> str:
        result = cli(*args, "-c", str(alone), stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    backup = str(alone.with_name("backup.sqlite3"))
    run("secrets", "set", "one", stdin="1")
    run("db", "backup", backup)
    run("secrets", "set", "two", stdin="2")

    assert run("secrets", "list") == "one\ntwo\n"
    assert "The old store is now" in run("db", "restore", backup)
    assert run("secrets", "list") == "one\n"
    assert "nothing to do" in run("db", "migrate")
    assert "not running" in run("status")
    assert run("dead-letters", "list").startswith("No dead letters. ")
    assert run("dead-letters", "retry-events").startswith("0 events set waiting again")


async def test_held_up_operations_are_skipped_and_retried_while_nothing_runs(alone: Path) -> None:
    async def run(*args: str) -> str:
        result = await asyncio.to_thread(cli, "dead-letters", *args, "-c", str(alone))
        assert result.exit_code == 0, result.output
        return result.stdout

    path = alone.with_name("bridge.sqlite3")
    store = await open_sqlite(path, clock=SystemClock(), key=None)
    for number in (1, 2):
        message, own_id = store_contract.new_message(f"m{number}"), OperationId(f"p{number}")
        await store_contract.admit(store, message, store_contract.post(own_id, message))
        await store.begin(own_id)
        await store.postpone(own_id, time.time() + 3600, "HTTP 503")
    await store.close()

    assert (await run("list")).count("waiting") == 2
    assert await run("skip", "p1") == "1 operation skipped\n"
    assert await run("retry", "p2", "p1") == "2 operations tried at the next start\n"

    store = await open_sqlite(path, clock=SystemClock(), key=None)
    try:
        head = await store.head(store_contract.AWAY.lane)
        assert head is not None
        assert (head.delivery.operation.id, head.due, head.attempts) == ("p2", 0.0, 1)
        behind = await store.head(
            store_contract.AWAY.lane, besides=[head.delivery.operation.message]
        )
        assert behind is not None
        assert (behind.delivery.operation.id, behind.attempts) == ("p1", 0)
    finally:
        await store.close()


@pytest.mark.parametrize(("name", "value"), [("bad name", "x"), ("", "x"), ("ok", " \n")])
def test_a_secret_needs_a_name_and_a_value(alone: Path, name: str, value: str) -> None:
    assert cli("secrets", "set", name, "-c", str(alone), stdin=value).exit_code == 2


def test_schema_prints_and_writes_the_schemas_of_the_docs(tmp_path: Path) -> None:
    docs = (Path(__file__).parents[3] / "docs" / "uacs.schema.json").read_text()

    assert json.loads(cli("schema").stdout) == json.loads(docs)
    cli("schema", "--write", str(tmp_path / "s.json"))
    assert (tmp_path / "s.json").read_text() == docs


async def test_archive_show_between_two_people_prints_only_their_direct_messages(
    rig: CliRig,
) -> None:
    """There are no messages yet; and `--between` permits no other option."""
    ann, bob = ActorId("slack:T1:U1"), ActorId("discord:G1:2")

    nothing = await rig.cli("archive", "show", "--between", ann, bob)
    mixed = await rig.cli("archive", "show", "general", "--between", ann, bob)

    assert (nothing.exit_code, "no conversation" in nothing.stderr) == (1, True)
    assert (mixed.exit_code, "permits no other option" in mixed.stderr) == (2, True)


def test_a_lost_store_is_replaced_only_by_command(tmp_path: Path) -> None:
    text = "store: {path: data/bridge.sqlite3}\nweb: {port: 0}\n"
    config = write(tmp_path / "bridge.yaml", text)
    path = tmp_path / "data" / "bridge.sqlite3"
    made = cli("db", "new", "-c", str(config))
    again = cli("db", "new", "-c", str(config))
    path.unlink()
    key_for(path)

    results = [
        cli(*entry, "-c", str(config)) for entry in (("status",), ("secrets", "list"), ("check",))
    ]
    anew = cli("db", "new", "-c", str(config))

    assert (made.exit_code, again.exit_code, anew.exit_code) == (0, 1, 0)
    assert "nothing was changed" in again.stderr
    assert all("is gone, but" in entry.stderr + entry.stdout for entry in results)
    assert path.exists()
