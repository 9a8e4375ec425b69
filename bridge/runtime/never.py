"""A stream in which nothing ever comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any


async def never() -> AsyncGenerator[Any]:
    """Wait until it is closed: what an agent gets that is told nothing further."""
    await asyncio.Event().wait()
    yield  # it makes this a generator
