"""Interactions -> JSON for the gateway. Pure."""

from __future__ import annotations

from typing import Any

from connectors.discord.sandbox.permissions import permissions_in
from connectors.discord.sandbox.shapes import (
    Json,
    channel_json,
    member_json,
    message_json,
    role_json,
    user_json,
)
from connectors.discord.sandbox.state import Channel, Interaction, State

_LOCALE = "en-US"


def interaction_json(interaction: Interaction, state: State) -> Json:
    """Return the data of INTERACTION_CREATE (docs: interactions/receiving-and-responding)."""
    channel, guild = interaction.channel, interaction.channel.guild
    shape: Json = {
        "id": str(interaction.id),
        "application_id": str(interaction.app.id),
        "type": interaction.kind,
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel_id": str(channel.id),
        "channel": channel_json(channel, interaction.app.user.id)
        | {"permissions": _permissions(channel, interaction.user.id)},
        "app_permissions": _permissions(channel, interaction.app.user.id),
        "locale": _LOCALE,
        "entitlements": [],
        "entitlement_sku_ids": [],
        "authorizing_integration_owners": owners(interaction),
        "context": 0 if guild else 1,
        "attachment_size_limit": guild.largest_file if guild else 10 << 20,
    }
    if interaction.source is not None:
        shape["message"] = message_json(interaction.source, state)
    if guild is None:
        return shape | {"user": user_json(interaction.user)}
    member = guild.members[interaction.user.id]
    return shape | {
        "guild_id": str(guild.id),
        "guild": {"id": str(guild.id), "locale": _LOCALE, "features": []},
        "guild_locale": _LOCALE,
        "member": member_json(member) | {"permissions": shape["channel"]["permissions"]},
    }


def owners(interaction: Interaction) -> Json:
    guild = interaction.channel.guild
    return {"0": str(guild.id) if guild else "0"}


def metadata_json(interaction: Interaction) -> Json:
    """Return the `interaction_metadata` of a message that answers an interaction."""
    shape: Json = {
        "id": str(interaction.id), "type": interaction.kind, "user": user_json(interaction.user),
        "authorizing_integration_owners": owners(interaction),
    }  # fmt: skip
    if interaction.source is not None and interaction.kind == 3:
        shape["interacted_message_id"] = str(interaction.source.id)
    return shape


def resolved_json(kind: int, values: list[str], channel: Channel, state: State) -> Json:
    """Return the `resolved` data of a menu of users, roles or channels."""
    guild = channel.guild
    users = [u for v in values if (u := state.users.get(int(v)))] if kind in (5, 7) else []
    resolved: dict[str, Any] = {}
    if users:
        resolved["users"] = {str(user.id): user_json(user) for user in users}
        members = [m for u in users if guild and (m := guild.members.get(u.id))]
        resolved["members"] = {str(m.user.id): member_json(m, user=False) for m in members}
    if kind in (6, 7) and guild:
        roles = [role for v in values if (role := guild.roles.get(int(v)))]
        resolved["roles"] = {str(role.id): role_json(role) for role in roles}
    if kind == 8:
        channels = [c for v in values if (c := state.channels.get(int(v)))]
        resolved["channels"] = {str(c.id): channel_json(c) for c in channels}
    return {name: of_kind for name, of_kind in resolved.items() if of_kind}


def _permissions(channel: Channel, user_id: int) -> str:
    return str(int(permissions_in(channel, user_id)))
