"""A local Discord without limits for most tests; those that test limits start their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.connectors.discord.sandbox.running import Running, running_discord


@pytest.fixture
async def local() -> AsyncIterator[Running]:
    async with running_discord() as running:
        yield running
