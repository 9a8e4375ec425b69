"""The local platforms in a process of their own: `python -m tests.e2e.sandbox_process [CHANNELS]`.

Prints its address as the first line; ends at SIGTERM, or when whoever started it is gone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable

from bridge.sandbox.server import serve_sandbox


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--no-limits", action="store_true")
    wanted = parser.parse_args()
    asyncio.run(_serve(wanted.channels, limits=not wanted.no_limits))


async def _serve(channels: int, *, limits: bool) -> None:
    serving = asyncio.ensure_future(
        serve_sandbox(
            channels=channels,
            limits=limits,
            on_ready=lambda around, _: print(around.base_url, flush=True),
        )
    )
    end_with_parent(serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def end_with_parent(stop: Callable[[], object]) -> None:
    """Call `stop` at SIGTERM, and when standard input ends: its other end is the parent's."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)

    def wait() -> None:
        while os.read(0, 4096):  # not sys.stdin: its lock is wanted when the program ends
            pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main()
