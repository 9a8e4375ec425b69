"""Files are shared exactly once, whatever happens to Slack's answer, and the share is found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import pytest

from bridge.errors import Unavailable, Unsettled
from bridge.model import FIRST_SLOT_OF_FILES, Call, OperationId, Upload
from bridge.ports.fetch import Fetcher
from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.testing.abilities import required
from bridge.testing.memory_blobs import MemoryBlobs
from connectors.slack import shares
from connectors.slack.capabilities import SHARE_FILES
from connectors.slack.connector import SlackConnector
from tests.connectors.slack.conftest import GENERAL, RANDOM, TEAM, Sandbox

COMPLETE = "slack:files.completeUploadExternal:*"


@pytest.fixture
async def files() -> Files:
    return Files(MemoryBlobs(SystemClock()), cast("Fetcher", None))  # nothing is fetched


async def shared(files: Files, *names: str, operation: str = "op", thread: str = "") -> Call:
    uploads: list[Upload] = []
    for name in names:
        stored = await files.blobs.put(_once(name.encode()), limit=100)
        uploads.append(
            Upload(file_id=stored.file_id, name=name, media_type="text/plain", size=stored.size)
        )
    return Call(
        kind="post", method=SHARE_FILES, operation=OperationId(operation), channel=GENERAL,
        slot=FIRST_SLOT_OF_FILES, thread=thread or None, files=tuple(uploads),
        body={"channel": GENERAL.channel, "initial_comment": "*Ann*"},
    )  # fmt: skip


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def messages_of(sandbox: Sandbox) -> list[LocalMessage]:
    return sandbox.slack.messages(TEAM, GENERAL.channel)


async def unsettled(connector: SlackConnector, call: Call) -> None:
    with pytest.raises(Unsettled):
        await connector.send(call)


async def test_the_receipt_of_a_file_share_is_the_message_that_slack_posts_later(
    sandbox: Sandbox, files: Files
) -> None:
    root = await sandbox.say("a thread")
    connector = sandbox.connector(files=files)

    alone = await connector.send(await shared(files, "a.txt", "b.txt"))
    below = await connector.send(await shared(files, "c.txt", thread=root))

    earlier, first, second = messages_of(sandbox)
    assert earlier.id == root
    assert (alone.native_id, alone.thread, alone.slot) == (first.id, None, FIRST_SLOT_OF_FILES)
    assert (below.native_id, below.thread) == (second.id, root)
    assert [file["name"] for file in first.raw["files"]] == ["a.txt", "b.txt"]


async def test_a_share_with_a_lost_answer_is_found_by_another_process(
    sandbox: Sandbox, files: Files
) -> None:
    call = await shared(files, "a.txt")
    sandbox.context.faults.add(Fault(kind="lose_answer", where=COMPLETE))
    await unsettled(sandbox.connector(files=files), call)
    restarted = sandbox.connector(files=files)

    with pytest.raises(Unavailable, match="not show them yet"):  # Slack has not posted the message
        await required(restarted.abilities.deliveries).find(call, None)
    while not messages_of(sandbox):
        await SystemClock().sleep(0.01)
    receipt = await required(restarted.abilities.deliveries).find(call, None)

    (message,) = messages_of(sandbox)
    assert receipt
    assert (receipt.native_id, receipt.slot) == (message.id, call.slot)
    assert (
        await required(restarted.abilities.deliveries).find(call, message.id) is None
    )  # that message is known already


@pytest.mark.parametrize("fault", [Fault(kind="status"), Fault(kind="hang", seconds=0.05)])
async def test_a_share_that_slack_did_not_receive_is_not_found(
    sandbox: Sandbox, files: Files, fault: Fault
) -> None:
    connector, call = sandbox.connector(files=files), await shared(files, "a.txt")
    sandbox.context.faults.add(fault.model_copy(update={"where": COMPLETE}))
    await unsettled(connector, call)

    assert await required(connector.abilities.deliveries).find(call, None) is None
    await connector.send(call)
    assert len(messages_of(sandbox)) == 1


async def test_a_failure_after_a_share_does_not_share_the_files_again(
    sandbox: Sandbox, files: Files
) -> None:
    connector = sandbox.connector(files=files)
    for fault in (Fault(kind="status"), Fault(kind="rate_limited", seconds=1)):
        sandbox.context.faults.add(fault.model_copy(update={"where": "slack:files.info:*"}))
        await unsettled(connector, await shared(files, "a.txt", operation=fault.kind))


async def test_files_that_slack_accepted_but_never_posted_are_shared_again(
    sandbox: Sandbox, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector, call = sandbox.connector(files=files), await shared(files, "a.txt")
    sandbox.slack.pace.share_seconds = 0.5
    monkeypatch.setattr(shares, "_LONGEST_SEARCH", 0.2)
    await unsettled(connector, call)
    with pytest.raises(Unavailable):
        await required(connector.abilities.deliveries).find(call, None)

    monkeypatch.setattr(shares, "_SHARE_TIMEOUT", 0.0)
    assert await required(connector.abilities.deliveries).find(call, None) is None
    sandbox.slack.pace.share_seconds = 0.0
    await connector.send(call)
    await SystemClock().sleep(0.5)  # by now Slack would have shown the first

    assert len(messages_of(sandbox)) == 1


async def test_the_files_of_another_call_are_not_matched(sandbox: Sandbox, files: Files) -> None:
    connector = sandbox.connector(files=files)
    await connector.send(await shared(files, "a.txt"))
    other = await shared(files, "a.txt", operation="another")
    elsewhere = (await shared(files, "a.txt")).model_copy(update={"channel": RANDOM})

    assert await required(connector.abilities.deliveries).find(other, None) is None
    assert await required(connector.abilities.deliveries).find(elsewhere, None) is None
