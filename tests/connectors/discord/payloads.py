"""Handwritten gateway payloads after Discord's documentation."""

from __future__ import annotations

from typing import Any

import orjson

from bridge.model import AccountId, ChannelRef, Raw
from connectors.discord.ids import channel_ref, order_key

GUILD = "100000000000000001"
CHANNEL = "200000000000000002"
THREAD = "300000000000000003"
ANN = "400000000000000004"
US = "500000000000000005"
APP = "600000000000000006"
HOOK = "700000000000000007"
WHERE = channel_ref(GUILD, CHANNEL)
OWN = {"user": US, "application": APP}


def user(user_id: str = ANN, **changed: Any) -> dict[str, Any]:
    return {
        "id": user_id, "username": "ann", "global_name": "Ann B.", "discriminator": "0",
        "avatar": None, "public_flags": 0,
    } | changed  # fmt: skip


def message(content: Any = "hi", **changed: Any) -> dict[str, Any]:
    return {
        "id": "1300000000000000000", "channel_id": CHANNEL, "guild_id": GUILD, "type": 0,
        "content": content, "author": user(),
        "member": {"nick": "Annie", "roles": [], "joined_at": "2020-01-01T00:00:00+00:00"},
        "timestamp": "2024-10-27T12:00:00.123000+00:00", "edited_timestamp": None, "tts": False,
        "mention_everyone": False, "mentions": [], "mention_roles": [], "attachments": [],
        "embeds": [], "components": [], "pinned": False, "flags": 0,
    } | changed  # fmt: skip


def raw(
    data: Any,
    kind: str = "MESSAGE_CREATE",
    *,
    channel: ChannelRef | None = WHERE,
    own: dict[str, Any] | None = None,
    **more: Any,
) -> Raw:
    wrapped = {"d": data, "own": OWN | (own or {}), "at": 1_730_030_400.0} | more
    return Raw(
        account=AccountId("discord"), kind=kind, dedupe_key="d",
        order_key=order_key("1300000000000000000"), channel=channel,
        payload=orjson.dumps(wrapped),
    )  # fmt: skip
