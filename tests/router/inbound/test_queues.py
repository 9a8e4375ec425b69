"""The rows of a source are worked on one after the other, in their order, whoever asks for them."""

from __future__ import annotations

import asyncio

from bridge.model import AccountId, ChannelRef, Raw
from bridge.model.inbox_records import InboxRow
from bridge.router.inbound.queues import InboundQueues
from bridge.router.signals import Signal

CHANNEL = ChannelRef(platform="fake", workspace="w", channel="c")


class Worker:
    """Works on each row until the test lets it go on."""

    def __init__(self) -> None:
        signal = Signal[InboxRow]()
        signal.subscribe(self._work)
        self.is_ours = True
        self.queues = InboundQueues(signal, lambda _: self.is_ours)
        self.begun: list[int] = []
        self._steps = asyncio.Semaphore(0)

    async def _work(self, row: InboxRow) -> None:
        self.begun.append(row.id)
        await self._steps.acquire()

    def put(self, *numbers: int) -> None:
        for number in numbers:
            raw = Raw(
                account=AccountId("a"), kind="post", dedupe_key=str(number),
                order_key=f"{number:03d}", channel=CHANNEL, payload=b"{}",
            )  # fmt: skip
            self.queues.put(InboxRow(number, raw))

    async def step(self) -> None:
        self._steps.release()
        for _ in range(5):
            await asyncio.sleep(0)


async def test_a_release_lets_no_row_overtake_those_that_are_being_finished() -> None:
    worker = Worker()
    worker.queues.hold(CHANNEL.key)
    worker.put(3, 1, 2)
    finishing = asyncio.create_task(worker.queues.finish(CHANNEL.key, until="002"))
    await asyncio.sleep(0)
    assert worker.begun == [1]

    worker.queues.release(CHANNEL.key)
    await asyncio.sleep(0)
    assert worker.begun == [1]
    await worker.step()
    assert worker.begun == [1, 2]
    await worker.step()
    assert finishing.done()
    assert worker.begun == [1, 2, 3]
    await worker.step()
    assert worker.queues.idle


async def test_rows_that_were_not_finished_because_of_a_cancellation_go_on_in_their_order() -> None:
    worker = Worker()
    worker.queues.hold(CHANNEL.key)
    worker.put(1, 2, 3)
    finishing = asyncio.create_task(worker.queues.finish(CHANNEL.key, until="003"))
    await asyncio.sleep(0)
    finishing.cancel()
    await asyncio.gather(finishing, return_exceptions=True)
    worker.queues.release(CHANNEL.key)
    for _ in range(3):
        await worker.step()

    assert worker.begun == [1, 1, 2, 3]


async def test_rows_of_another_process_do_not_come_back_after_a_cancellation() -> None:
    worker = Worker()
    worker.queues.hold(CHANNEL.key)
    worker.put(1, 2)
    finishing = asyncio.create_task(worker.queues.finish(CHANNEL.key, until="002"))
    await asyncio.sleep(0)
    worker.is_ours = False
    await worker.queues.let_go()
    finishing.cancel()
    await asyncio.gather(finishing, return_exceptions=True)
    worker.queues.release(CHANNEL.key)
    await worker.step()

    assert worker.begun == [1]
