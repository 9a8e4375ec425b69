"""Slack's ids <-> our refs and keys; no other file makes or splits them. Pure.

The `ts` of a message ("1700000000.000100") is its id and unique in its channel; a thread's id is
the `ts` of its first message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bridge.content.text.tree import BroadcastPing, ChannelThere, GroupPing, Ping
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    actor_id_of,
    join_key,
    split_key,
)

PLATFORM: str = "slack"
NOBODY = "unknown"  # Slack does not name the person who deleted a message
SLACKBOT = "USLACKBOT"
_TS = re.compile(r"(\d{1,11})\.(\d{1,6})", re.ASCII)
_IN_LINK = re.compile(r"p?(\d{10})(\d{6})", re.ASCII)  # of a ts: p1700000000000100
_SECONDS = 12  # digits of the padded order key; a ts has 10 until the year 2286
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MARK = "@"  # between a bot and the name it posts under; no Slack id contains it


@dataclass(frozen=True)
class Identity:
    """Our identity in a workspace, as `auth.test` returns it."""

    team: str
    team_name: str
    user: str
    handle: str
    bot: str
    url: str = ""


def channel_ref(team: str, channel: str) -> ChannelRef:
    """The ref of a channel, private channel or direct message; "" is the workspace as a whole."""
    return ChannelRef(platform=PLATFORM, workspace=team, channel=channel)


def is_direct(channel: str) -> bool:
    """Whether the channel is a direct message of two."""
    return channel.startswith("D")


def actor_id(team: str, user: str) -> ActorId:
    """The actor id of a member (U..., W...) or of a bot (B...)."""
    return actor_id_of(PLATFORM, team, user)


def borrowed_name(bot: str, name: str) -> str:
    """The native id of an author whom a bot posts for: a bot and its name, as several people may
    share a bot."""
    return f"{bot}{_MARK}{name}"


def split_actor(actor: ActorId) -> tuple[str, str, str | None] | None:
    """The team, the member or bot, and the name it posts under; None for an actor of another
    platform."""
    segments = split_key(actor)
    if len(segments) != 3 or segments[0] != PLATFORM:
        return None
    native, mark, name = segments[2].partition(_MARK)
    return segments[1], native, name if mark else None


def reference_of(node: Ping | GroupPing | BroadcastPing | ChannelThere) -> str:
    """The control sequence of a mention or a channel, such as `<@U1>`, which notifies or links."""
    match node:
        case Ping(actor, name):
            parts = split_actor(actor)
            return f"<@{parts[1]}>" if parts else f"@{name}"
        case GroupPing(group):
            return f"<!subteam^{split_key(group)[-1]}>"
        case BroadcastPing(range=range_):
            return f"<!{range_}>"
        case ChannelThere(channel):
            return f"<#{split_key(channel)[-1]}>"


def group_key(team: str, group: str) -> str:
    """The key of a user group of a workspace."""
    return join_key(PLATFORM, team, group)


def is_ts(ts: str) -> bool:
    """Whether the text is a Slack timestamp."""
    return _TS.fullmatch(ts) is not None


def order_key(ts: str) -> str:
    """The ts padded with zeros, so that text order is time order. Raises ValueError for an invalid
    ts."""
    seconds, fraction = _parts(ts)
    return f"{seconds:0>{_SECONDS}}.{fraction}"


def order_key_at(seconds: float) -> str:
    """The order key of a moment (seconds since 1970), for payloads without a ts."""
    return order_key(ts_at(max(seconds, 0.0)))


def order_key_before(order: str) -> str:
    """The order key one microsecond before this one."""
    seconds, fraction = _parts(ts_of(order))
    micros = max(int(seconds) * 1_000_000 + int(fraction) - 1, 0)
    return f"{micros // 1_000_000:0>{_SECONDS}}.{micros % 1_000_000:06d}"


def ts_of(order: str) -> str:
    """The ts of an order key; the inverse of `order_key`."""
    seconds, _, fraction = order.partition(".")
    return ".".join(_parts(f"{seconds.lstrip('0') or '0'}.{fraction}"))


def ts_at(seconds: float) -> str:
    """The ts of a moment (seconds since 1970)."""
    return f"{seconds:.6f}"


def time_of(ts: str) -> datetime:
    """The time of a ts. Raises ValueError for an invalid ts."""
    seconds, fraction = _parts(ts)
    return _EPOCH + timedelta(seconds=int(seconds), microseconds=int(fraction))


def post_key(channel: str, ts: str) -> str:
    """The dedupe key of a post: the same for `message`, `app_mention` and history."""
    return join_key("post", channel, ts)


def edit_key(channel: str, ts: str, edited: str, digest: str) -> str:
    """The dedupe key of an edit that was read back; edits within one second have two digests."""
    return join_key("edit", channel, ts, edited, digest)


def reaction_key(channel: str, ts: str, name: str, user: str, at: str) -> str:
    """The dedupe key of a changed reaction that was found by reading the channel back."""
    return join_key("reaction", channel, ts, name, user, at)


def pin_key(kind: str, channel: str, ts: str, since: str) -> str:
    """The dedupe key of a pin, or of its removal, that was found by reading the channel back;
    `since` is when the pin was set."""
    return join_key(kind, channel, ts, since)


def gone_key(channel: str, ts: str) -> str:
    """The dedupe key of a deletion that was found by reading the channel back."""
    return join_key("gone", channel, ts)


def event_key(event_id: str) -> str:
    """The dedupe key of any other event."""
    return join_key("event", event_id)


def payload_key(digest: str) -> str:
    """The dedupe key of a payload without an id: equal bytes are one delivery."""
    return join_key("payload", digest)


def rate_limited_channel(account: AccountId, channel: ChannelRef) -> str:
    """The rate limit key of a channel. Slack limits each app: two apps in one channel have one
    limit each."""
    return join_key(account, channel.channel)


def _parts(ts: str) -> tuple[str, str]:
    match = _TS.fullmatch(ts)
    if not match:
        raise ValueError(f"{ts!r} is no Slack timestamp such as '1700000000.000100'")
    return match[1], match[2].ljust(6, "0")


def ids_in(word: str) -> tuple[str, ...]:
    """The `ts` values that a path segment of a link stands for: Slack omits the dot there."""
    match = _IN_LINK.fullmatch(word)
    return (f"{match[1]}.{match[2]}",) if match else ()
