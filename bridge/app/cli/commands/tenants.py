"""`uacs-bridge tenants`: the workspaces that installed an app of the bridge."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import nothing, print_json, printable, table, when

if TYPE_CHECKING:
    from bridge.model.tenants import Tenant

_tenant = click.argument("tenant", metavar="TENANT")
_DEADLINE = 600.0  # seconds that a running bridge may take to erase
_KINDS = {
    "versions": "former versions", "payloads": "native payloads", "feedback": "ratings",
    "mentions": "mentions and quotes in other messages", "operations": "records of deliveries",
    "turns": "records of agents", "facts": "names and settings",
}  # fmt: skip


@click.group("tenants")
def command() -> None:
    """List, approve, suspend and erase the workspaces that installed an app.

    TENANT is its id, the platform's id of it, or its name.
    """


@command.command("list")
@config_option
@json_option
def list_(config: Path, as_json: bool) -> None:
    """List all tenants, oldest installation first.

    \b
    Examples:
      uacs-bridge tenants list -c bridge.yaml
    """
    from bridge.app.installs.orders import tenant_json

    tenants = asyncio.run(_tenants(config))
    if as_json:
        print_json([tenant_json(tenant) for tenant in tenants])
        return
    rows = [
        (tenant.id, tenant.name, tenant.state, when(tenant.installed_at), tenant.trouble)
        for tenant in tenants
    ]
    empty = nothing("tenants yet", "people install an app at <public_url>/oauth.")
    click.echo(table(("tenant", "name", "state", "since", "trouble"), rows, indent="", empty=empty))


@command.command("show")
@_tenant
@config_option
@json_option
def show(tenant: str, config: Path, as_json: bool) -> None:
    """Show one tenant: who installed it, when its token ends, and its limits, never its tokens.

    \b
    Examples:
      uacs-bridge tenants show slack:T0ACME
    """
    from bridge.app.installs.orders import tenant_json

    found = asyncio.run(_find(config, tenant))
    if as_json:
        print_json(tenant_json(found))
        return
    ends = "never" if found.expires_at is None else when(found.expires_at)
    limits = [f"{name} {n}" for name, n in vars(found.limits).items() if n is not None]
    lines = {
        "tenant": found.id, "name": found.name, "state": found.state,
        "installed by": found.installed_by or "unknown", "installed": when(found.installed_at),
        "token ends": ends, "limits": ", ".join(limits) or "as the configuration says",
        "trouble": found.trouble or "none",
    }  # fmt: skip
    click.echo("\n".join(f"{name}: {printable(value)}" for name, value in lines.items()))


@command.command("approve")
@_tenant
@config_option
def approve(tenant: str, config: Path) -> None:
    """Let a tenant that waits for approval begin.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge tenants approve slack:T0ACME
    """
    _change(config, "approve", tenant)


@command.command("suspend")
@_tenant
@config_option
def suspend(tenant: str, config: Path) -> None:
    """Stop serving a tenant; its messages and tokens are kept.

    Works while the bridge runs. Installing the app again does not end it.

    \b
    Examples:
      uacs-bridge tenants suspend slack:T0ACME
    """
    _change(config, "suspend", tenant)


@command.command("resume")
@_tenant
@config_option
def resume(tenant: str, config: Path) -> None:
    """Serve a suspended tenant again; the bridge catches up with what was said meanwhile.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge tenants resume slack:T0ACME
    """
    _change(config, "resume", tenant)


@command.command("limit")
@_tenant
@click.option("--messages-per-minute", type=click.IntRange(1), help="Messages it may send.")
@click.option("--turns-per-hour", type=click.IntRange(0), help="Turns of agents it may start.")
@click.option("--turns-per-day", type=click.IntRange(0), help="The same in 24 hours.")
@config_option
def limit(
    tenant: str,
    messages_per_minute: int | None,
    turns_per_hour: int | None,
    turns_per_day: int | None,
    config: Path,
) -> None:
    """Give a tenant limits of its own; what is left out is as the configuration says.

    Works while the bridge runs. Messages over the limit wait; the channel is told once.

    \b
    Examples:
      uacs-bridge tenants limit slack:T0ACME --messages-per-minute 60
      uacs-bridge tenants limit slack:T0ACME
    """
    limits = {
        "messages_per_minute": messages_per_minute,
        "turns_per_hour": turns_per_hour,
        "turns_per_day": turns_per_day,
    }
    own_id = asyncio.run(_limit(config, tenant, limits))
    own = [f"{name} {value}" for name, value in limits.items() if value is not None]
    click.echo(f"{own_id}: {', '.join(own) or 'limits as the configuration says'}")


@command.command("erase")
@_tenant
@click.option("--yes", is_flag=True, help="Erase; without it, only count.")
@click.option("--reason", default="", help="Why; it is recorded.")
@config_option
@json_option
def erase(tenant: str, yes: bool, reason: str, config: Path, as_json: bool) -> None:
    """Erase a tenant for good: its tokens, messages, files and people.

    Without --yes, it only prints what it would erase. A running bridge also removes its app from
    the workspace, where the platform lets it. A legal hold forbids an erasure.

    \b
    Examples:
      uacs-bridge tenants erase slack:T0ACME
      uacs-bridge tenants erase slack:T0ACME --yes --reason "contract ended"
    """
    result = asyncio.run(_erase(config, tenant, reason, dry_run=not yes))
    if as_json:
        print_json({**result, "erased": yes})
        return
    click.echo("Erased:" if yes else "This would be erased:")
    counts: dict[str, int] = result["counts"]
    for kind, number in sorted(counts.items()):
        click.echo(f"  {number:>8,} {_KINDS.get(kind, kind)}")
    if not yes:
        click.echo("To erase it: the same command with --yes")
    else:
        click.echo("Backups and exports may still have it: see docs/archive.md")


@command.command("rotate-keys")
@click.argument("tenant", metavar="[TENANT]", required=False)
@config_option
def rotate_keys(tenant: str | None, config: Path) -> None:
    """Seal the tokens of a tenant, or of all, with new keys.

    Works while the bridge runs, which sends on meanwhile. The tokens themselves stay the same.

    \b
    Examples:
      uacs-bridge tenants rotate-keys
      uacs-bridge tenants rotate-keys slack:T0ACME
    """
    tenants, secrets = asyncio.run(_rotate_keys(config, tenant))
    click.echo(f"Sealed {secrets} tokens of {tenants} tenants with new keys")


def _change(config: Path, order: str, name: str) -> None:
    own_id, state = asyncio.run(_changed(config, order, name))
    click.echo(f"{own_id} is {state} now")


async def _tenants(config: Path) -> list[Tenant]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        return list(await store.tenants())


async def _find(config: Path, name: str) -> Tenant:
    from bridge.app.cli.commands.stores import reading
    from bridge.app.installs.orders import find_tenant

    async with reading(settings_from(config).store) as store:
        return await find_tenant(store, name)


async def _changed(config: Path, order: str, name: str) -> tuple[str, str]:
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge
    from bridge.app.installs.orders import change_tenant

    settings = settings_from(config)
    tenant = await _find(config, name)
    if running := running_bridge(settings.store.path):
        answer: dict[str, Any] = running.ask("/admin/tenants", {order: tenant.id})
        return tenant.id, str(answer["state"])
    async with writing(settings.store) as store:
        return tenant.id, await change_tenant(store, order, tenant.id)


async def _erase(config: Path, name: str, reason: str, *, dry_run: bool) -> dict[str, Any]:
    from bridge.app.archive.erasing import clean_up
    from bridge.app.cli.commands.stores import operator, writing
    from bridge.app.control import running_bridge
    from bridge.app.files.blob_store import open_blob_store
    from bridge.app.installs.desk import build_installs
    from bridge.app.installs.erasing import erase_tenant
    from bridge.app.settings.secrets import SecretReader
    from bridge.runtime.clock import SystemClock

    settings = settings_from(config)
    tenant = await _find(config, name)
    order = {"id": uuid4().hex[:12], "by": operator(), "reason": reason}
    if running := running_bridge(settings.store.path):
        body = {"erase": tenant.id, "order": order, "dry_run": dry_run}
        return running.ask("/admin/tenants", body, _DEADLINE)
    place, clock = settings.store, SystemClock()
    async with writing(settings.store) as store:
        installs = build_installs(settings, store, clock, SecretReader(store), lambda: settings)
        account = installs.own_account(tenant)
        counts = await erase_tenant(
            store, tenant, order, settings.installs, account=account, dry_run=dry_run
        )
        if dry_run:
            return {"counts": counts, "cleaned": True}
        blobs = await open_blob_store(place.path, place.blobs, clock=clock)
        try:
            return {"counts": counts, "cleaned": await clean_up(store, blobs, alone=True)}
        finally:
            await blobs.close()


async def _limit(config: Path, name: str, limits: dict[str, int | None]) -> str:
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge
    from bridge.model.tenants import TenantLimits

    settings = settings_from(config)
    tenant = await _find(config, name)
    if running := running_bridge(settings.store.path):
        running.ask("/admin/tenants", {"limit": tenant.id, "limits": limits})
        return tenant.id
    async with writing(settings.store) as store:
        await store.set_tenant_limits(tenant.id, TenantLimits(**limits))
    return tenant.id


async def _rotate_keys(config: Path, name: str | None) -> tuple[int, int]:
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge

    settings = settings_from(config)
    tenants = [await _find(config, name)] if name else await _tenants(config)
    if running := running_bridge(settings.store.path):
        ask = [running.ask("/admin/tenants", {"rotate": tenant.id}) for tenant in tenants]
        return len(ask), sum(int(answer["secrets"]) for answer in ask)
    async with writing(settings.store) as store:
        return len(tenants), sum([await store.rotate_tenant_key(tenant.id) for tenant in tenants])
