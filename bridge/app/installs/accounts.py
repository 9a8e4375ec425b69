"""Tenants -> accounts and members of rooms in the settings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bridge.app.settings.installs import RoomTemplateSettings
from bridge.app.settings.rooms import MemberSettings, RoomSettings
from bridge.app.settings.sections import AccountSettings, Settings
from bridge.model.tenants import Tenant
from bridge.ports.installs import InstallableApp

_LONGEST = 62  # characters of a room's name


class TenantMember(MemberSettings):
    """A channel of a tenant in a room: it may be absent until somebody invites the bot."""

    @property
    def is_pattern(self) -> bool:
        return True


def with_tenants(
    settings: Settings, tenants: Iterable[Tenant], apps: Mapping[str, InstallableApp]
) -> Settings:
    """Return the settings with the accounts of the active tenants, and with their channels in the
    rooms of `installs.rooms`. An account of the configuration keeps its name. Pure."""
    active = [one for one in tenants if one.state == "active" and one.platform in apps]
    accounts = dict(settings.accounts)
    for platform, app in apps.items():
        own = [tenant for tenant in active if tenant.platform == platform]
        for name, options in app.accounts(own).items():
            accounts.setdefault(name, AccountSettings(platform=platform, options=options))
    rooms = dict(settings.rooms)
    for name, template in settings.installs.rooms.items():
        platforms = template.platforms or apps
        joining = [tenant for tenant in active if tenant.platform in platforms]
        for room, members in _rooms_of(name, template, joining, apps).items():
            rooms[room] = _with_members(rooms.get(room), members, template)
    return settings.model_copy(update={"accounts": accounts, "rooms": rooms})


def room_of(name: str, template: RoomTemplateSettings, tenant: Tenant) -> str:
    """Return the name of the room that the tenant's channel joins. Pure."""
    if template.scope == "all":
        return name
    own = re.sub(r"[^a-z0-9_-]+", "-", f"{tenant.platform}-{tenant.native_id}".lower())
    return f"{name}-{own}"[:_LONGEST]


def _rooms_of(
    name: str,
    template: RoomTemplateSettings,
    tenants: Sequence[Tenant],
    apps: Mapping[str, InstallableApp],
) -> Mapping[str, list[MemberSettings]]:
    rooms: dict[str, list[MemberSettings]] = {}
    for tenant in tenants:
        account = apps[tenant.platform].account_of(tenant.native_id)
        member = TenantMember(account=account, channel=template.channel, workspace=tenant.native_id)
        rooms.setdefault(room_of(name, template, tenant), []).append(member)
    return rooms


def _with_members(
    room: RoomSettings | None, members: Sequence[MemberSettings], template: RoomTemplateSettings
) -> RoomSettings:
    if room is None:
        return RoomSettings(members=tuple(members), agents=template.agents)
    return room.model_copy(update={"members": (*room.members, *members)})
