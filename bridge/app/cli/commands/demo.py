"""`uacs-bridge demo`: the bridge between local platforms, on one page or by a script."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("demo")
@click.option(
    "--script",
    "scripted",
    is_flag=True,
    help="Play a fixed conversation, check and print it, and exit; needs no browser.",
)
@click.option(
    "--json-only",
    is_flag=True,
    help="With --script: print only the archive, a UACS Conversation in JSON.",
)
@click.option(
    "--port",
    default=8765,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The page's port; 0, or a port in use, becomes a free one.",
)
@click.option("--open/--no-open", "browser", default=False, help="Open the page in a browser.")
@click.option(
    "--story",
    type=click.Choice(["smart-errands", "smart-library"]),
    help="Play a story with agents of several makers, which speak Open Floor.",
)
@click.option("--quiet-room", is_flag=True, help="Begin with empty channels.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The folder of the bridge's store; without it, the store is removed at the end.",
)
def command(
    scripted: bool,
    json_only: bool,
    port: int,
    browser: bool,
    story: str | None,
    quiet_room: bool,
    data: Path | None,
) -> None:
    """Show the bridge at work: local platforms, an agent, and one page to write on.

    A small local version of each platform starts on this machine, the bridge joins them through the
    platforms' own SDKs, and an agent answers @echo. It needs no account and no network.

    \b
    Examples:
      uacs-bridge demo --open
      uacs-bridge demo --script
      uacs-bridge demo --script --json-only > conversation.json
      uacs-bridge demo --story smart-errands --open
      uacs-bridge demo --story smart-library --script
    """
    import asyncio
    import logging

    from bridge.app.demo.show import DemoOptions, show
    from bridge.app.demo.stories.all import STORIES
    from bridge.app.demo.world import demo_types
    from bridge.app.logs.setup import configure_logs
    from bridge.app.settings.sections import LogSettings

    configure_logs(LogSettings(level="warning", format="text"))
    for sdk in (logger for local in demo_types().values() for logger in local.sdk_loggers):
        # They miss voice, and an open socket at the end; connectors say themselves what is wrong.
        logging.getLogger(sdk).setLevel(logging.CRITICAL)
    told = None if story is None else STORIES[story]
    options = DemoOptions(scripted or json_only, json_only, port, browser, quiet_room, data, told)
    raise SystemExit(asyncio.run(show(options)))
