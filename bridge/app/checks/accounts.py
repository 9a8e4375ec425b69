"""What a platform reports about an account: for `check` before the start, for `run` after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bridge.app.settings.sections import Settings
from bridge.content.text.globs import is_glob, meet
from bridge.errors import BridgeError
from bridge.model import ChannelRef
from bridge.ports.abilities.health import Use
from bridge.ports.connector import Connector
from bridge.ports.findings import Finding


async def check_account(
    name: str,
    connector: Connector,
    channels: Sequence[ChannelRef],
    settings: Settings,
    seconds: float,
) -> list[Finding]:
    """The connector's findings (token, scopes, intents, permissions, channels), and missing groups
    of the configuration.

    Each of the two may take `seconds`.
    """
    findings: list[Finding] = []
    if (health := connector.abilities.health) is not None:
        try:
            async with asyncio.timeout(seconds):
                findings += await health.check(channels, _uses(name, connector, settings))
        except TimeoutError:
            problem = f"its platform did not answer within {seconds:g} s"
            findings.append(Finding("error", problem, "check the network, then try again"))
        except BridgeError as error:
            findings.append(Finding("error", str(error), "correct it, then run check again"))
    if groups := _groups_named(name, connector, channels, settings):
        findings += await _groups(connector, channels, groups, seconds)
    return findings


def _uses(name: str, connector: Connector, settings: Settings) -> list[Use]:
    """The data about people that the configuration needs from this account."""
    uses: list[Use] = ["emails"] if settings.people.link_by_email else []
    form = f"group:{connector.capabilities.platform}:*:*"
    listed = any(
        meet(glob, form) for glob in _membership_globs(settings) if glob.startswith("group:")
    )
    mapped = any(name in accounts for accounts in settings.people.groups.values())
    return [*uses, "groups"] if listed or mapped else uses


def _membership_globs(settings: Settings) -> list[str]:
    """The globs of people in all memberships."""
    parts = (*settings.rooms.values(), *settings.direct)
    return [
        glob
        for part in parts
        for membership in part.agents
        for glob in (*membership.allow, *membership.deny)
    ]


def _groups_named(
    name: str, connector: Connector, channels: Sequence[ChannelRef], settings: Settings
) -> list[tuple[str, str]]:
    """Ids of groups in the configuration, each with its place."""
    groups = [
        (f"people.groups.{group}", accounts[name])
        for group, accounts in settings.people.groups.items()
        if name in accounts
    ]
    workspaces = {channel.workspace for channel in channels}
    for glob in _membership_globs(settings):
        match glob.split(":"):
            case ["group", connector.capabilities.platform, workspace, own_id] if (
                workspace in workspaces and not is_glob(own_id)
            ):
                groups.append((glob, own_id))
            case _:
                pass
    return groups


async def _groups(
    connector: Connector,
    channels: Sequence[ChannelRef],
    groups: Sequence[tuple[str, str]],
    seconds: float,
) -> list[Finding]:
    """Findings of groups that do not exist; none if they cannot be listed, because then another
    finding reports the missing scope."""
    group_names = connector.abilities.group_names
    if group_names is None:
        return []
    try:
        async with asyncio.timeout(seconds):
            names_by_id = await group_names.by_id({channel.workspace for channel in channels})
    except (BridgeError, TimeoutError):
        return []
    existing = (
        ", ".join(f"{own_id} ({name})" for own_id, name in list(names_by_id.items())[:20]) or "none"
    )
    todo = f"correct it; there are: {existing}"
    return [
        Finding("error", f"{where}: there is no group {own_id!r}", todo)
        for where, own_id in groups
        if own_id not in names_by_id
    ]
