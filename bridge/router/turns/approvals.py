"""Calls that somebody must allow: asked on every platform of the room, decided once for all.

The bridge itself asks, never the agent: nothing that a model writes can be taken for leave. Each
decision is a row; the first that is enough ends it, and every copy says who decided.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import structlog

from bridge.content.cards.interactions import Interaction
from bridge.content.cards.tree import Button
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.tool_names import readable_tool
from bridge.content.text.globs import matches
from bridge.content.text.tree import Block, CodeBlock, Inline, Paragraph, Strong, Text, Timestamp
from bridge.model import (
    ActionPressed,
    ActorId,
    MessageId,
    TurnId,
    split_key,
)
from bridge.model.archive_records import StoredMessage
from bridge.model.refs import BRIDGE
from bridge.model.turn_records import Approval, Decision, StoredTurn
from bridge.ports.clock import Clock
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.authors import AuthorStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.people import PeopleStore
from bridge.ports.tools import ADMINS, ASKER, ApprovalRule
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.outbound.press_answers import PressAnswers
from bridge.router.rooms.people import People, nameless
from bridge.router.rooms.rooms import Room, Rooms

log = structlog.get_logger()

_ALLOW, _REFUSE = "allow", "refuse"
_LOOK = 5.0  # seconds: a press may have come to another process
_SHOWN = 1500  # characters of the arguments


@dataclass(frozen=True)
class Wanted:
    """A call for which leave is asked. `call` is the same when the turn runs again."""

    turn: StoredTurn
    room: Room
    trigger: StoredMessage
    tool: str
    call: str
    arguments: str
    reason: str
    rule: ApprovalRule


class _ApprovalsStore(ApprovalStore, AuthorStore, MessageStore, PeopleStore, Protocol):
    """What `Approvals` needs of the store."""


class Approvals:
    """Asks, hears presses, and tells who waits."""

    def __init__(
        self,
        store: _ApprovalsStore,
        rooms: Rooms,
        people: People,
        notices: Notices,
        answers: PressAnswers,
        clock: Clock,
        new_id: Callable[[], str],
        admins: Sequence[str],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._people = people
        self._notices = notices
        self._answers = answers
        self._clock = clock
        self._new_id = new_id
        self._admins = admins
        self._news: dict[str, asyncio.Event] = {}
        self._showing = asyncio.Lock()  # of two at one moment, the later knows more

    # --- whoever wants to go on -----------------------------------------------------------------

    async def ask(self, wanted: Wanted) -> Approval:
        """Ask the room, and wait until it is decided or its time is over."""
        now = self._clock.time()
        asked = Approval(
            id=self._new_id(),
            turn=wanted.turn.id,
            room=wanted.room.id,
            agent=wanted.turn.agent,
            tool=wanted.tool,
            call=wanted.call,
            arguments=wanted.arguments,
            reason=wanted.reason,
            trigger=MessageId(wanted.trigger.message.message_id),
            asker=wanted.trigger.author.id,
            approvers=wanted.rule.approvers,
            quorum=wanted.rule.quorum,
            created=now,
            expires=now + wanted.rule.seconds,
        )
        known = await self._store.ask_approval(asked)
        if known.state == "open":
            log.info("approval_requested", approval=known.id, tool=known.tool, room=known.room)
            await self._show(known.id)
            known = await self._decided(known)
        return known

    async def withdraw(self, turn: TurnId) -> None:
        """What this turn asked for is not wanted any more."""
        for one in await self._store.approvals(turn=turn, open_only=True):
            await self._end(one, "withdrawn")

    async def _decided(self, known: Approval) -> Approval:
        news = self._news.setdefault(known.id, asyncio.Event())
        try:
            while known.state == "open":
                left = known.expires - self._clock.time()
                if left <= 0:
                    await self._end(known, "expired")
                else:
                    await self._wait(news, min(left, _LOOK))
                known = await self._store.approval(known.id) or known
        finally:
            self._news.pop(known.id, None)
        return known

    async def _wait(self, news: asyncio.Event, seconds: float) -> None:
        told = asyncio.ensure_future(news.wait())
        slept = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait((told, slept), return_when=asyncio.FIRST_COMPLETED)
            news.clear()
        finally:
            told.cancel()
            slept.cancel()
            await asyncio.gather(told, slept, return_exceptions=True)

    async def _end(self, known: Approval, state: str) -> None:
        ended = "expired" if state == "expired" else "withdrawn"
        if await self._store.end_approval(known.id, ended, self._clock.time()):
            log.info("approval_ended", approval=known.id, state=ended)
            await self._show(known.id)

    # --- presses --------------------------------------------------------------------------------

    async def press(
        self, message: MessageId, event: ActionPressed, found: Interaction | None, key: str
    ) -> str:
        """Somebody pressed a button of a request; the outcome. `found` is None where the button
        is not there any more; `key` is the press's own."""
        own_id = approval_of(message)
        known = await self._store.approval(own_id) if own_id else None
        if known is None:
            return "press: the request is not known"
        if found is None or found.id not in (_ALLOW, _REFUSE):
            await self._tell(known, event, key, f"It is too late: {_how(known)}")
            return "press: the request is over"
        await self._meet(event)
        accounts, people = await self._accounts(event.actor)
        if not self._may(known, accounts, people):
            who = " or ".join(_named(one) for one in known.approvers)
            await self._tell(known, event, key, f"Only {who} may decide this.")
            log.info("approval_rejected", approval=known.id, actor=event.actor)
            return "press: not allowed to decide"
        allowed = found.id == _ALLOW
        place = event.place.channel.key
        decision = Decision(event.actor, allowed, self._clock.time(), place)
        counted, known = await self._store.decide(known.id, decision, accounts)
        if known is None:
            return "press: the request is not known"
        await self._show(known.id)
        if (news := self._news.get(known.id)) is not None:
            news.set()
        if counted == "counted":
            log.info("approval_decided", approval=known.id, actor=event.actor, allowed=allowed)
            return f"press: {'allowed' if allowed else 'refused'}"
        if counted == "repeat":
            text = f"You have said so already; {known.missing} more must allow it."
            await self._tell(known, event, key, text)
            return "press: decided before by the same person"
        await self._tell(known, event, key, f"It is too late: {_how(known)}")
        return "press: the request is over"

    async def _meet(self, event: ActionPressed) -> None:
        """Who presses may never have said a word here: learn their name."""
        person, news = await self._people.complete(event.account, nameless(event.actor))
        if news:
            await self._store.save_person(person)

    async def _accounts(self, actor: ActorId) -> tuple[set[ActorId], set[str]]:
        """All accounts of this person, and the ids of the person."""
        linked = await self._store.accounts_of(actor)
        return {actor, *(one.actor for one in linked)}, {one.person for one in linked}

    def _may(self, known: Approval, accounts: Collection[ActorId], people: Collection[str]) -> bool:
        for one in known.approvers:
            if one == ASKER:
                found = known.asker in accounts
            elif one == ADMINS:
                found = any(matches(glob, actor) for glob in self._admins for actor in accounts)
            else:
                found = one in people or any(matches(one, actor) for actor in accounts)
            if found:
                return True
        return False

    async def _tell(self, known: Approval, event: ActionPressed, key: str, text: str) -> None:
        if room := self._rooms.by_id.get(known.room):
            card = _card_of(known.id)
            await self._answers.say(event, key, room, card, (Text(text),))

    # --- what is shown --------------------------------------------------------------------------

    async def _show(self, own_id: str) -> None:
        """The request as it stands now, in every channel of the room."""
        async with self._showing:
            known = await self._store.approval(own_id)
            room = known and self._rooms.by_id.get(known.room)
            if known is None or room is None:
                return
            stored = await self._store.message(known.trigger)
            await self._notices.say(
                _card_of(known.id),
                text_to_markdown(tuple(await self._words(known))),
                room.id,
                room.listeners(),
                root=stored.root if stored else None,
                reply_to=known.trigger,
                buttons=_BUTTONS if known.state == "open" else (),
            )

    async def _words(self, known: Approval) -> list[Block]:
        asks = known.state == "open"
        sign = "🔐" if asks else _SIGNS[known.state]
        first: list[Inline] = [
            Text(f"{sign} "), Strong((Text(known.agent),)),
            Text(" asks for leave to call " if asks else " asked for leave to call "),
            Strong((Text(readable_tool(known.tool)),)),
        ]  # fmt: skip
        words: list[Block] = [Paragraph(tuple(first))]
        if known.reason:
            words.append(Paragraph((Text(known.reason[:500]),)))
        if known.arguments not in ("", "{}"):
            words.append(CodeBlock(_cut(known.arguments), "json"))
        words += [Paragraph((one,)) for one in await self._said(known)]
        if asks:
            who = " or ".join(_named(one) for one in known.approvers)
            many = f" {known.quorum} people must allow it." if known.quorum > 1 else ""
            until = datetime.fromtimestamp(known.expires, UTC).strftime("%H:%M UTC")
            last = (
                Text(f"May be decided by {who}, until "),
                Timestamp(int(known.expires), "t", until),
                Text(f".{many}"),
            )
            words.append(Paragraph(last, subtle=True))
        return words

    async def _said(self, known: Approval) -> list[Text]:
        """Who decided what, when; and how it ended."""
        lines: list[Text] = []
        for one in known.decisions:
            at = datetime.fromtimestamp(one.at, UTC).strftime("%H:%M UTC")
            sign, what = ("✅", "allowed") if one.allowed else ("🚫", "refused")
            lines.append(Text(f"{sign} {what} by {await self._name(one.actor)} at {at}"))
        if known.state == "expired":
            lines.append(Text("⌛ nobody decided in time: refused"))
        elif known.state == "withdrawn":
            lines.append(Text("⏹️ not wanted any more"))
        return lines

    async def _name(self, actor: ActorId) -> str:
        return await self._people.stored_name(actor)


_BUTTONS = (
    Button((Text("Allow"),), id=_ALLOW, style="good"),
    Button((Text("Refuse"),), id=_REFUSE, style="danger"),
)
_SIGNS = {"allowed": "✅", "refused": "🚫", "expired": "⌛", "withdrawn": "⏹️"}


def approval_of(message: MessageId) -> str | None:
    """The approval that a message of the bridge asks for."""
    match split_key(message):
        case [bridge, "approval", own_id] if bridge == BRIDGE:
            return own_id
        case _:
            return None


def _card_of(own_id: str) -> MessageId:
    return notice_id("approval", own_id)


def _named(approver: str) -> str:
    return {ASKER: "who asked", ADMINS: "an admin"}.get(approver, approver)


def _how(known: Approval) -> str:
    return {
        "allowed": "it was allowed.",
        "refused": "it was refused.",
        "expired": "nobody decided in time.",
        "withdrawn": "it is not wanted any more.",
    }.get(known.state, "it is open.")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\n… ({len(text)} characters in all)"
