"""The local platforms in a process of their own: `python -m tests.e2e.sandbox_process`.

Prints its address as the first line; ends at SIGTERM, or when whoever started it is gone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Mapping

from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.server import serve_sandbox
from connectors.discord.sandbox.local import LocalDiscord


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--workspaces", type=int, default=2)
    parser.add_argument("--no-limits", action="store_true")
    parser.add_argument("--boosted", action="store_true", help="guilds that take 100 MiB files")
    options = parser.parse_args()
    asyncio.run(
        _serve(
            options.channels, options.workspaces, limits=not options.no_limits,
            boosted=options.boosted,
        )
    )  # fmt: skip


async def _serve(channels: int, workspaces: int, *, limits: bool, boosted: bool) -> None:
    def ready(context: SandboxContext, platforms: Mapping[str, LocalPlatform]) -> None:
        discord = platforms["discord"]
        if boosted and isinstance(discord, LocalDiscord):
            for guild in discord.state.guilds.values():
                guild.premium_tier = 3
        print(context.base_url, flush=True)

    serving = asyncio.ensure_future(
        serve_sandbox(channels=channels, workspaces=workspaces, limits=limits, on_ready=ready)
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
