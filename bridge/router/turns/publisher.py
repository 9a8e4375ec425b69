"""Shows the answers of agents in their rooms: first words, final words, changes and withdrawals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import quote

from bridge.content.cards.reader import Cards
from bridge.content.messages.parts import may_hold_files
from bridge.errors import AgentError
from bridge.model import (
    AccountId,
    MessageId,
    Operation,
    OperationId,
    Person,
    PostMessage,
    deletion_of,
    edit_of,
    split_key,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import MessageState, NewMessage
from bridge.model.refs import ActorId
from bridge.model.times import datetime_of
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import (
    MessageChanged,
    MessageSaid,
    PartGiven,
    Turn,
    TurnState,
    Whispered,
)
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.files import Files
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.router.outbound.lanes import Lanes
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.bylines import AuthorBylines
from bridge.router.rooms.features import has_threads, has_whispers, shows_growth
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Member
from bridge.router.runtime.kept_files import with_json_files, with_kept_media
from bridge.router.turns.answer import Answer, with_content
from bridge.router.turns.sessions import TurnContext
from bridge.uacs import Message, to_timestamp


def home_of(context: TurnContext, person: ActorId) -> Member | None:
    """Return the channel of the room where a person is: where they asked, else one of their
    workspace; None where there is none."""
    room, origin = context.room, context.origin
    if origin.place is not None and origin.author.id == person:
        return room.member(origin.place.channel)
    platform, workspace = (*split_key(person), "", "")[:2]
    here = (platform, workspace)
    found = (m for m in room.listeners() if (m.channel.platform, m.channel.workspace) == here)
    return next(found, None)


class _PublisherStore(AdmissionStore, MessageStore, TurnStore, Protocol):
    """What `AnswerPublisher` needs of the store."""


@dataclass(frozen=True)
class AnswerPosts:
    """Makes the operations that show answers in the channels of a room."""

    connectors: Mapping[AccountId, Connector]
    author_bylines: AuthorBylines
    new_id: Callable[[], str]

    async def said(self, context: TurnContext, new: NewMessage) -> tuple[PostMessage, ...]:
        """Return one post for each channel of what somebody below the agent says. Raises
        StoreError."""
        room, posts = context.room, list[PostMessage]()
        for member in room.listeners():
            byline = await self.author_bylines.for_member(
                new.author, room, member, member.channel.platform, member.account
            )
            posts.append(
                PostMessage(
                    id=OperationId(self.new_id()),
                    account=member.account,
                    channel=member.channel,
                    room=room.id,
                    message=new.id,
                    byline=byline.model_copy(update={"agent": True}),
                    root=context.origin.root if self._in_threads(member) else None,
                )
            )
        return tuple(posts)

    def of(self, context: TurnContext, answer: Answer, *, stream: bool) -> tuple[PostMessage, ...]:
        """Return one post for each channel; of a `stream`, for each that can show it grow."""
        return tuple(
            PostMessage(
                id=OperationId(self.new_id()),
                account=member.account,
                channel=member.channel,
                room=context.room.id,
                message=answer.id,
                byline=self.author_bylines.bylines.of_agent(answer.agent),
                root=context.origin.root if self._in_threads(member) else None,
                stream=stream,
                asker=context.origin.author.id if stream else None,
            )
            for member in context.room.listeners()
            if not stream or shows_growth(self.connectors, member.account)
        )

    def to_one(self, context: TurnContext, new: NewMessage, to: ActorId) -> PostMessage | None:
        """Return the post that shows a message to one person where they are; None where their
        platform cannot do that."""
        member = home_of(context, to)
        if member is None or not has_whispers(self.connectors, member.account):
            return None
        return PostMessage(
            id=OperationId(self.new_id()),
            account=member.account,
            channel=member.channel,
            room=context.room.id,
            message=new.id,
            byline=self.author_bylines.bylines.of_agent(context.turn.agent),
            root=context.origin.root if self._in_threads(member) else None,
            to=to,
        )

    def edits(self, posts: Sequence[PostMessage]) -> list[Operation]:
        """Return the edits of what these posts show."""
        return [edit_of(post, OperationId(self.new_id())) for post in posts]

    def _in_threads(self, member: Member) -> bool:
        return member.options.threads != "flat" and has_threads(self.connectors, member.account)


@dataclass(frozen=True)
class AnswerCompletion:
    """Adds to messages of agents what the agents need not write, but those who show them need."""

    cards: Cards
    files: Files | None
    reference_names: ReferenceNames
    notices: Notices

    async def completed(self, message: Message) -> Message:
        """Return the message with fallbacks of its cards, the names of those it mentions, and files
        for the parts that nothing can show."""
        named = await self.reference_names.named(None, self.cards.with_fallbacks(message))
        if not may_hold_files(named):
            return named
        return await with_json_files(named, self.cards, self.files)

    async def with_kept_files(self, event: PartGiven) -> PartGiven:
        """Return the event with its file kept in the blob store."""
        return await with_kept_media(event, self.files)

    async def post_not_shown(self, context: TurnContext, to: ActorId) -> None:
        """Say, where the person is, that the agent has words for them which cannot be shown to
        them alone; once for each turn. Raises StoreError."""
        member = home_of(context, to)
        if member is None:
            return
        name = await self.reference_names.name_of(to)
        text = (
            f"🔒 {context.turn.agent} has an answer for {name} alone, which cannot be shown to one "
            "person here."
        )
        own_id = notice_id("whisper", context.turn.id, to)
        await self.notices.post(own_id, plain_markdown(text), context.room.id, [member])


class AnswerPublisher:
    """Keeps what agents write, and shows it in every channel of the room."""

    def __init__(
        self,
        store: _PublisherStore,
        lanes: Lanes,
        feed: Feed,
        posts: AnswerPosts,
        completion: AnswerCompletion,
        clock: Clock,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._feed = feed
        self._posts = posts
        self._completion = completion
        self._clock = clock

    async def begin(
        self,
        context: TurnContext,
        answer: Answer,
        state: Callable[[], TurnState] = lambda: "running",
    ) -> Sequence[PostMessage]:
        """Give the first words their place in every lane where they can grow; a turn that runs
        again finds them. Returns the posts that show them. `state` returns the turn's, which may
        wait already. Raises StoreError."""
        operations = self._posts.of(context, answer, stream=True)
        message = await self._completion.completed(answer.message())
        new = self._new_message(message, context, "streaming")
        admission = Admission(
            outcome="answer", message=new, timelines=(context.room.timeline,), operations=operations
        )
        await self._store.admit(admission)
        await self._store.set_turn(context.turn.id, state(), answer=answer.id)
        self._wake(context)
        return operations

    async def roll_over(self, post: PostMessage, message: Message) -> None:
        """Queue the edit that posts the further parts of a growing answer, in their turn, as any
        other post. Raises StoreError."""
        edit = edit_of(post, OperationId(self._posts.new_id()), stream=True)
        completed = await self._completion.completed(message)
        await self._store.change_message(completed, "streaming", [edit])
        self._lanes.wake(post.channel.lane)

    async def keep(
        self,
        context: TurnContext,
        answer: Answer,
        state: MessageState,
        called: Sequence[NewTurn] = (),
    ) -> None:
        """Keep the final state: with a post where nothing was shown yet, else with an edit. What
        nobody is to see is kept without posts. The turns that the answer calls are queued in the
        same transaction. Raises StoreError."""
        message = await self._completion.completed(answer.message())
        posts = self._posts.of(context, answer, stream=False) if answer.visible else ()
        admission = Admission(
            outcome="answer",
            message=self._new_message(message, context, state),
            timelines=(context.room.timeline,),
            operations=posts,
            turns=tuple(called),
        )
        if (await self._store.admit(admission)).repeat:
            await self._store.change_message(message, state, await self._final(posts), called)
        self._wake(context)

    async def _final(self, posts: Sequence[PostMessage]) -> list[Operation]:
        """Edits where the answer was shown while it grew, posts elsewhere."""
        shown = {
            earlier.channel.key
            for post in posts[:1]
            for earlier in await self._store.posts_of(post.message)
        }
        operations: list[Operation] = []
        for post in posts:
            grew = shows_growth(self._posts.connectors, post.account)
            operations += self._posts.edits([post]) if post.channel.key in shown or grew else [post]
        return operations

    async def change(self, turn: Turn, event: MessageChanged) -> None:
        """Change an earlier message of the agent. Raises StoreError, and AgentError for a message
        that is not the agent's own, or not of this room."""
        stored = await self._store.message(event.message)
        posts = [
            post for post in await self._store.posts_of(event.message) if post.room == turn.room
        ]
        own = stored is not None and stored.message.actor.id == f"agent:{turn.agent}"
        if stored is None or not own or not posts:
            raise AgentError(
                f"it wanted to change message {event.message!r}, which it did not say in this room"
            )
        changed = await self._completion.completed(with_content(stored.message, event.parts))
        await self._store.change_message(changed, "edited", self._posts.edits(posts))
        for post in posts:
            self._lanes.wake(post.channel.lane)
        self._feed.woke()

    async def say(self, context: TurnContext, said: MessageSaid, number: int) -> None:
        """Keep and show what an actor below the agent says, once for each id; `number` is its place
        in the turn. Raises StoreError, and pydantic's ValidationError for parts that are none."""
        own = hashlib.sha256(said.id.encode("utf-8", "replace")).hexdigest()[:16]
        message_id = MessageId(f"{context.turn.answer_id}/{own if said.id else number}")
        actor = f"agent:{context.turn.agent}/{quote(said.actor, safe='')}"
        raw = Message.model_validate({
            "message_id": message_id,
            "timestamp": to_timestamp(datetime_of(self._clock.time())),
            "actor": {"id": actor, "role": said.role, "name": said.name or said.actor},
            "content": [(await self.with_kept_files(PartGiven(part=p))).part for p in said.parts],
        })  # fmt: skip
        message = await self._completion.completed(raw)
        new = self._new_message(message, context, "complete")
        posts = await self._posts.said(context, new)
        admission = Admission(
            outcome="answer", message=new, timelines=(context.room.timeline,), operations=posts
        )
        await self._store.admit(admission)
        self._wake(context)
        self._feed.woke()

    async def whisper(self, context: TurnContext, said: Whispered, number: int) -> None:
        """Keep what the agent says to one person alone, and show it to them where they are;
        `number` is its place in the turn. Raises StoreError, and pydantic's ValidationError for
        parts that are none."""
        raw = Message.model_validate({
            "message_id": f"{context.turn.answer_id}/{number}",
            "timestamp": to_timestamp(datetime_of(self._clock.time())),
            "actor": {"id": f"agent:{context.turn.agent}", "role": "assistant",
                      "name": context.turn.agent},
            "content": [(await self.with_kept_files(PartGiven(part=p))).part for p in said.parts],
        })  # fmt: skip
        message = await self._completion.completed(raw)
        audience = (said.to, ActorId(message.actor.id))
        new = replace(self._new_message(message, context, "complete"), audience=audience)
        post = self._posts.to_one(context, new, said.to)
        admission = Admission(
            outcome="whisper",
            message=new,
            timelines=(context.room.timeline,),
            operations=() if post is None else (post,),
        )
        await self._store.admit(admission)
        if post is None:
            await self._completion.post_not_shown(context, said.to)
        self._wake(context)

    async def withdraw(self, turn: StoredTurn) -> None:
        """Delete the turn's answer, if anything of it stands. Raises StoreError."""
        stored = await self._store.message(turn.answer_id)
        if stored is None:
            return
        posts = await self._store.posts_of(turn.answer_id)
        deletions = [deletion_of(post, OperationId(self._posts.new_id())) for post in posts]
        await self._store.change_message(stored.message, "deleted", deletions)
        for deletion in deletions:
            self._lanes.wake(deletion.lane)

    async def with_kept_files(self, event: PartGiven) -> PartGiven:
        """Return the event with its file kept in the blob store."""
        return await self._completion.with_kept_files(event)

    def ended(self, context: TurnContext, answer: Answer) -> None:
        """Note that the answer grows no more: its last state is in the store."""
        self._feed.ended(context.room.id, answer.id)

    def _new_message(
        self, message: Message, context: TurnContext, state: MessageState
    ) -> NewMessage:
        author = Person(id=ActorId(message.actor.id), name=message.actor.name or "agent", bot=True)
        return NewMessage(
            message=message,
            author=author,
            time=self._clock.time(),
            root=context.origin.root,
            reply_to=MessageId(context.origin.message.message_id),
            state=state,
        )

    def _wake(self, context: TurnContext) -> None:
        for member in context.room.listeners():
            self._lanes.wake(member.channel.lane)
