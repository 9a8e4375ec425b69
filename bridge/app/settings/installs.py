"""Settings of apps that many workspaces install by themselves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bridge.app.settings.agent_memberships import MembershipSettings
from bridge.app.settings.quotas import QuotaSettings
from bridge.app.settings.strict import NativeId, StrictSettings


class TenantLimitSettings(StrictSettings):
    """What one tenant may use, so that it cannot use up the whole."""

    messages_per_minute: int | None = Field(
        default=None,
        ge=1,
        description="Messages, edits and reactions of a tenant that the bridge carries in a "
        "minute; more of them wait, and the channel is told once. null: no limit.",
    )
    quota: QuotaSettings = Field(
        default=QuotaSettings(), description="What agents may cost for the people of a tenant."
    )


class RoomTemplateSettings(StrictSettings):
    """A room that channels of tenants join by their name."""

    channel: Annotated[NativeId, Field(min_length=1)] = Field(
        description="The channel of each tenant: a name or a glob of names; it joins as soon as "
        "the bot is in it."
    )
    scope: Literal["all", "tenant"] = Field(
        default="tenant",
        description="all: the channels of all tenants are one room, of this name; tenant: each "
        "tenant has a room of its own, named NAME-TENANT.",
    )
    platforms: tuple[str, ...] = Field(
        default=(), description="Only tenants of these platforms; []: all."
    )
    agents: tuple[MembershipSettings, ...] = Field(
        default=(),
        description="The room's agents; a room of this name under `rooms` has its own.",
    )


class InstallSettings(StrictSettings):
    """Settings of installations by OAuth: one app, many workspaces (tenants)."""

    apps: dict[str, Any] = Field(
        default={},
        description="The apps by their platform: slack, discord, teams; the platform's connector "
        "validates the keys of each.",
    )
    allow: Literal["anyone", "approval"] | tuple[NativeId, ...] = Field(
        default="approval",
        description="Who may install the apps: anyone; approval: everybody, and an operator "
        "approves each (`uacs-bridge tenants approve`); or a list of the platforms' ids of "
        "workspaces.",
    )
    rooms: dict[str, RoomTemplateSettings] = Field(
        default={}, description="Rooms that channels of tenants join, by a name of your choice."
    )
    limits: TenantLimitSettings = Field(
        default=TenantLimitSettings(),
        description="What each tenant may use; `uacs-bridge tenants limit` gives one its own.",
    )
