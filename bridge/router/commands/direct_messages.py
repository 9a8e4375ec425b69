"""The command `dm`: accept direct messages of people on other platforms, or not; write to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.model import (
    AccountId,
    ActorId,
    LaneId,
    OperationId,
    Person,
    PostMessage,
    RoomId,
    join_key,
    split_key,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage
from bridge.model.room_records import DirectEnd
from bridge.model.times import datetime_of
from bridge.ports.clock import Clock
from bridge.ports.store.admissions import AdmissionStore
from bridge.router.commands.command import Command, CommandCall
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.bylines import AuthorBylines
from bridge.router.rooms.direct_messages import DirectMessages, direct_timeline
from bridge.router.rooms.people import People, nameless
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import Actor, Message, TextPart, to_timestamp


def direct_commands(command: DirectCommand) -> tuple[Command, ...]:
    async def dm(call: CommandCall) -> str:
        return await command.run(
            call.actor, call.member.account, call.room.id, call.words, call.key,
            private=call.private,
        )  # fmt: skip

    about = "write to somebody on another platform, or have them write to you"
    return (
        Command(
            "dm on|off|@PERSON WORDS", about, dm, range(501), everybody=True, whispered=True,
            fits=_reads_as_command,
        ),
    )  # fmt: skip


def _reads_as_command(words: Sequence[str]) -> bool:
    """Whether these words are the command, and no question to an agent that begins alike."""
    return tuple(words) in (("on",), ("off",)) or "".join(words[:1]).count(":") > 1


@dataclass(frozen=True)
class DirectCommand:
    """Carries out `dm`, given in a channel or to our bot alone."""

    directs: DirectMessages
    bans: BansAndPauses
    people: People
    writer: DirectWriter

    async def run(
        self, actor: ActorId, account: AccountId, room: RoomId, words: Sequence[str], key: str,
        *, private: bool = True,
    ) -> str:  # fmt: skip
        """Returns the answer. `private`: nobody else could read the words; `key` names their
        delivery. Raises BridgeError."""
        match tuple(words):
            case ("on",):
                await self.directs.opt_in(actor, account, room)
                return (
                    "People of this room on other platforms, who want it too, may write to you "
                    "from now on. It comes to you where you and I are alone: answer there. "
                    '"dm off" ends it.'
                )
            case ("off",):
                done = await self.directs.opt_out(actor)
                return "Nobody may write to you any more." if done else "Nobody could write to you."
            case () | (_,):
                return "It is: dm on, dm off, or dm @NAME and what you want to say."
            case _:
                return await self._write(actor, account, words, key, private=private)

    async def _write(
        self, actor: ActorId, account: AccountId, words: Sequence[str], key: str, *, private: bool
    ) -> str:
        if not private:
            return 'Everybody here can read that. Say it by "/bridge dm", or to me alone.'
        if self.directs.end_of(actor) is None:
            return 'Say "dm on" first: the answers come to you there.'
        partner, count = await self.directs.named(actor, words)
        text = " ".join(words[count:])
        if not text:
            return "It is: dm @NAME and what you want to say."
        shared = self.directs.shared_room(actor, partner.actor)
        if shared and (refusal := self.bans.refuses_actor(actor, shared)):
            return f"Not written: {refusal}."
        author, _ = await self.people.complete(account, nameless(actor))
        await self.writer.write(author, partner, text, key)
        return f"Written to {await self.directs.called(partner)}."


@dataclass(frozen=True)
class DirectWriter:
    """Admits a message of one person to another, which nobody else is shown."""

    store: AdmissionStore
    directs: DirectMessages
    bylines: AuthorBylines
    clock: Clock
    new_id: Callable[[], str]
    wake_lane: Callable[[LaneId], None]

    async def write(self, author: Person, partner: DirectEnd, text: str, key: str) -> None:
        """Show the message where each of the two is alone with our bot. What has the same `key` is
        written once. `text` is UACS Markdown."""
        room = self.directs.room_of(author.id, partner.actor)
        if room is None:
            return
        now = self.clock.time()
        message = Message(
            message_id=join_key("between", author.id, key),
            timestamp=to_timestamp(datetime_of(now)),
            actor=Actor(id=author.id, role="human", name=author.name),
            content=(TextPart(text=text),),
        )
        audience = (author.id, partner.actor)
        new = NewMessage(message=message, author=author, time=now, audience=audience)
        posts = [await self._post(new, room, member) for member in room.members]
        await self.directs.meet(author.id, partner.actor)
        admission = Admission(
            "direct", message=new, timelines=(direct_timeline(room),), operations=tuple(posts)
        )
        if not (await self.store.admit(admission)).repeat:
            for post in posts:
                self.wake_lane(post.lane)

    async def _post(self, new: NewMessage, room: Room, member: Member) -> PostMessage:
        platform = split_key(new.author.id)[0]
        return PostMessage(
            id=OperationId(self.new_id()),
            account=member.account,
            channel=member.channel,
            room=room.id,
            message=new.id,
            byline=await self.bylines.for_member(
                new.author, room, member, platform, member.account
            ),
        )
