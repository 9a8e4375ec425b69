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
from bridge.content.text.globs import any_matches
from bridge.content.text.tree import Block, CodeBlock, Inline, Paragraph, Strong, Text, Timestamp
from bridge.model import (
    ActionPressed,
    ActorId,
    MessageId,
    TurnId,
    split_key,
)
from bridge.model.refs import BRIDGE
from bridge.model.turn_records import Approval, Counted, Decision
from bridge.ports.clock import Clock
from bridge.ports.cluster import Cluster
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.authors import AuthorStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.people import PeopleStore
from bridge.ports.tools import ADMINS, ASKER, ApprovalRule
from bridge.router.outbound.notices import Notices, PressAnswers, notice_id
from bridge.router.rooms.people import People, nameless
from bridge.router.rooms.rooms import Rooms
from bridge.router.turns.sessions import TurnContext

log = structlog.get_logger()

_ALLOW, _REFUSE = "allow", "refuse"
_LOOK = 5.0  # seconds: a press may have come to another process
_LONGEST_SHOWN = 1500  # characters of the arguments


@dataclass(frozen=True)
class ApprovalRequest:
    """A call that somebody must allow. `call` is the same when the turn runs again."""

    context: TurnContext
    tool: str
    call: str
    arguments: str
    reason: str
    rule: ApprovalRule


class _ApprovalsStore(ApprovalStore, AuthorStore, MessageStore, PeopleStore, Protocol):
    """What `Approvals` needs of the store."""


class Approvals:
    """Asks people of a room to allow calls, takes their decisions, and tells the turns that
    wait."""

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
        cluster: Cluster,
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._rooms = rooms
        self._people = people
        self._notices = notices
        self._answers = answers
        self._clock = clock
        self._new_id = new_id
        self._admins = admins
        self._changed: dict[str, asyncio.Event] = {}
        self._updating = asyncio.Lock()  # so that the last update shows the latest state

    # --- asking for approval --------------------------------------------------------------------

    async def request_decision(self, request: ApprovalRequest) -> Approval:
        """Ask the room, and wait until the request is decided or its time is over. Returns the
        request as it ended. Raises StoreError."""
        now, context, rule = self._clock.time(), request.context, request.rule
        new = Approval(
            id=self._new_id(),
            turn=context.turn.id,
            room=context.room.id,
            agent=context.turn.agent,
            tool=request.tool,
            call=request.call,
            arguments=request.arguments,
            reason=request.reason,
            trigger=MessageId(context.origin.message.message_id),
            asker=context.origin.author.id,
            approvers=rule.approvers,
            quorum=rule.quorum,
            created=now,
            expires=now + rule.seconds,
        )
        approval = await self._store.ask_approval(new)
        if approval.state == "open":
            log.info(
                "approval_requested", approval=approval.id, tool=approval.tool, room=approval.room
            )
            await self._show(approval.id)
            approval = await self._decided(approval)
        return approval

    async def withdraw(self, turn: TurnId) -> None:
        """Withdraw the open requests of a turn. Raises StoreError."""
        for approval in await self._store.approvals(turn=turn, open_only=True):
            await self._end(approval, "withdrawn")

    async def _decided(self, approval: Approval) -> Approval:
        changed = self._changed.setdefault(approval.id, asyncio.Event())
        try:
            while approval.state == "open":
                left = approval.expires - self._clock.time()
                if left <= 0:
                    await self._end(approval, "expired")
                else:
                    await self._wait(changed, min(left, _LOOK))
                approval = await self._store.approval(approval.id) or approval
        finally:
            self._changed.pop(approval.id, None)
        return approval

    async def _wait(self, changed: asyncio.Event, seconds: float) -> None:
        notified = asyncio.ensure_future(changed.wait())
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait((notified, sleeping), return_when=asyncio.FIRST_COMPLETED)
            changed.clear()
        finally:
            notified.cancel()
            sleeping.cancel()
            await asyncio.gather(notified, sleeping, return_exceptions=True)

    async def _end(self, approval: Approval, state: str) -> None:
        ended = "expired" if state == "expired" else "withdrawn"
        if await self._store.end_approval(approval.id, ended, self._clock.time()):
            log.info("approval_ended", approval=approval.id, state=ended)
            await self._show(approval.id)

    # --- presses --------------------------------------------------------------------------------

    async def press(
        self, message: MessageId, event: ActionPressed, interaction: Interaction | None, key: str
    ) -> str:
        """Take a press of a button of a request. `interaction` is None where the button is gone;
        `key` names the press. Returns the outcome. Raises StoreError."""
        own_id = approval_of(message)
        approval = await self._store.approval(own_id) if own_id else None
        if approval is None:
            return "press: the request is not known"
        if interaction is None or interaction.id not in (_ALLOW, _REFUSE):
            await self._answer_press(
                approval, event, key, f"It is too late: {_outcome_of(approval)}"
            )
            return "press: the request is over"
        await self._meet(event)
        accounts, people = await self._accounts(event.actor)
        if not self._may(approval, accounts, people):
            approvers = " or ".join(_approver_name(approver) for approver in approval.approvers)
            await self._answer_press(approval, event, key, f"Only {approvers} may decide this.")
            log.info("approval_rejected", approval=approval.id, actor=event.actor)
            return "press: not allowed to decide"
        allowed = interaction.id == _ALLOW
        decision = Decision(event.actor, allowed, self._clock.time(), event.place.channel.key)
        counted, approval = await self._count(approval.id, decision, accounts)
        if approval is None:
            return "press: the request is not known"
        if counted == "counted":
            return f"press: {'allowed' if allowed else 'refused'}"
        if counted == "repeat":
            text = f"You have said so already; {approval.missing} more must allow it."
            await self._answer_press(approval, event, key, text)
            return "press: decided before by the same person"
        await self._answer_press(approval, event, key, f"It is too late: {_outcome_of(approval)}")
        return "press: the request is over"

    async def decide(self, own_id: str, actor: ActorId, place: str, *, allowed: bool) -> bool:
        """Take the decision of somebody in the place with this key. Returns whether it counts.
        Raises StoreError."""
        approval = await self._store.approval(own_id)
        if approval is None:
            return False
        accounts, people = await self._accounts(actor)
        if not self._may(approval, accounts, people):
            log.info("approval_rejected", approval=approval.id, actor=actor)
            return False
        decision = Decision(actor, allowed, self._clock.time(), place)
        counted, _ = await self._count(approval.id, decision, accounts)
        return counted == "counted"

    async def _count(
        self, own_id: str, decision: Decision, accounts: Collection[ActorId]
    ) -> tuple[Counted, Approval | None]:
        """Count a decision, show it, and tell the turn that waits."""
        counted, approval = await self._store.decide(own_id, decision, accounts)
        if approval is not None:
            await self._show(approval.id)
            if (changed := self._changed.get(approval.id)) is not None:
                changed.set()
        if counted == "counted":
            await self._cluster.tell("approval_decided", approval=own_id)
            actor, allowed = decision.actor, decision.allowed
            log.info("approval_decided", approval=own_id, actor=actor, allowed=allowed)
        return counted, approval

    def decided_elsewhere(self, own_id: str) -> None:
        """Another process took a decision about a request: let the turn that waits look."""
        if (changed := self._changed.get(own_id)) is not None:
            changed.set()

    async def _meet(self, event: ActionPressed) -> None:
        """Store the name of the person who presses: they may have posted nothing here."""
        person, changed = await self._people.complete(event.account, nameless(event.actor))
        if changed:
            await self._store.save_person(person)

    async def _accounts(self, actor: ActorId) -> tuple[set[ActorId], set[str]]:
        """All accounts of this person, and the ids of the person."""
        linked = await self._store.accounts_of(actor)
        return {actor, *(account.actor for account in linked)}, {
            account.person for account in linked
        }

    def _may(
        self, approval: Approval, accounts: Collection[ActorId], people: Collection[str]
    ) -> bool:
        for approver in approval.approvers:
            if approver == ASKER:
                may_decide = approval.asker in accounts
            elif approver == ADMINS:
                may_decide = any_matches(self._admins, accounts)
            else:
                may_decide = approver in people or any_matches((approver,), accounts)
            if may_decide:
                return True
        return False

    async def _answer_press(
        self, approval: Approval, event: ActionPressed, key: str, text: str
    ) -> None:
        if room := self._rooms.by_id.get(approval.room):
            card = _card_of(approval.id)
            await self._answers.post(event, key, room, card, (Text(text),))

    # --- what is shown --------------------------------------------------------------------------

    async def _show(self, own_id: str) -> None:
        """The request as it stands now, in every channel of the room."""
        async with self._updating:
            approval = await self._store.approval(own_id)
            room = approval and self._rooms.by_id.get(approval.room)
            if approval is None or room is None:
                return
            stored = await self._store.message(approval.trigger)
            await self._notices.post(
                _card_of(approval.id),
                text_to_markdown(tuple(await self._words(approval))),
                room.id,
                room.listeners(),
                root=stored.root if stored else None,
                reply_to=approval.trigger,
                buttons=_BUTTONS if approval.state == "open" else (),
            )

    async def _words(self, approval: Approval) -> list[Block]:
        asks = approval.state == "open"
        sign = "🔐" if asks else _SIGNS[approval.state]
        first: list[Inline] = [
            Text(f"{sign} "), Strong((Text(approval.agent),)),
            Text(" asks for leave to call " if asks else " asked for leave to call "),
            Strong((Text(readable_tool(approval.tool)),)),
        ]  # fmt: skip
        words: list[Block] = [Paragraph(tuple(first))]
        if approval.reason:
            words.append(Paragraph((Text(approval.reason[:500]),)))
        if approval.arguments not in ("", "{}"):
            words.append(CodeBlock(_cut(approval.arguments), "json"))
        words += [Paragraph((line,)) for line in await self._decision_lines(approval)]
        if asks:
            approvers = " or ".join(_approver_name(approver) for approver in approval.approvers)
            many = f" {approval.quorum} people must allow it." if approval.quorum > 1 else ""
            until = datetime.fromtimestamp(approval.expires, UTC).strftime("%H:%M UTC")
            last = (
                Text(f"May be decided by {approvers}, until "),
                Timestamp(int(approval.expires), "t", until),
                Text(f".{many}"),
            )
            words.append(Paragraph(last, subtle=True))
        return words

    async def _decision_lines(self, approval: Approval) -> list[Text]:
        """Who decided what, when; and how it ended."""
        lines: list[Text] = []
        for decision in approval.decisions:
            at = datetime.fromtimestamp(decision.at, UTC).strftime("%H:%M UTC")
            sign, decided = ("✅", "allowed") if decision.allowed else ("🚫", "refused")
            lines.append(Text(f"{sign} {decided} by {await self._name(decision.actor)} at {at}"))
        if approval.state == "expired":
            lines.append(Text("⌛ nobody decided in time: refused"))
        elif approval.state == "withdrawn":
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
    """Return the id of the request that a message of the bridge shows; None for other messages."""
    match split_key(message):
        case [bridge, "approval", own_id] if bridge == BRIDGE:
            return own_id
        case _:
            return None


def _card_of(own_id: str) -> MessageId:
    return notice_id("approval", own_id)


def _approver_name(approver: str) -> str:
    return {ASKER: "who asked", ADMINS: "an admin"}.get(approver, approver)


def _outcome_of(approval: Approval) -> str:
    return {
        "allowed": "it was allowed.",
        "refused": "it was refused.",
        "expired": "nobody decided in time.",
        "withdrawn": "it is not wanted any more.",
    }.get(approval.state, "it is open.")


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:_LONGEST_SHOWN]}\n… ({len(text)} characters in all)"
