"""Lets people of the local platforms post the lines of a scene."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bridge.app.demo.lines import Line
from bridge.app.demo.running import Demo
from bridge.app.demo.world import ROOMS
from bridge.errors import BridgeError
from bridge.model import ChannelRef
from bridge.sandbox.feed import LocalMessage

_TIMEOUT = 15.0
_LOOK = 0.01


class Cast:
    """The people of one room; remembers each posted line by its number.

    `timeout`: seconds that the copies of a line may take to arrive on the other platforms.
    """

    def __init__(self, demo: Demo, room: str = ROOMS[0], timeout: float = _TIMEOUT) -> None:
        self.demo = demo
        self.room = room
        self._timeout = timeout
        self._posted: list[tuple[Line, LocalMessage]] = []

    async def say(self, line: Line) -> LocalMessage:
        """Post a line, in the thread of its root, which may come from another platform."""
        channel = self.demo.sides[line.platform].channel_of(self.room)
        thread = None if line.thread is None else await self._root(line.thread, line.platform)
        person = self.demo.sides[line.platform].person_named(line.person)
        message = await self.demo.say(line.platform, channel, person, line.text, thread)
        self._posted.append((line, message))
        return message

    async def wait_for_copies(self) -> None:
        """Wait until the copies of the last line are on all other platforms."""
        line, _ = self._posted[-1]
        for platform in self.demo.sides:
            if platform != line.platform:
                await self._root(len(self._posted) - 1, platform)

    async def _root(self, number: int, platform: str) -> str:
        """The native id of a line or its copy on this platform; waits for the copy."""
        line, posted = self._posted[number]
        if line.platform == platform:
            return posted.id
        source, target = self._channel(line.platform), self._channel(platform)
        store = self.demo.bridge.store
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    message = await store.resolve(source, posted.id)
                    copies = await store.copies(message, target) if message else ()
                    if copies:
                        return copies[0].native_id
                    await asyncio.sleep(_LOOK)
        except TimeoutError:
            raise BridgeError(
                f"Line {number} ({line.person} on {line.platform}) did not come to {platform} "
                f"within {self._timeout:g} s"
            ) from None

    def _channel(self, platform: str) -> ChannelRef:
        side = self.demo.sides[platform]
        channel = side.channel_of(self.room)
        return ChannelRef(platform=platform, workspace=side.workspace, channel=channel)


async def act_out(demo: Demo, lines: Sequence[Line], *, pause: float) -> None:
    """Post the lines one after another, each after the copies of the one before have arrived."""
    cast = Cast(demo)
    for line in lines:
        await cast.say(line)
        await cast.wait_for_copies()
        await asyncio.sleep(pause * (4 if line.answered else 1))
