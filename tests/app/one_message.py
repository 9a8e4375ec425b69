"""docs/one-message.md from one real message through the sandbox.

`python -m tests.app.one_message` writes the page anew. Ids and times that differ in every run
become stable stand-ins; everything else is as `uacs-bridge explain --markdown` printed it.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from click.testing import CliRunner

from bridge.app.cli import main
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.router.ways import Way, page_section

PAGE = Path(__file__).parents[2] / "docs" / "one-message.md"
TEXT = "Is the *release* ready? The plan is at https://example.com/plan :tada:"

# Patterns of values that differ in each run, and the names that replace them.
_VOLATILE: tuple[tuple[str, Callable[[int], str]], ...] = (
    (r"\b(?!7e0a0000|b0700000)[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b",
     lambda n: f"00000000-0000-4000-8000-{n:012d}"),
    (r"(?<!19:)\b[0-9a-f]{32}\b", lambda n: f"operation-{n}"),
    (r"\b001[789]\d{8}\.\d{6}\b", lambda n: f"001700000000.{n:06d}"),
    (r"\b(?!17000000)1[789]\d{8}\.\d{6}\b", lambda n: f"1700000000.{n:06d}"),
    (r"\b1[789]\d{8}\d{3}\b(?!\d)", lambda n: f"{1700000000000 + n}"),
    (r"\b1[5-9]\d{17}\b", lambda n: f"{1170000000000000000 + n}"),
    (r"(?<=\"event_time\": )\d+", lambda _: "1700000000"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d+(?:Z|\+00:00)", lambda _: "2023-11-14T22:13:20.000Z"),
    (r"(?<=\"took_s\": )[\d.e-]+", lambda _: "0.01"),
    (r"(?<=\"waited_s\": )[\d.e-]+", lambda _: "0.01"),
    (r"(?<=\"event_id\": \")\w+", lambda _: "Ev0001"),
    (r"(?<=\"event_context\": \")[^\"]+", lambda _: "4-..."),
    (r"(?<=\"block_id\": \")[^\"]+", lambda _: "b1"),
    (r"127\.0\.0\.1:\d+", lambda _: "127.0.0.1:8090"),
)  # fmt: skip


def stable(page: str) -> str:
    """The page with stable names for values that differ in each run."""
    for pattern, stand_in in _VOLATILE:
        known: dict[str, str] = {}
        for found in re.findall(pattern, page):
            known.setdefault(found, stand_in(len(known) + 1))
        page = re.sub(pattern, lambda match, known=known: known[match[0]], page)
    return page


async def explained(way: Way | None = None) -> str:
    """The page: what `explain --markdown` prints of a message that was posted on the local Slack,
    and the files that it passes. The `way` traces it meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        async with local_sandbox() as local:
            settings = configuration(local, Path(folder) / "bridge.sqlite3", channels=["general"])
            config = Path(folder) / "bridge.yaml"
            config.write_text(json.dumps(settings))
            async with running(local, settings) as (bridge, _):
                with nullcontext() if way is None else way.traced():
                    native = await local.say("slack", "general", TEXT)
                    await local.until(
                        lambda: all(local.standing(name, "general") for name in local.platforms)
                    )
                await bridge.router.settled()
                result = await asyncio.to_thread(
                    CliRunner().invoke, main, ["explain", native, "--markdown", "-c", str(config)]
                )
    if result.exit_code:
        raise SystemExit(result.output)
    return f"{stable(result.stdout).rstrip()}\n\n{page_section()}"


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(explained()))
