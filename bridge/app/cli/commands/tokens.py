"""`uacs-bridge tokens`: tokens that give programs access to rooms, over /v1 and MCP."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import nothing, table
from bridge.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings
    from bridge.model.api_records import ApiToken


@click.group("tokens")
def command() -> None:
    """Create and revoke tokens that give programs access to rooms.

    The store has only a digest of each. A program posts under the name of its token, and people
    mention it by that name.
    """


@command.command("add")
@click.argument("name")
@click.option("--room", "rooms", multiple=True, required=True, help="A room, or a glob of rooms.")
@click.option("--scope", default="read", show_default=True, help="Any of read,post,interact.")
@click.option("--expires", default="30d", show_default=True, help="30d, 12h, 90m, 2w or never.")
@click.option(
    "--role", type=click.Choice(("assistant", "human")), default="assistant", show_default=True,
    help="Its role: posts of an assistant are those of a bot, and call no agent.",
)  # fmt: skip
@click.option(
    "--per-minute",
    default=120,
    type=click.IntRange(1),
    show_default=True,
    help="The most requests in a minute.",
)
@click.option(
    "--actors",
    multiple=True,
    help="Who may speak below it under a name of their own, such as its sub-agents: a glob.",
)
@config_option
def add(
    name: str, rooms: tuple[str, ...], scope: str, expires: str, role: Any, per_minute: int,
    actors: tuple[str, ...], config: Path,
) -> None:  # fmt: skip
    """Create a token, and print it once.

    It replaces a token of the same name, which stops working.

    \b
    Examples:
      uacs-bridge tokens add helper --room support --scope read,post
      uacs-bridge tokens add watcher --room 'team-*' --expires never
      uacs-bridge tokens add supervisor --room support --scope read,post --actors '*'
    """
    settings = settings_from(config)

    from bridge.app.api.api_keys import TokenRequest, new_token, scopes_of, seconds_of
    from bridge.content.text.globs import matches
    from bridge.runtime.clock import SystemClock

    request = TokenRequest(
        name, rooms, scopes_of(scope), role, seconds_of(expires), per_minute, actors
    )
    record, token = new_token(request, SystemClock().time(), settings.agents)
    for glob in rooms:
        if not any(matches(glob, room) for room in settings.rooms):
            names = ", ".join(settings.rooms) or "none"
            raise ConfigError(f"There is no room {glob!r}; there are: {names}")
    asyncio.run(_keep(settings, record))
    click.echo(token)


@command.command("list")
@json_option
@config_option
def list_(config: Path, as_json: bool) -> None:
    """List the tokens' names and permissions, never their values.

    \b
    Examples:
      uacs-bridge tokens list -c bridge.yaml
    """
    import json

    from bridge.model.times import datetime_of
    from bridge.runtime.clock import SystemClock

    now = SystemClock().time()
    tokens = asyncio.run(_stored_tokens(settings_from(config)))
    if as_json:
        records = [{k: v for k, v in asdict(token).items() if k != "digest"} for token in tokens]
        click.echo(json.dumps(records, indent=2))
        return
    rows: list[tuple[str, ...]] = []
    for token in tokens:
        until = (
            "for ever" if token.expires is None else f"until {datetime_of(token.expires):%Y-%m-%d}"
        )
        over = " (expired)" if token.expires is not None and token.expires <= now else ""
        scopes, rooms = ",".join(token.scopes), " ".join(token.rooms)
        rows.append((token.name, token.role, scopes, rooms, f"{until}{over}"))
    empty = nothing("tokens yet", "`uacs-bridge tokens add NAME --room ROOM` makes one.")
    heads = ("token", "speaks as", "scopes", "rooms", "good")
    click.echo(table(heads, rows, indent="", empty=empty))


@command.command("revoke")
@click.argument("name")
@config_option
def revoke(name: str, config: Path) -> None:
    """Revoke a token: it stops working at once, and its open streams end.

    \b
    Examples:
      uacs-bridge tokens revoke helper
    """
    if not asyncio.run(_revoke(settings_from(config), name)):
        raise StoreError(f"There is no token {name!r}; `uacs-bridge tokens list` shows them")
    click.echo("Revoked.")


async def _keep(settings: Settings, token: ApiToken) -> None:
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge

    if running := running_bridge(settings.store.path):
        running.ask("/admin/tokens", {"add": asdict(token)})
        return
    async with writing(settings.store) as store:
        await store.put_token(token)


async def _stored_tokens(settings: Settings) -> list[ApiToken]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings.store) as store:
        return list(await store.tokens())


async def _revoke(settings: Settings, name: str) -> bool:
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge

    if running := running_bridge(settings.store.path):
        return bool(running.ask("/admin/tokens", {"revoke": name})["revoked"])
    async with writing(settings.store) as store:
        return await store.revoke_token(name)
