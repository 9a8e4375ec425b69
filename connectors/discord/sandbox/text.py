"""Message text: its mentions, and the text as a user reads it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.rich.components import TEXT, walk
from connectors.discord.sandbox.state import Channel, Guild, Message, State, User

_CODE = r"```.*?```|``.*?``|`[^`\n]*`"
_TOKENS = re.compile(
    _CODE
    + r"|<@!?(?P<user>\d{1,20})>|<@&(?P<role>\d{1,20})>|<#(?P<channel>\d{1,20})>"
    + r"|<a?:(?P<emoji>\w{2,32}):\d{1,20}>|(?P<everyone>@everyone|@here)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Allowed:
    """`allowed_mentions`: which mentions in a text may ping."""

    users: frozenset[int] | None = None  # None: all
    roles: frozenset[int] | None = None
    everyone: bool = True
    replied_user: bool = True


ALL_MENTIONS = Allowed()
# Webhooks and interactions parse users only (docs: resources/message, allowed mentions).
USERS_ONLY = Allowed(roles=frozenset(), everyone=False)


def allowed_from(mentions: Mapping[str, Any] | None, default: Allowed) -> Allowed:
    """Return the `allowed_mentions` of a request whose form has been checked."""
    if mentions is None:
        return default
    parse = mentions.get("parse") or []
    return Allowed(
        users=None if "users" in parse else _ids(mentions.get("users")),
        roles=None if "roles" in parse else _ids(mentions.get("roles")),
        everyone="everyone" in parse,
        replied_user=bool(mentions.get("replied_user", False)),
    )


def find_mentions(
    message: Message, state: State, allowed: Allowed, replied_to: User | None = None
) -> None:
    """Set the mention fields of a message from its content."""
    users: dict[int, User] = {}
    roles: list[int] = []
    everyone = False
    for token in _TOKENS.finditer(_all_text(message)):
        if token["user"] and (user := state.users.get(int(token["user"]))):
            users[user.id] = user
        elif token["role"]:
            roles.append(int(token["role"]))
        everyone = everyone or bool(token["everyone"])
    # Only members that were pinged are listed (discord-api-docs #979, #2126).
    members_here = (
        message.channel.guild.members if message.channel.guild else message.channel.recipients
    )
    pinged = members_here if allowed.users is None else allowed.users
    message.mentions = [u for u in users.values() if u.id in members_here and u.id in pinged]
    if replied_to and allowed.replied_user and replied_to not in message.mentions:
        message.mentions.append(replied_to)
    message.mention_roles = _pinged_roles(message.channel.guild, roles, allowed)
    message.mention_everyone = everyone and allowed.everyone and _may_ping_all(message)


def read_text(content: str, guild: Guild | None, state: State) -> str:
    """Return a text as a user reads it: `<@1>` becomes `@Ana`, `<#2>` becomes `#general`."""
    if "<" not in content:
        return content

    def readable(token: re.Match[str]) -> str:
        if token["user"]:
            return _readable_user(int(token["user"]), guild, state) or token[0]
        if token["role"]:
            role = guild.roles.get(int(token["role"])) if guild else None
            return f"@{role.name}" if role else "@deleted-role"
        if token["channel"]:
            channel = state.channels.get(int(token["channel"]))
            return f"#{channel.name}" if channel else "#deleted-channel"
        return f":{token['emoji']}:" if token["emoji"] else token[0]

    return _TOKENS.sub(readable, content)


def _all_text(message: Message) -> str:
    """Return the content and the texts of V2 components, whose mentions also ping."""
    if not message.components:
        return message.content
    texts = [c["content"] for c in walk(message.components) if c["type"] == TEXT]
    return "\n".join([message.content, *texts])


def _readable_user(user_id: int, guild: Guild | None, state: State) -> str | None:
    if guild and (member := guild.members.get(user_id)):
        return f"@{member.display_name}"
    user = state.users.get(user_id)
    return f"@{user.display_name}" if user else None


def _ids(ids: Any) -> frozenset[int]:
    return frozenset(int(item) for item in ids or ())


def _pinged_roles(guild: Guild | None, roles: list[int], allowed: Allowed) -> list[int]:
    known_roles = guild.roles if guild else {}
    mentioned_roles = dict.fromkeys(role for role in roles if role in known_roles)
    return [role for role in mentioned_roles if allowed.roles is None or role in allowed.roles]


def _may_ping_all(message: Message) -> bool:
    channel: Channel = message.channel
    if channel.guild is None:
        return False
    if message.webhook_id is not None:
        return True
    return bool(permissions_in(channel, message.author.id) & Permission.MENTION_EVERYONE)
