"""One send passes few files, in one direction: whoever reads them in this order never goes back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import FrameType

import bridge.router.outbound
from tests.router.fake_clock import FakeClock
from tests.router.outbound.test_retries import channel_of

FOLDER = Path(bridge.router.outbound.__file__).parent
WAY = [
    "lane.py",
    "send.py",
    "encoding.py",
    "presentation.py",
    "references.py",
    "rate_limits.py",
    "in_flight.py",
]


def file_of(frame: FrameType | None) -> str | None:
    """The file of this folder that the frame runs in; `outcomes.py` holds records alone."""
    path = Path(frame.f_code.co_filename) if frame else None
    is_step = path and path.parent == FOLDER and path.name not in ("lanes.py", "outcomes.py")
    return path.name if path and is_step else None


class Steps:
    """Which files the lane's task passes on its way to the connector, and which calls which."""

    def __init__(self, task: str) -> None:
        self._task = task
        self.files: list[str] = []
        self.calls: set[tuple[str, str]] = set()

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        file = file_of(frame)
        if event != "call" or file is None or not self._in_lane():
            return
        if file not in self.files:
            self.files.append(file)
        caller = frame.f_back
        while caller is not None and file_of(caller) is None:
            caller = caller.f_back
        if caller is not None:
            self.calls.add((file_of(caller) or "", file))

    def _in_lane(self) -> bool:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            return False
        return task is not None and task.get_name() == self._task


async def test_one_send_passes_seven_files_of_the_router_and_never_goes_back(
    clock: FakeClock,
) -> None:
    rig, sales, billing = channel_of(clock)
    steps = Steps(f"lane {billing.channel('b').lane}")
    billing.before_send = lambda _call: sys.setprofile(None)

    async with rig.run():
        sys.setprofile(steps.note)
        try:
            await sales.say("s", "one")
            await clock.advance(5)
        finally:
            sys.setprofile(None)

    assert billing.texts("b") == ["one"]
    assert steps.files == WAY
    backwards = {(a, b) for a, b in steps.calls if WAY.index(a) > WAY.index(b)}
    assert backwards == set()
