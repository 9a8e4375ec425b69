"""What connectors need of aiohttp's kept connections: a closed one must not lose a request."""

from __future__ import annotations

import asyncio

import aiohttp


async def notice_closed_connections() -> None:
    """Let the event loop read its sockets, so that a connection that the server closed is not used
    again.

    aiohttp asks its transport, which knows only what the loop has read.
    """
    for _ in range(3):  # this task, the read, the loss of the connection
        await asyncio.sleep(0)


def was_not_sent(error: BaseException) -> bool:
    """Return whether the connection was closed before aiohttp wrote the whole request.

    A server does not process a request with an incomplete body.
    """
    cause = error.__cause__ or error
    reset = isinstance(cause, aiohttp.ClientConnectionResetError)
    return reset and "closing transport" in str(cause)
