"""A broken connection instead of an answer: the fault `lose_answer`."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class Broken(Response):
    """A response that breaks the connection after the work is done."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # uvicorn's `receive` is a method of the request cycle, which has the transport.
        transport = getattr(getattr(receive, "__self__", None), "transport", None)
        if transport is None:
            raise ConnectionResetError("the local Slack lost this answer on request")
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass
