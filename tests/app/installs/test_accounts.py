"""Tenants become accounts and members of rooms in the settings."""

from __future__ import annotations

from typing import Any

from bridge.app.installs.accounts import with_tenants
from bridge.app.installs.desk import build_installs
from bridge.app.settings.file import settings_of
from bridge.app.settings.secrets import SecretReader
from bridge.app.settings.sections import Settings
from bridge.model.tenants import Tenant, TenantState, tenant_id
from bridge.store import SqliteStore
from bridge.testing.clock import ManualClock

APP = {
    "client_id": "1.2",
    "client_secret": {"env": "SLACK_CLIENT_SECRET"},
    "signing_secret": {"env": "SLACK_SIGNING_SECRET"},
}


def tenant(native_id: str, state: TenantState = "active") -> Tenant:
    own_id = tenant_id("slack", native_id)
    return Tenant(own_id, "slack", native_id, native_id.title(), "U1", 1.0, state)


def settings_with(tenants: list[Tenant], templates: dict[str, Any], **others: Any) -> Settings:
    settings = settings_of(
        {
            "agents": {"echo": {"kind": "echo"}},
            "installs": {"apps": {"slack": APP}, "rooms": templates},
            "web": {"public_url": "https://bridge.example.org"},
            **others,
        }
    )
    clock = ManualClock()
    store = SqliteStore.in_memory(clock)
    installs = build_installs(settings, store, clock, SecretReader(store), lambda: settings)
    return with_tenants(settings, tenants, installs.apps)


def members(settings: Settings) -> dict[str, list[tuple[str, str, str | None]]]:
    return {
        name: [(member.account, member.channel, member.workspace) for member in room.members]
        for name, room in settings.rooms.items()
    }


def test_only_active_tenants_have_accounts() -> None:
    states: tuple[TenantState, ...] = ("active", "waiting", "suspended", "ended")
    settings = settings_with([tenant(f"T{state}", state) for state in states], {})

    assert list(settings.accounts) == ["slack-tactive"]
    assert settings.accounts["slack-tactive"].options.bot_token.sealed == (
        "tenant:bot_token:slack:Tactive"
    )


def test_each_tenant_has_a_room_of_its_own() -> None:
    template = {"channel": "support", "agents": [{"agent": "echo"}]}
    settings = settings_with([tenant("T1"), tenant("T2")], {"support": template})

    assert members(settings) == {
        "support-slack-t1": [("slack-t1", "support", "T1")],
        "support-slack-t2": [("slack-t2", "support", "T2")],
    }
    assert settings.rooms["support-slack-t1"].agents[0].agent == "echo"


def test_all_tenants_share_a_room_beside_the_channels_of_the_file() -> None:
    shared = {"lounge": {"channel": "general", "scope": "all"}}
    account = {"own": {"platform": "slack", "bot_token": {"env": "A"}, "app_token": {"env": "B"}}}
    room = {"lounge": {"members": [{"account": "own", "channel": "C1"}]}}
    settings = settings_with([tenant("T1"), tenant("T2")], shared, accounts=account, rooms=room)

    assert members(settings) == {
        "lounge": [
            ("own", "C1", None), ("slack-t1", "general", "T1"), ("slack-t2", "general", "T2"),
        ]
    }  # fmt: skip


def test_a_template_takes_only_tenants_of_its_platforms() -> None:
    template = {"channel": "general", "platforms": ["discord"]}

    assert members(settings_with([tenant("T1")], {"lounge": template})) == {}
