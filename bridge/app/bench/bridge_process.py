"""A bridge in a process of its own, whose work is measured: `python -m
bridge.app.bench.bridge_process CONFIG`.

It keeps no rate limits, because the local platforms have none: otherwise only its waiting would be
measured. It prints its URL; for each line on its standard input it prints what it has used; it ends
with the input.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import orjson
from prometheus_client import REGISTRY

from bridge.app.build import Bridge
from bridge.app.logs.setup import configure_logs
from bridge.app.run import run
from bridge.app.settings.file import read_settings
from bridge.app.settings.sections import LogSettings


async def serve(config: Path) -> None:
    """Run the bridge until the standard input ends."""
    configure_logs(LogSettings(level="error"))

    def ready(bridge: Bridge, url: str) -> None:
        for account in bridge.connectors:
            bridge.router.parts.outbound.rate_limits.set_rules(account, {})
        _print({"url": url})

    running = asyncio.create_task(
        run(read_settings(config), ready=ready, ask_agents=False, alone=True)
    )
    reading = asyncio.create_task(asyncio.to_thread(_answer))
    await asyncio.wait({running, reading}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def _answer() -> None:
    """Print what was used so far, for each line that comes."""
    for _ in sys.stdin:
        units = REGISTRY.get_sample_value("bridge_store_commit_units_sum") or 0.0
        _print({"cpu": time.process_time(), "units": units})


def _print(value: object) -> None:
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
