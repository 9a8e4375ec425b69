"""An agent's voice in a room: its first words, its final words, what it changes or takes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bridge.content.cards.reader import Cards
from bridge.errors import AgentError
from bridge.model import (
    AccountId,
    MessageId,
    Operation,
    OperationId,
    Person,
    PostMessage,
    TurnId,
    deletion_of,
    edit_of,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import MessageState, NewMessage, StoredMessage
from bridge.model.refs import ActorId
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import AgentEvent, MessageChanged, PartGiven, Turn, TurnState
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.files import Files
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.router.outbound.kept_files import with_json_files, with_kept_media
from bridge.router.outbound.lanes import Lanes
from bridge.router.rooms.bylines import Bylines
from bridge.router.rooms.features import has_threads, shows_growth
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Member, Room
from bridge.router.turns.answer import Answer, saying
from bridge.uacs import Message


class _VoiceStore(AdmissionStore, MessageStore, TurnStore, Protocol):
    """What `AnswerPublisher` needs of the store."""


class AnswerPublisher:
    """What agents say is kept, and stands in every channel of the room."""

    def __init__(
        self,
        store: _VoiceStore,
        connectors: Mapping[AccountId, Connector],
        lanes: Lanes,
        clock: Clock,
        new_id: Callable[[], str],
        cards: Cards,
        files: Files | None,
        reference_names: ReferenceNames,
        bylines: Bylines,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._lanes = lanes
        self._clock = clock
        self._new_id = new_id
        self._cards = cards
        self._files = files
        self._reference_names = reference_names
        self._bylines = bylines

    async def begin(
        self,
        turn: TurnId,
        room: Room,
        trigger: StoredMessage,
        answer: Answer,
        state: Callable[[], TurnState] = lambda: "running",
    ) -> Sequence[PostMessage]:
        """The first words take their place in every lane where they can grow; a turn that runs
        again finds them. The posts that show them. `state` is the turn's, which may wait
        already."""
        operations = self._posts(room, trigger, answer, stream=True)
        message = await self._whole(answer.message())
        new = self._new_message(message, trigger, "streaming")
        admission = Admission(
            outcome="answer", message=new, timelines=(room.timeline,), operations=operations
        )
        await self._store.admit(admission)
        await self._store.set_turn(turn, state(), answer=answer.id)
        self._wake(room.listeners())
        return operations

    async def roll_over(self, post: PostMessage, message: Message) -> None:
        """A growing answer has more parts in this channel than stand there: they are posted in
        their turn, as any other post."""
        edit = edit_of(post, OperationId(self._new_id()), stream=True)
        await self._store.change_message(await self._whole(message), "streaming", [edit])
        self._lanes.wake(post.channel.lane)

    async def keep(
        self,
        room: Room,
        trigger: StoredMessage,
        answer: Answer,
        state: MessageState,
        called: Sequence[NewTurn] = (),
    ) -> None:
        """The final state: a post where nothing was shown yet, else an edit of what was. What
        nobody is to see is kept all the same. With it go the turns that it calls."""
        message = await self._whole(answer.message())
        posts = self._posts(room, trigger, answer, stream=False) if answer.visible else ()
        new = self._new_message(message, trigger, state)
        admission = Admission(
            outcome="answer",
            message=new,
            timelines=(room.timeline,),
            operations=posts,
            turns=tuple(called),
        )
        if (await self._store.admit(admission)).repeat:
            await self._store.change_message(message, state, await self._final(posts), called)
        self._wake(room.listeners())

    async def _final(self, posts: Sequence[PostMessage]) -> list[Operation]:
        """Edits of what was shown while it grew; posts where nothing was, once."""
        shown = {
            one.channel.key
            for post in posts[:1]
            for one in await self._store.posts_of(post.message)
        }
        return [
            edit_of(post, OperationId(self._new_id()))
            if post.channel.key in shown or shows_growth(self._connectors, post.account)
            else post
            for post in posts
        ]

    async def change(self, turn: Turn, event: MessageChanged) -> None:
        """Raises AgentError when the message is not the agent's own, said in this room."""
        stored = await self._store.message(event.message)
        posts = [one for one in await self._store.posts_of(event.message) if one.room == turn.room]
        own = stored is not None and stored.message.actor.id == f"agent:{turn.agent}"
        if stored is None or not own or not posts:
            raise AgentError(
                f"it wanted to change message {event.message!r}, which it did not say in this room"
            )
        changed = await self._whole(saying(stored.message, event.parts))
        edits = [edit_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(changed, "edited", edits)
        for edit in edits:
            self._lanes.wake(edit.channel.lane)

    async def withdraw(self, turn: StoredTurn) -> None:
        """Take its answer away, if anything of it stands."""
        own_id = answer_id(turn)
        stored = await self._store.message(own_id)
        if stored is None:
            return
        posts = await self._store.posts_of(own_id)
        deletions = [deletion_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(stored.message, "deleted", deletions)
        for one in deletions:
            self._lanes.wake(one.lane)

    async def heard(self, event: AgentEvent) -> AgentEvent:
        """What an agent says, with its files kept."""
        return await with_kept_media(event, self._files) if isinstance(event, PartGiven) else event

    async def _whole(self, message: Message) -> Message:
        """With all that an agent need not write, but those who show it need."""
        named = await self._reference_names.named(None, self._cards.with_fallbacks(message))
        return await with_json_files(named, self._cards, self._files)

    def _posts(
        self, room: Room, trigger: StoredMessage, answer: Answer, *, stream: bool
    ) -> tuple[PostMessage, ...]:
        return tuple(
            PostMessage(
                id=OperationId(self._new_id()),
                account=member.account,
                channel=member.channel,
                room=room.id,
                message=answer.id,
                byline=self._bylines.of_agent(answer.agent),
                root=trigger.root if self._in_threads(member) else None,
                stream=stream,
                asker=trigger.author.id if stream else None,
            )
            for member in room.listeners()
            if not stream or shows_growth(self._connectors, member.account)
        )

    def _in_threads(self, member: Member) -> bool:
        keeps = member.options.threads != "flat"
        return keeps and has_threads(self._connectors, member.account)

    def _new_message(
        self, message: Message, trigger: StoredMessage, state: MessageState
    ) -> NewMessage:
        author = Person(id=ActorId(message.actor.id), name=message.actor.name or "agent", bot=True)
        return NewMessage(
            message=message,
            author=author,
            time=self._clock.time(),
            root=trigger.root,
            reply_to=MessageId(trigger.message.message_id),
            state=state,
        )

    def _wake(self, members: Sequence[Member]) -> None:
        for member in members:
            self._lanes.wake(member.channel.lane)


def answer_id(turn: StoredTurn) -> MessageId:
    """The answer's id follows from the turn, so that a turn run twice answers once."""
    return MessageId(f"agent:{turn.agent}:{turn.id}")
