"""`uacs-bridge sandbox`: local platforms, and a configuration that joins them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

if TYPE_CHECKING:
    from bridge.sandbox.platform import LocalPlatform, SandboxContext, World

_CONFIG = "bridge.yaml"
_ENVIRONMENT = "sandbox.env"


@click.command("sandbox")
@click.option(
    "--port",
    default=8090,
    type=click.IntRange(0, 65535),
    show_default=True,
    help="The port; 0 selects a free one.",
)
@click.option("--channels", default=3, show_default=True, type=click.IntRange(1, 500),
              help="Channels in each workspace, server and team.")  # fmt: skip
@click.option("--limits/--no-limits", default=True, show_default=True,
              help="Whether rate limits apply, as on the real platforms.")  # fmt: skip
@click.option("--bridge-port", default=8080, show_default=True, type=click.IntRange(1, 65535),
              help="The port on which the bridge will listen for platforms.")  # fmt: skip
@click.option("--write-config", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help=f"Write {_CONFIG} and {_ENVIRONMENT} into this folder.")  # fmt: skip
def command(
    port: int, channels: int, limits: bool, bridge_port: int, write_config: Path | None
) -> None:
    """Serve local platforms of the installed connectors, to try a configuration.

    They implement the platforms' own protocols, forget everything when they stop, and need no
    accounts. Prints a configuration for them; programs act as their users under /_control.

    \b
    Examples:
      uacs-bridge sandbox --write-config sandbox
      uacs-bridge run -c sandbox/bridge.yaml --env-file sandbox/sandbox.env    (elsewhere)
      uacs-bridge sandbox --port 0 --channels 40 --no-limits
    """
    asyncio.run(_serve(port, channels, limits, bridge_port, write_config))


async def _serve(
    port: int, channels: int, limits: bool, bridge_port: int, folder: Path | None
) -> None:
    from bridge.app.local_accounts import announce_accounts
    from bridge.app.run import stop_signals
    from bridge.app.web.server import listen
    from bridge.sandbox.server import serve_sandbox

    if port:
        listen("127.0.0.1", port).close()  # says what is wrong, where the server would only exit

    def ready(context: SandboxContext, platforms: dict[str, LocalPlatform]) -> None:
        announce_accounts(platforms, f"http://127.0.0.1:{bridge_port}")
        worlds = {name: platform.world() for name, platform in platforms.items()}
        settings, environment = sandbox_settings(worlds, context.base_url, bridge_port)
        click.echo(_instructions(context.base_url, settings, environment, folder))

    with stop_signals() as stop:
        serving = asyncio.create_task(
            serve_sandbox(
                port=port,
                channels=channels,
                limits=limits,
                taken_ports=(bridge_port,),
                on_ready=ready,
            )
        )
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


def sandbox_settings(
    worlds: Mapping[str, World], base_url: str, bridge_port: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """A configuration for the first app of each local platform, with the echo agent, and its
    environment. The first channels of all platforms are one room, the second ones another, and so
    on."""
    from bridge.app.local_accounts import local_accounts

    accounts, environment = local_accounts(worlds, base_url)
    settings = {
        "accounts": accounts,
        "agents": {"echo": {"kind": "echo"}},
        "rooms": _rooms(worlds),
        "store": {"path": "data/bridge.sqlite3"},
        "web": {"host": "127.0.0.1", "port": bridge_port,
                "public_url": f"http://127.0.0.1:{bridge_port}"},
        "files": {"allow_loopback": True},
    }  # fmt: skip
    return settings, environment


def _rooms(worlds: Mapping[str, World]) -> dict[str, Any]:
    first: dict[str, str] = {name: world.places[0].workspace for name, world in worlds.items()}
    by_platform = [
        [
            place
            for place in world.places
            if place.workspace == first[name]
            and place.workspace_name == world.places[0].workspace_name
        ]
        for name, world in worlds.items()
    ]
    rooms: dict[str, Any] = {}
    for places in zip(*by_platform, strict=False):
        members = [
            {"account": name, "workspace": place.workspace, "channel": place.channel}
            for name, place in zip(worlds, places, strict=True)
        ]
        rooms[places[0].channel_name.lower()] = {
            "members": members,
            "agents": [{"agent": "echo", "listen": "mentions"}],
        }
    return rooms


def _instructions(
    base_url: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path | None
) -> str:
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    values = "".join(f"{name}={value}\n" for name, value in environment.items())
    head = f"Local platforms at {base_url} (Ctrl-C stops them; their data is then lost)\n"
    see = f"Their people and channels: {base_url}/_control/world\n"
    if folder is None:
        return f"{head}{see}\n# --- {_ENVIRONMENT}\n{values}\n# --- {_CONFIG}\n{text}"
    _write(folder / _CONFIG, text)
    _write(folder / _ENVIRONMENT, values)
    config, env = (shlex.quote(str(folder / name)) for name in (_CONFIG, _ENVIRONMENT))
    return f"{head}{see}Start the bridge:\n  uacs-bridge run -c {config} --env-file {env}"


def _write(path: Path, text: str) -> None:
    from bridge.store.place import make_folder

    make_folder(path.parent)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
