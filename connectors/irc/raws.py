"""Lines of the server -> inbox rows, the same for a message received live and read back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from bridge.model import AccountId, ActorId, ChannelRef, Echo, OperationId, Raw, Receipt
from connectors.irc import ids
from connectors.irc.wire import Line, reserialised

MESSAGES = ("PRIVMSG", "NOTICE")
_MAX_WORDS = 400  # of a message in which nicks are looked for


@dataclass
class Order:
    """Numbers the lines of one millisecond, so that keys sort in the server's order."""

    _at: int = 0
    _number: int = -1
    _made: dict[str, int] = field(default_factory=dict[str, int])

    def next(self, at: int) -> int:
        if at != self._at:
            self._at, self._number = at, -1
            self._made.clear()
        self._number += 1
        return self._number

    def repeats(self, made_id: str) -> int:
        """How often this id was made before, within the same millisecond."""
        self._made[made_id] = self._made.get(made_id, -1) + 1
        return self._made[made_id]


@dataclass(frozen=True)
class Sent:
    """Which call of ours a line is the echo of."""

    operation: OperationId
    slot: int


@dataclass(frozen=True)
class RawBuilder:
    """Makes the rows of one account. `network` is the workspace of its channels."""

    account: AccountId
    network: str

    def message(
        self,
        line: Line,
        channel: ChannelRef,
        order: Order,
        *,
        now: float,
        us: str = "",
        sent: Sent | None = None,
        people: Mapping[str, str] | None = None,
    ) -> Raw:
        """A PRIVMSG or NOTICE. `sent`: it is our own; `people`: nick -> native actor of who may
        be addressed in it."""
        at = time_of(line, now)
        native_id, number = self.identify(line, at, order)
        words: dict[str, Any] = {"id": native_id, "us": us, "people": dict(people or {})}
        if sent is not None:
            words |= {"own": True, "operation": sent.operation, "slot": sent.slot}
        echo = None
        if sent is not None:
            receipt = Receipt(slot=sent.slot, native_id=native_id)
            echo = Echo(operation=sent.operation, receipt=receipt)
        return self._raw(
            line, line.command, f"message:{native_id}", ids.order_key(at, number, native_id),
            channel, at, words, echo=echo,
        )  # fmt: skip

    @staticmethod
    def identify(line: Line, at: int, order: Order) -> tuple[str, int]:
        """The message's native id, and its number within its millisecond."""
        number = order.next(at)
        if msgid := line.tags.get("msgid", ""):
            return msgid, number
        made = ids.made_id(at, line.nick, line.last)
        repeats = order.repeats(made)
        return (ids.made_id(at, line.nick, line.last, repeats) if repeats else made), number

    def event(
        self,
        line: Line,
        channel: ChannelRef,
        order: Order,
        *,
        now: float,
        us: str = "",
        own: bool = False,
        volatile: bool = False,
        **more: Any,
    ) -> Raw:
        """Everything that is no message: joins, topics, reactions, redactions."""
        at = time_of(line, now)
        number = order.next(at)
        mark = line.tags.get("msgid") or f"{at}:{number}:{line.nick}"
        kind = str(more.pop("kind", line.command))
        words = {"us": us, "own": own, **more}
        key = ids.order_key(at, number, "~event")
        return self._raw(
            line, kind, f"{kind}:{channel.channel}:{mark}", key, channel, at, words,
            volatile=volatile,
        )  # fmt: skip

    def _raw(
        self,
        line: Line,
        kind: str,
        dedupe_key: str,
        order_key: str,
        channel: ChannelRef,
        at: int,
        words: Mapping[str, Any],
        *,
        echo: Echo | None = None,
        volatile: bool = False,
    ) -> Raw:
        payload = {"line": reserialised(line), "at": at / 1000, **words}
        return Raw(
            account=self.account, kind=kind, dedupe_key=dedupe_key, order_key=order_key,
            channel=channel, echo=echo, volatile=volatile, payload=orjson.dumps(payload),
        )  # fmt: skip

    def actor(self, nick: str, account: str = "") -> ActorId:
        return ids.actor_id(self.network, nick, account)


def time_of(line: Line, now: float) -> int:
    """The time of the line in milliseconds: the server's, if it sends one."""
    server_time = ids.milliseconds_of(line.tags.get("time", ""))
    return int(now * 1000) if server_time is None else server_time


def nicks_in(text: str, members: Mapping[str, str], fold: Any) -> list[str]:
    """Nicks of members that a text may address: its first word, and words with an @."""
    nicks: dict[str, None] = {}
    for number, word in enumerate(text.split()[:_MAX_WORDS]):
        if number and not word.startswith("@"):
            continue
        bare = word.lstrip("@").rstrip(",:;.!?")
        if (nick := members.get(fold(bare))) is not None:
            nicks[nick] = None
    return list(nicks)
