"""IRC names, message ids and times <-> our refs and keys: made and split here alone. Pure."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime

from bridge.model import ActorId, ChannelRef, MessageId, OperationId, actor_id_of, split_key

PLATFORM: str = "irc"
NETSPLIT = "*netsplit"  # the actor of a netsplit, which no nick can be
SERVER = "*server"

_MADE = "~"  # begins the ids that we make; msgids of servers are left as they are
_DIGITS = 14
_SLOTS_OF_A_CORRECTION = 10_000
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?\d*Z")


def lower(name: str) -> str:
    """ASCII letters alone, so that a name in the configuration gives the same ref on every
    network, before its case mapping is known."""
    return "".join(
        chr(ord(character) + 32) if "A" <= character <= "Z" else character for character in name
    )


def channel_ref(network: str, name: str) -> ChannelRef:
    """A channel, or the direct messages of the person with this nick."""
    return ChannelRef(platform=PLATFORM, workspace=network, channel=lower(name))


def direct_ref(network: str, nick: str, account: str = "") -> ChannelRef:
    """The direct messages of a person. With an account they follow it (`=account`): somebody else
    may have the nick tomorrow."""
    native = native_actor(nick, account)
    return channel_ref(network, nick if native.startswith("~") else f"={native}")


def account_in(channel: ChannelRef) -> str | None:
    """The account whose direct messages these are; None where they are a nick's."""
    return channel.channel[1:] if channel.channel.startswith("=") else None


def is_direct(channel: ChannelRef) -> bool:
    return channel.channel[:1] not in "#&+!"


def native_actor(nick: str, account: str = "") -> str:
    """The services account if the server named one, else `~nick`: a nick proves nothing."""
    return lower(account) if account not in ("", "*", "0") else f"~{lower(nick)}"


def actor_id(network: str, nick: str, account: str = "") -> ActorId:
    return actor_id_of(PLATFORM, network, native_actor(nick, account))


def split_actor(actor: ActorId) -> tuple[str, str] | None:
    """Network and native actor; None for an actor of another platform."""
    segments = split_key(actor)
    return (segments[1], segments[2]) if len(segments) == 3 and segments[0] == PLATFORM else None


# --- times ------------------------------------------------------------------------------------


def milliseconds_of(server_time: str) -> int | None:
    """The value of a `time` tag in milliseconds since 1970; None where it is not one."""
    match = _TIME.fullmatch(server_time)
    if match is None:
        return None
    *parts, fraction = match.groups()
    try:
        at = datetime(*map(int, parts), tzinfo=UTC)  # pyright: ignore[reportArgumentType]
    except ValueError:
        return None
    return int(at.timestamp()) * 1000 + int((fraction or "0").ljust(3, "0")[:3])


def server_time(milliseconds: int) -> str:
    """`2026-11-25T22:11:00.123Z`, as CHATHISTORY takes it."""
    at = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


# --- messages ---------------------------------------------------------------------------------


def made_id(milliseconds: int, nick: str, text: str, number: int = 0) -> str:
    """The id of a message without a msgid. It is the same whenever the server sends the message
    with the same time; `number` tells equal messages of one millisecond apart."""
    digest = hashlib.sha256(f"{lower(nick)}\0{text}".encode("utf-8", "replace")).digest()
    mark = base64.urlsafe_b64encode(digest[:9]).decode()
    return f"{_MADE}{milliseconds}-{lower(nick)}-{mark}{f'-{number}' if number else ''}"


def is_made(native_id: str) -> bool:
    return native_id.startswith(_MADE)


def made_at(native_id: str) -> int | None:
    """The time in an id that we made, in milliseconds."""
    written = native_id.removeprefix(_MADE).partition("-")[0]
    return int(written) if is_made(native_id) and written.isdecimal() else None


def order_key(milliseconds: int, number: int, native_id: str = "") -> str:
    """A key that sorts in the server's order; `number` counts the lines of one millisecond."""
    return f"{milliseconds:0{_DIGITS}d}:{number:04d}:{native_id}"


def time_in(order: str) -> int:
    """The milliseconds of an order key; 0 where it has none."""
    written = order.partition(":")[0]
    return int(written) if written.isdecimal() else 0


def message_in(order: str) -> str:
    """The native id in an order key; empty where it has none."""
    return order.split(":", 2)[2] if order.count(":") >= 2 else ""


def correction_slot(edit: OperationId) -> int:
    """Return the first slot of the lines that an edit posts.

    It depends on the operation alone: an attempt that continues an interrupted edit finds the lines
    that exist, and another edit of the message has other slots.
    """
    digest = hashlib.sha256(str(edit).encode("utf-8", "replace")).digest()
    return (int.from_bytes(digest[:4], "big") + 1) * _SLOTS_OF_A_CORRECTION


def card_code(message: MessageId | str) -> str:
    """Three letters by which people name one card among several; never a word of digits."""
    digest = hashlib.sha256(str(message).encode("utf-8", "replace")).digest()
    return (
        base64.b32encode(digest).decode().lower().translate(str.maketrans("234567", "uvwxyz"))[:3]
    )
