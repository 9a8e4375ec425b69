"""Roles and overwrites -> permission bits. Pure (docs: topics/permissions)."""

from __future__ import annotations

from enum import IntFlag

from connectors.discord.sandbox.state import Channel, Guild, Member


class Permission(IntFlag):
    """The permissions that the local Discord checks."""

    MANAGE_CHANNELS = 1 << 4
    ADMINISTRATOR = 1 << 3
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    PIN_MESSAGES = 1 << 51
    USE_EXTERNAL_EMOJIS = 1 << 18
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


ALL = (1 << 53) - 1
EVERYONE = (
    Permission.ADD_REACTIONS | Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS | Permission.ATTACH_FILES | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_EXTERNAL_EMOJIS | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.USE_APPLICATION_COMMANDS
)  # fmt: skip
BRIDGE = EVERYONE | Permission.MANAGE_WEBHOOKS | Permission.MANAGE_MESSAGES | (
    Permission.MANAGE_THREADS | Permission.MANAGE_CHANNELS | Permission.MENTION_EVERYONE
    | Permission.PIN_MESSAGES
)  # fmt: skip
IN_A_DM = EVERYONE & ~(Permission.CREATE_PUBLIC_THREADS | Permission.CREATE_PRIVATE_THREADS)


def guild_permissions(guild: Guild, member: Member) -> int:
    """Return a member's permission bits in the guild, without channel overwrites."""
    if guild.owner_id == member.user.id:
        return ALL
    granted = guild.roles[guild.id].permissions
    for role in member.roles:
        granted |= guild.roles[role].permissions
    return ALL if granted & Permission.ADMINISTRATOR else granted


def permissions_in(channel: Channel, user_id: int) -> int:
    """Return a user's permission bits in a channel; a thread has those of its parent."""
    if channel.guild is None:
        return int(IN_A_DM) if user_id in channel.recipients else 0
    member = channel.guild.members.get(user_id)
    if member is None:
        return 0
    granted = guild_permissions(channel.guild, member)
    if granted == ALL:
        return ALL
    granted = _overwritten(granted, channel.parent if channel.thread else channel, member)
    if not granted & Permission.VIEW_CHANNEL or _is_hidden(channel, user_id, granted):
        return 0
    return granted


def _overwritten(granted: int, channel: Channel | None, member: Member) -> int:
    overwrites = channel.overwrites if channel and channel.overwrites else None
    if channel is None or overwrites is None or channel.guild is None:
        return granted
    if everyone := overwrites.get(channel.guild.id):
        granted = granted & ~everyone.deny | everyone.allow
    of_roles = [overwrites[role] for role in member.roles if role in overwrites]
    for overwrite in of_roles:
        granted &= ~overwrite.deny
    for overwrite in of_roles:
        granted |= overwrite.allow
    if own := overwrites.get(member.user.id):
        granted = granted & ~own.deny | own.allow
    return granted


def _is_hidden(channel: Channel, user_id: int, granted: int) -> bool:
    if channel.thread is None or not channel.is_private_thread:
        return False
    return user_id not in channel.thread.members and not granted & Permission.MANAGE_THREADS
