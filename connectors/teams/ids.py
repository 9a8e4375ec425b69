"""Native ids <-> refs and keys; no other file makes or splits them. Pure.

Message ids are milliseconds since 1970 and unique in their conversation only, so every key
names the conversation too.
"""

from __future__ import annotations

from hashlib import sha256

from bridge.model import ActorId, ChannelRef, Place, actor_id_of, join_key, split_key

PLATFORM: str = "teams"
_THREAD_MARK = ";messageid="
_WITH_THREADS = ("@thread.tacv2", "@thread.skype")  # channels; chats have no reply chains
_ORDER_DIGITS = 20


def split_conversation(conversation: str) -> tuple[str, str | None]:
    """Split `19:a@thread.tacv2;messageid=17` into (`19:a@thread.tacv2`, `17`); chats (id, None)."""
    bare, _, root = conversation.partition(_THREAD_MARK)
    return bare, root or None


def conversation_of(channel: ChannelRef, thread: str | None) -> str:
    """Return the id of the conversation to post to; chats have no threads and ignore `thread`."""
    if thread is None or not has_threads(channel):
        return channel.channel
    return f"{channel.channel}{_THREAD_MARK}{thread}"


def has_threads(channel: ChannelRef) -> bool:
    """Return whether it is a channel; chats have no reply chains."""
    return channel.channel.endswith(_WITH_THREADS)


def is_conversation(text: str) -> bool:
    """Return whether it is the id of a channel, a group chat (`19:`) or a personal chat (`a:`)."""
    return text.startswith(("19:", "a:"))


def is_personal(channel: ChannelRef) -> bool:
    """Return whether it is the chat of one person with the bot."""
    return channel.channel.startswith("a:")


def channel_ref(tenant: str, conversation: str) -> ChannelRef:
    return ChannelRef(
        platform=PLATFORM, workspace=tenant, channel=split_conversation(conversation)[0]
    )


def place_of(tenant: str, conversation: str, message: str) -> Place:
    """Return the place of a message.

    The conversation of a root post has the id of the post itself, which is no thread.
    """
    channel = channel_ref(tenant, conversation)
    root = split_conversation(conversation)[1]
    in_thread = root is not None and root != message and has_threads(channel)
    return Place(channel=channel, thread=root if in_thread else None)


def actor_id(tenant: str, account: str) -> ActorId:
    return actor_id_of(PLATFORM, tenant, account)


def split_actor(actor: ActorId) -> tuple[str, str]:
    """Return (tenant, account), the inverse of `actor_id`."""
    _platform, tenant, account = split_key(actor)
    return tenant, account


def bot_account(app_id: str) -> str:
    """Return the account id of a bot: `28:` and its app id."""
    return f"28:{app_id}"


def is_bot(account: str) -> bool:
    return account.startswith("28:")


def is_own_account(account: str, app_id: str) -> bool:
    """Return whether an account id, with or without `28:`, is that of the bot."""
    return account.removeprefix("28:").lower() == app_id.lower()


def dedupe_key(kind: str, conversation: str, activity: str, time: str, payload: bytes) -> str:
    """Return the key by which the inbox drops repeated activities.

    An id has one post, but may have several later activities, each with a time of its own.
    """
    if not activity:
        return join_key(kind, conversation, sha256(payload).hexdigest())
    if kind == "message":
        return join_key(kind, conversation, activity)
    return join_key(kind, conversation, activity, time)


def order_key(milliseconds: int) -> str:
    return f"{max(milliseconds, 0):0{_ORDER_DIGITS}d}"


def milliseconds_of(message: str) -> int | None:
    """Return the milliseconds since 1970 in a message id; None for ids of other forms."""
    looks_right = message.isascii() and message.isdigit() and 12 <= len(message) <= 14
    return int(message) if looks_right else None
