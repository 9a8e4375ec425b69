"""`uacs-bridge mcp`: an MCP server over stdio, in front of a running bridge."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from bridge.errors import BridgeError, ConfigError


@click.command("mcp")
@click.option(
    "--url", default="http://127.0.0.1:8080", show_default=True, envvar="UACS_BRIDGE_URL",
    show_envvar=True, help="The address of the bridge's web server.",
)  # fmt: skip
@click.option(
    "--token-file", type=click.Path(path_type=Path, dir_okay=False), default=None,
    help="A file with the token; without it, UACS_BRIDGE_TOKEN has it.",
)  # fmt: skip
def command(url: str, token_file: Path | None) -> None:
    """Serve rooms to a program that speaks the Model Context Protocol.

    The program reads, searches and posts in rooms as far as its token permits (`uacs-bridge tokens
    add`). The bridge serves the same over HTTP at /mcp.

    \b
    Examples:
      UACS_BRIDGE_TOKEN=uacs.helper... uacs-bridge mcp
      uacs-bridge mcp --url https://bridge.example.org --token-file ~/.bridge-token
    """
    try:
        import mcp  # noqa: F401  # pyright: ignore[reportUnusedImport] - whether it is there
    except ImportError:
        from bridge.app.api.mcp_mount import INSTALL

        raise ConfigError(f"The extra `mcp` is not installed; {INSTALL}") from None
    from bridge.app.logs.setup import configure_logs
    from bridge.app.settings.sections import LogSettings

    configure_logs(LogSettings(level="warning"))  # on stderr: standard output is the protocol's
    asyncio.run(_serve(url.rstrip("/"), _token(token_file)))


def _token(file: Path | None) -> str:
    import os

    try:
        text = os.environ.get("UACS_BRIDGE_TOKEN", "") if file is None else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read the token in {str(file)!r}: {error}") from None
    if not text.strip():
        raise ConfigError(
            "There is no token: set UACS_BRIDGE_TOKEN or --token-file; make one with "
            "`uacs-bridge tokens add NAME --room ROOM --scope read,post`"
        )
    token = text.strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            "What UACS_BRIDGE_TOKEN or --token-file holds is no token: it reads uacs.NAME.SECRET"
        )
    return token


async def _serve(url: str, token: str) -> None:
    """Serves until standard input ends. Raises BridgeError if the bridge rejects the token."""
    import httpx

    from bridge.app.api.mcp_rooms import RemoteRooms
    from bridge.app.api.mcp_tools import mcp_server
    from bridge.app.api.problems import Problem

    header = f"Bearer {token}"

    def authorization(_ctx: Any) -> str:
        return header

    try:
        http = httpx.AsyncClient(base_url=url, timeout=30)
    except httpx.InvalidURL:
        raise BridgeError(f"{url!r} is no address of a bridge; give its --url") from None
    async with http:
        rooms = RemoteRooms(http)
        try:
            await rooms.list_rooms(header)
        except Problem as problem:
            if problem.status == 503:
                raise BridgeError(
                    f"There is no bridge at {url!r} ({problem.detail}); start it with "
                    "`uacs-bridge run`, or give its --url"
                ) from None
            raise BridgeError(f"The bridge at {url!r} refused the token: {problem.text}") from None
        await mcp_server(rooms, authorization).run_stdio_async()
