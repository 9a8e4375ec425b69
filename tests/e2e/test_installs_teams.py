"""Tenants install the Teams bot by themselves; one registration serves them all."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bridge.app.room_changes.patterns import update_rooms
from bridge.model import AccountId, ActorId, RoomId
from bridge.model.room_records import RoomLink
from bridge.model.tenants import TenantId, TenantState
from connectors.teams.sandbox import LocalTeams
from connectors.teams.sandbox.state import Conversation
from tests.e2e.installing import Installing, installing, teams_of
from tests.e2e.local_sandbox import local_sandbox

OTHER = "0d0e0000-0000-4000-8000-0000000000bb"
APP = "bridge"


@dataclass
class Side:
    """One tenant, and the channel General of its first team."""

    teams: LocalTeams

    @property
    def id(self) -> TenantId:
        return TenantId(f"teams:{self.teams.tenant.id}")

    @property
    def general(self) -> Conversation:
        return next(iter(self.teams.tenant.teams.values())).channels[0]

    def install(self) -> None:
        self.teams.install(APP, self.general.id)

    def remove(self) -> None:
        self.teams.uninstall(APP, self.general.id)

    async def say(self, text: str) -> None:
        person = self.general.people[0].id
        await self.teams.post_as(self.teams.tenant.id, self.general.id, person, text)

    def shows(self, text: str) -> bool:
        shown = self.teams.messages(self.teams.tenant.id, self.general.id)
        return any(text in message.text for message in shown)


@asynccontextmanager
async def with_tenants(
    tmp_path: Path, allow: object = "anyone"
) -> AsyncGenerator[tuple[Installing, Side, Side]]:
    """A bridge with a bot for two tenants, of which none has installed it."""
    rooms = {"lounge": {"channel": "General", "scope": "all"}}
    async with local_sandbox(names=("teams",)) as local:
        first = teams_of(local)
        second = first.add_tenant(OTHER, "Hillside Works")
        async with installing(local, tmp_path, teams=True, rooms=rooms, allow=allow) as here:
            yield here, Side(first), Side(second)


def members(here: Installing) -> int:
    return sum(len(room.members) for room in here.bridge.rooms.all)


async def state(here: Installing, side: Side) -> TenantState | None:
    tenant = await here.bridge.store.tenant(side.id)
    return tenant and tenant.state


async def test_two_tenants_install_the_bot_and_are_relayed(tmp_path: Path) -> None:
    async with with_tenants(tmp_path) as (here, first, second):
        first.install()
        second.install()
        await here.local.until(lambda: members(here) == 2)
        await first.say("hello from Lakeside")
        await here.local.until(lambda: second.shows("hello from Lakeside"))
        await second.say("hello from Hillside")
        await here.local.until(lambda: first.shows("hello from Hillside"))

        assert list(here.bridge.connectors) == ["teams"]
        tenant = await here.bridge.store.tenant(second.id)
        assert tenant is not None
        assert tenant.installed_by


async def test_removing_the_bot_from_the_last_team_ends_the_tenant(tmp_path: Path) -> None:
    async with with_tenants(tmp_path) as (here, first, second):
        first.install()
        second.install()
        await here.local.until(lambda: members(here) == 2)
        second.remove()
        await here.local.until(lambda: members(here) == 1)
        ended = await state(here, second)
        second.install()
        await here.local.until(lambda: members(here) == 2)
        await first.say("welcome back")
        await here.local.until(lambda: second.shows("welcome back"))

        assert ended == "ended"


async def test_a_tenant_that_is_not_allowed_is_not_heard(tmp_path: Path) -> None:
    async with with_tenants(tmp_path, allow=[OTHER]) as (here, first, second):
        first.install()
        await first.say("unheard")
        second.install()
        await here.local.until(lambda: members(here) == 1)

        assert await state(here, first) is None
        assert [member.channel.workspace for member in here.bridge.rooms.all[0].members] == [OTHER]


async def test_the_page_offers_the_app_package_and_the_way_to_an_admin(tmp_path: Path) -> None:
    async with with_tenants(tmp_path) as (here, _, _):
        page = await here.browser.get("/oauth/teams/install")
        package = await here.browser.get("/oauth/teams/package.zip")

        assert "/oauth/teams/package.zip" in page.text
        assert "admin.teams.microsoft.com" in page.text
        assert "manifest.json" in zipfile.ZipFile(io.BytesIO(package.content)).namelist()


async def test_a_suspended_tenant_leaves_also_the_rooms_that_a_command_linked(
    tmp_path: Path,
) -> None:
    async with with_tenants(tmp_path) as (here, first, second):
        first.install()
        second.install()
        await here.local.until(lambda: members(here) == 2)
        team = next(iter(second.teams.tenant.teams.values()))
        channel = here.bridge.rooms.all[0].members[1].channel
        random = channel.model_copy(update={"channel": team.channels[1].id})
        account, by = AccountId("teams"), ActorId("teams:x:y")
        link = RoomLink(RoomId("lounge"), account, random, linked=True, by=by, at=1.0)
        await here.bridge.store.link_channel(link)
        await update_rooms(here.bridge)
        linked = members(here)
        tenant = await here.bridge.store.tenant(second.id)
        assert tenant is not None
        await here.bridge.installs.set_state(tenant, "suspended")
        await here.local.until(lambda: members(here) == 1)

        assert linked == 3
