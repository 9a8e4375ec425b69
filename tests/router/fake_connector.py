"""A connector to a fake platform: its channels are lists, and tests inject faults."""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel

from bridge.content.messages.parts import message_text
from bridge.errors import UndecodableEvent
from bridge.model import (
    EVENT,
    AccountId,
    ActorId,
    Call,
    Capabilities,
    ChannelRef,
    DeleteMessage,
    Delivery,
    Echo,
    Encoded,
    Event,
    Level,
    Loss,
    MessageDeleted,
    MessageEdited,
    MessagePinned,
    MessagePosted,
    MessagesBulkDeleted,
    MessageUnpinned,
    Operation,
    OperationId,
    Person,
    PinMessage,
    Place,
    PostMessage,
    Rate,
    RateLimitKey,
    Raw,
    ReactionAdded,
    ReactionOrPin,
    ReactionRemoved,
    ReactionsCleared,
    Receipt,
    UnpinMessage,
    actor_id_of,
    message_id_of,
)
from bridge.ports.abilities import Abilities
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from bridge.uacs import Actor, Message, TextPart


@dataclass
class Post:
    """A message of a fake channel."""

    id: str
    author: str
    text: str
    thread: str | None
    operation: str | None
    reactions: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])  # emoji, who
    pinned: bool = False

    def emoji(self, who: str = "us") -> set[str]:
        return {emoji for emoji, one in self.reactions if one == who}


class FakeConnector:
    """Keeps the Connector port, without history; `before_send` is where tests do harm."""

    def __init__(
        self,
        account: str,
        clock: Clock,
        *,
        echo: bool = False,
        rate_limits: dict[str, tuple[Rate, ...]] | None = None,
    ) -> None:
        self.account = AccountId(account)
        self.own_name = ""
        self.capabilities = Capabilities(
            platform="fake",
            features={"threads": Level.FULL},
            text_limit=100,
            text_unit="characters",
            echo=echo,
            history=False,
            stream_pace=1.0,
            rate_limits=rate_limits or {},
        )
        self.abilities = self.own_abilities()
        self.channels: defaultdict[str, list[Post]] = defaultdict(list)
        self.sent: list[tuple[float, str, str]] = []  # (when, channel, text)
        self.marked: list[tuple[str, str]] = []  # method, emoji
        self.unknown_emoji: frozenset[str] = frozenset()
        self.pins = True
        self.before_send: Callable[[Call], object] | None = None
        self.after_send: Callable[[Call], object] | None = None
        self.inbox: Inbox | None = None
        self._clock = clock
        self._ids = itertools.count(1)

    def own_abilities(self) -> Abilities:
        """Subclasses that can do more replace fields, with themselves."""
        return Abilities(people=self, reactions=self)

    async def person(self, actor: ActorId) -> Person | None:
        return None

    def channel(self, name: str) -> ChannelRef:
        return ChannelRef(platform="fake", workspace=self.account, channel=name)

    async def run(self, inbox: Inbox) -> None:
        self.inbox = inbox
        inbox.session_began(self.account)
        await asyncio.Event().wait()

    def raw(self, channel: str, text: str, **more: str | bool | float | None) -> Raw:
        """A post as it would be handed over, written into the channel."""
        number = f"{next(self._ids):06d}"
        author = str(more.pop("author", "ann"))
        thread = more.pop("thread", None)
        post = Post(number, author, text, str(thread) if thread else None, None)
        self.channels[channel].append(post)
        payload = {"id": number, "author": author, "text": text, "thread": thread, **more}
        return Raw(
            account=self.account,
            kind="post",
            dedupe_key=number,
            order_key=number,
            channel=self.channel(channel),
            echo=Echo() if more.get("own") and self.capabilities.echo else None,
            payload=orjson.dumps(payload),
        )

    async def say(self, channel: str, text: str, **more: str | float | bool | None) -> str:
        """A person says something; gives its native id."""
        if self.inbox is None:
            raise RuntimeError("nobody listens: start the router first")
        raw = self.raw(channel, text, **more)
        await self.inbox.accept(raw)
        return raw.dedupe_key

    async def edit(self, channel: str, native_id: str, text: str, **more: str | float) -> None:
        """A person edits a post; `at` is the platform's time of it."""
        post = next(p for p in self.channels[channel] if p.id == native_id)
        post.text = text
        await self._tell(channel, "edit", id=native_id, author=post.author, text=text, **more)

    async def delete(self, channel: str, *native_ids: str, **more: str | float) -> None:
        """A person takes posts away."""
        kept = [p for p in self.channels[channel] if p.id not in native_ids]
        self.channels[channel] = kept
        await self._tell(channel, "delete", ids=list(native_ids), author="ann", **more)

    async def happen(self, kind: type[BaseModel], channel: str, /, **what: Any) -> None:
        """Any other event, as `decode` shall give it; `thread` and `by` say where and who."""
        assert self.inbox
        key = what.pop("key", f"happening {next(self._ids)}")
        place = Place(channel=self.channel(channel), thread=what.pop("thread", None))
        if "actor" in kind.model_fields:
            what["actor"] = actor_id_of("fake", self.account, what.pop("by", "ann"))
        time = datetime.fromtimestamp(self._clock.time(), UTC)
        event = kind(account=self.account, place=place, time=time, **what)
        self.last = Raw(
            account=self.account, kind="event", dedupe_key=key, order_key=key,
            channel=place.channel, payload=event.model_dump_json().encode(),
        )  # fmt: skip
        await self.inbox.accept(self.last)

    async def react(self, channel: str, native_id: str, emoji: str, **more: Any) -> None:
        """Somebody reacts (`author`, ann if not given); `taken_back`, `cleared`: the other way."""
        author = more.setdefault("author", "ann")
        post = self.post(channel, native_id)
        if more.get("cleared"):
            post.reactions = {(e, who) for e, who in post.reactions if emoji not in ("", e)}
        elif more.get("taken_back"):
            post.reactions.discard((emoji, author))
        else:
            post.reactions.add((emoji, author))
        await self._tell(channel, "reaction", id=native_id, emoji=emoji, **more)

    async def pin(self, channel: str, native_id: str, *, pinned: bool = True, **more: Any) -> None:
        self.post(channel, native_id).pinned = pinned
        more = {"author": "ann", **more}
        await self._tell(channel, "pin", id=native_id, pinned=pinned, **more)

    def post(self, channel: str, native_id: str) -> Post:
        return next(p for p in self.channels[channel] if p.id == native_id)

    async def _tell(self, channel: str, kind: str, **what: Any) -> None:
        assert self.inbox
        number = next(self._ids)
        key = f"{kind} {number}"
        at = what.pop("at", self._clock.time() + number * 1e-6)  # no two at one moment
        payload = orjson.dumps({**what, "at": at})
        await self.inbox.accept(
            Raw(account=self.account, kind=kind, dedupe_key=key, order_key=key,
                channel=self.channel(channel), payload=payload)
        )  # fmt: skip

    def _happened(self, raw: Raw, data: dict[str, Any]) -> Event:
        channel = raw.channel or self.channel("nowhere")
        time = datetime.fromtimestamp(data["at"], UTC)
        actor = actor_id_of("fake", self.account, data["author"])
        around: dict[str, Any] = {
            "account": self.account, "place": Place(channel=channel), "time": time, "actor": actor,
        }  # fmt: skip
        if raw.kind == "edit":
            message = Message(
                message_id=message_id_of(channel, data["id"]),
                timestamp=time.isoformat(),
                actor=Actor(id=actor, role="human", name=data["author"]),
                content=(TextPart(text=data["text"]),),
            )
            own = bool(data.get("own"))
            return MessageEdited(
                **around, target=data["id"], message=message, edited_at=time, own=own
            )
        if raw.kind == "reaction":
            on = {**around, "target": data["id"]}
            if data.get("cleared"):
                return ReactionsCleared(**on, emoji=data["emoji"] or None)
            kind = ReactionRemoved if data.get("taken_back") else ReactionAdded
            return kind(**on, emoji=data["emoji"], own=bool(data.get("own")))
        if raw.kind == "pin":
            kind = MessagePinned if data["pinned"] else MessageUnpinned
            return kind(**around, target=data["id"], own=bool(data.get("own")))
        if len(data["ids"]) == 1:
            return MessageDeleted(**around, target=data["ids"][0])
        return MessagesBulkDeleted(**around, targets=tuple(data["ids"]))

    def decode(self, raw: Raw) -> Sequence[Event]:
        if raw.kind == "event":
            return [EVENT.validate_json(raw.payload)]
        if raw.kind in ("edit", "delete", "reaction", "pin"):
            return [self._happened(raw, orjson.loads(raw.payload))]
        try:
            data = orjson.loads(raw.payload)
            channel = raw.channel or self.channel("nowhere")
            actor = actor_id_of("fake", self.account, data["author"])
            now = datetime.fromtimestamp(data.get("at") or self._clock.time(), UTC)
            message = Message(
                message_id=message_id_of(channel, data["id"]),
                timestamp=now.isoformat(),
                actor=Actor(id=actor, role="human", name=data["author"]),
                content=(TextPart(text=data["text"]),),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise UndecodableEvent(f"fake: {error!r}") from error
        return [
            MessagePosted(
                account=self.account,
                place=Place(channel=channel, thread=data.get("thread")),
                time=now,
                native_id=data["id"],
                message=message,
                author=Person(id=actor, name=data.get("name") or self._name(data["author"]),
                              bot=bool(data.get("bot"))),
                reply_to=data.get("reply_to"),
                broadcast=bool(data.get("broadcast")),
                audience=(actor,) if data.get("audience") else None,
                addresses_us=bool(data.get("addresses_us")),
                own=bool(data.get("own")),
                operation=OperationId(data["operation"]) if data.get("operation") else None,
            )
        ]  # fmt: skip

    def _name(self, author: str) -> str:
        return f"{author.title()} of {self.account}"

    def encode(self, delivery: Delivery) -> Encoded:
        operation = delivery.operation
        if isinstance(operation, DeleteMessage):
            return Encoded(calls=tuple(self._removal(operation, copy) for copy in delivery.copies))
        if isinstance(operation, ReactionOrPin):
            return self._marks(operation, delivery.copies[0])
        text, losses = message_text(delivery.message)
        pieces = [text[i : i + 100] for i in range(0, len(text), 100)]
        have = {copy.slot: copy for copy in delivery.copies}
        calls: list[Call] = []
        for slot, piece in enumerate(pieces):
            if slot in have and isinstance(operation, PostMessage):
                continue
            calls.append(
                Call(
                    kind="edit" if slot in have else "post",
                    method="write",
                    operation=operation.id,
                    channel=operation.channel,
                    slot=slot,
                    thread=delivery.thread,
                    native_id=have[slot].native_id if slot in have else None,
                    rate_limits=(
                        RateLimitKey(rule="channel", of=operation.channel.key),
                        RateLimitKey(rule="account", of=self.account),
                    ),
                    body={"text": piece, "author": getattr(operation, "byline").name},  # noqa: B009
                )
            )
        if not isinstance(operation, PostMessage):
            surplus = [copy for copy in delivery.copies if copy.slot >= len(pieces)]
            calls += [self._removal(operation, copy) for copy in surplus]
        return Encoded(calls=tuple(calls), losses=losses)

    def _removal(self, operation: Operation, copy: Receipt) -> Call:
        return Call(
            kind="delete", method="remove", operation=operation.id, channel=operation.channel,
            slot=copy.slot, thread=copy.thread, native_id=copy.native_id, body={"text": ""},
        )  # fmt: skip

    def takes_reaction(self, emoji: str) -> bool:
        return emoji not in self.unknown_emoji

    def _marks(self, operation: ReactionOrPin, copy: Receipt) -> Encoded:
        if isinstance(operation, PinMessage | UnpinMessage) and not self.pins:
            return Encoded(calls=(), losses=(Loss(path="", kind="no_pins", what="a pin"),))
        call = Call(
            kind="other", method=operation.type, operation=operation.id,
            channel=operation.channel, native_id=copy.native_id,
            rate_limits=(RateLimitKey(rule="marks", of=self.account),),
            body={"text": "", "emoji": getattr(operation, "emoji", "")},
        )  # fmt: skip
        return Encoded(calls=(call,))

    def _put(self, call: Call) -> Receipt:
        post = self.post(call.channel.channel, call.native_id or "")
        mark = (str(call.body["emoji"]), "us")
        self.marked.append((call.method, mark[0]))
        match call.method:
            case "add_reaction":
                post.reactions.add(mark)
            case "remove_reaction":
                post.reactions.discard(mark)
            case _:
                post.pinned = call.method == "pin_message"
        return Receipt(native_id=post.id)

    async def send(self, call: Call) -> Receipt:
        if self.before_send:
            result = self.before_send(call)
            if asyncio.iscoroutine(result):
                await result
        if call.kind == "other":
            return self._put(call)
        channel, text = call.channel.channel, str(call.body["text"])
        self.sent.append((self._clock.time(), channel, text))
        if call.kind == "delete":
            self.channels[channel] = [p for p in self.channels[channel] if p.id != call.native_id]
            return Receipt(slot=call.slot, native_id=call.native_id or "", deleted=True)
        if call.kind == "edit":
            post = next(p for p in self.channels[channel] if p.id == call.native_id)
            post.text = text
        else:
            number = f"{next(self._ids):06d}"
            post = Post(number, str(call.body["author"]), text, call.thread, call.operation)
            self.channels[channel].append(post)
        if self.after_send:
            self.after_send(call)
        return Receipt(slot=call.slot, native_id=post.id, thread=call.thread)

    async def close(self) -> None:
        self.inbox = None

    def texts(self, channel: str) -> list[str]:
        """What stands there, in order."""
        return [post.text for post in self.channels[channel]]


class FakeWithHistory(FakeConnector):
    """The same platform, where what was said can be read back. `knows_by_words`: its posts do not
    tell which operation made them. `takes`: seconds that it takes to show a channel's history."""

    knows_by_words = False
    takes: Mapping[str, float] = {}

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), history=self, deliveries=self)

    async def newest(self, channel: ChannelRef) -> str:
        posts = self.channels[channel.channel]
        return posts[-1].id if posts else "000000"

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        if seconds := self.takes.get(channel.channel):
            await self._clock.sleep(seconds)
        for post in self.channels[channel.channel]:
            if post.id > cursor and post.operation is None:
                payload = {
                    "id": post.id, "author": post.author, "text": post.text, "thread": post.thread,
                }  # fmt: skip
                yield Raw(
                    account=self.account, kind="post", dedupe_key=post.id, order_key=post.id,
                    channel=channel, payload=orjson.dumps(payload),
                )  # fmt: skip

    async def find(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        del since
        for post in self.channels[call.channel.channel]:
            ours = post.operation is not None
            known = post.operation == call.operation or self.knows_by_words
            mine = ours and known and (changed or post.text == call.body["text"])
            if mine and post.id > (after or ""):
                return Receipt(slot=call.slot, native_id=post.id, thread=post.thread)
        return None
