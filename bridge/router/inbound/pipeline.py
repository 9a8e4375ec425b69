"""The way of one event, stage by stage: reading STAGES is reading the router.

A stage returns None to pass the event on, or the outcome with which its way ends here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from uuid import UUID

from bridge.content.messages.metadata import of_person
from bridge.model import (
    ActionPressed,
    AnswerStopped,
    Byline,
    FeedbackGiven,
    FilesAwaited,
    Ignored,
    Level,
    MessageDeleted,
    MessageEdited,
    MessageId,
    MessagePinned,
    MessagePosted,
    MessagesBulkDeleted,
    MessageUnpinned,
    OperationId,
    Place,
    PostMessage,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    Receipt,
    ThreadDeleted,
    TurnId,
    Unknown,
    conversation_id_of,
    message_id_of,
)
from bridge.model.archive_records import NewMessage, Timeline
from bridge.model.refs import BRIDGE
from bridge.model.turn_records import NewTurn
from bridge.router.commands.parser import hear_command, hear_slash_command
from bridge.router.inbound.admission import admitted, lets_out, taken_back
from bridge.router.inbound.changes import (
    add_files,
    change_by_deletion,
    change_by_edit,
    stood_in_thread,
)
from bridge.router.inbound.channel_events import HAPPENINGS, tell_happening
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.inbound.direct_messages import hear_direct
from bridge.router.inbound.feedback import hear_feedback
from bridge.router.inbound.presses import press_heard, turns_for
from bridge.router.inbound.reactions import mark_what_was_said
from bridge.router.outbound.kept_files import with_kept_files
from bridge.router.outbound.max_delay import given_up_if_late
from bridge.router.rooms.direct_messages import direct_timeline
from bridge.router.rooms.display_names import in_form
from bridge.router.rooms.features import has_threads
from bridge.router.rooms.rooms import Member, Room
from bridge.router.turns.selection import agents_asked, wants_stop
from bridge.router.turns.sessions import session_of

Stage = Callable[[Passage, Surroundings], Awaitable[str | None]]
_CARRIED = (
    MessagePosted,
    MessageEdited,
    FilesAwaited,
    MessageDeleted,
    MessagesBulkDeleted,
    ThreadDeleted,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    MessagePinned,
    MessageUnpinned,
    ActionPressed,
    FeedbackGiven,
    AnswerStopped,
    *HAPPENINGS,
)


async def drop_repeats(passage: Passage, around: Surroundings) -> str | None:
    """Live, catch-up and import may all bring the same message; the archive has it once.

    The admitting transaction asks again, so two at the same moment are one, too.
    """
    match passage.event:
        case Ignored(reason=reason):
            return f"ignored: {reason}"
        case MessagePosted() as event if not event.own:
            known = await around.store.message(message_id_of(event.place.channel, event.native_id))
            return "repeat" if known else None
        case _:
            return None


async def wait_for_files(passage: Passage, around: Surroundings) -> str | None:
    """Files that could not be had are tried again beside all else; then they take their place."""
    event = passage.event
    if not isinstance(event, FilesAwaited):
        return None
    kept = around.keeping.take(passage.row)
    if kept is None:
        around.keeping.put_aside(passage.row, event)
        passage.put_aside = True
        return "put aside: its files are not there"
    passage.kept = kept
    return None


async def settle_own_echo(passage: Passage, around: Surroundings) -> str | None:
    """Our own post came back: proof that it stands there, and nothing to route."""
    event = passage.event
    if not getattr(event, "own", False):
        return None
    if isinstance(event, MessagePosted) and event.operation:
        if await around.store.resolve(event.place.channel, event.native_id):
            return "own_echo"
        receipt = Receipt(slot=event.slot, native_id=event.native_id, thread=event.place.thread)
        if not await around.store.knows_operation(event.operation):
            around.other_bridges.unknown_post(event, "")
        await around.store.record(event.operation, [receipt])
        around.wake_lane(event.place.channel.lane)
    return "own_echo"


async def hear_pairing(passage: Passage, around: Surroundings) -> str | None:
    """A code that somebody gives in a direct message opens an agent to them; it is not kept."""
    event = passage.event
    return await around.doors.hear_code(event) if isinstance(event, MessagePosted) else None


async def admit(passage: Passage, around: Surroundings) -> str | None:
    """Only what is said in a channel of a room comes in, and what the room lets pass. Every event
    kind passes here."""
    refusal = ""
    if not passage.rooms:
        hearing = around.rooms.hearing(passage.event.account, passage.event.place.channel)
        passage.event = taken_back(passage.event, hearing)
        passage.rooms, refusal = await admitted(passage.event, around)
    event = passage.event
    if not passage.rooms:
        return f"not admitted: {refusal}" if refusal else "no_room"
    if isinstance(event, Unknown):
        return f"kept: unknown, {event.kind}"
    return None if isinstance(event, _CARRIED) else f"kept: {event.type}"


async def bury_what_is_gone(passage: Passage, around: Surroundings) -> str | None:
    """What comes after its own deletion is archived as deleted, and shown to nobody."""
    event = passage.event
    if isinstance(event, MessagePosted):
        orphans, channel = around.orphans, event.place.channel
        passage.buried = orphans.is_gone(channel, event.native_id) or await orphans.went_before(
            passage.row, event.place, event.native_id
        )
    return None


async def change_what_was_said(passage: Passage, around: Surroundings) -> str | None:
    """An edit or a deletion reaches every copy; an older one never wins, a deletion is final."""
    match passage.event:
        case MessageEdited() as event:
            return await change_by_edit(passage, event, around)
        case FilesAwaited() as event:
            return await add_files(passage, event, around)
        case MessageDeleted(target=target) as event:
            return await change_by_deletion(passage, event, (target,), around)
        case MessagesBulkDeleted(targets=targets) as event:
            return await change_by_deletion(passage, event, targets, around)
        case ThreadDeleted() as event:
            return await change_by_deletion(
                passage, event, await stood_in_thread(event.place, around), around
            )
        case _:
            return None


async def hear_stop(passage: Passage, around: Surroundings) -> str | None:
    """The platform's own Stop ends the answers that it was pressed on, or what is being answered
    in its thread."""
    event = passage.event
    if not isinstance(event, AnswerStopped):
        return None
    for target in event.targets:
        if known := await around.resolve(event.place.channel, target):
            passage.stopped_answers.append((known, event.actor))
    if not event.targets and event.place.thread:
        passage.stopped_threads.append((await _canonical_root(event.place, around), event.actor))
    return "stop"


async def hear_press(passage: Passage, around: Surroundings) -> str | None:
    """A press goes to the agent whose card it is, and stands in the room's memory as a message
    that no channel shows."""
    event = passage.event
    return await press_heard(passage, event, around) if isinstance(event, ActionPressed) else None


async def name_the_actor(passage: Passage, around: Surroundings) -> str | None:
    """The author, and who is mentioned, get the names by which people know them."""
    event = _posted(passage)
    author, news = await around.people.complete(event.account, event.author)
    if news:
        passage.people.append(author)
        around.linking.seen(event.account, author)
    message = await around.reference_names.named(event.account, event.message)
    if message.actor.name != author.name:
        actor = message.actor.model_copy(update={"name": author.name})
        message = message.model_copy(update={"actor": actor})
    message = of_person(message, await around.linking.person_of(author.id))
    passage.message = NewMessage(
        message=message,
        author=author,
        time=event.time.timestamp(),
        place=event.place,
        native_id=event.native_id,
        audience=event.audience,
        state="deleted" if passage.buried else "edited" if event.edited_at else "complete",
        changed=event.edited_at.timestamp() if event.edited_at else 0.0,
    )
    return None


async def keep_files(passage: Passage, around: Surroundings) -> str | None:
    """Files of the platform are fetched now: later their addresses are dead, or need a token."""
    new = _new(passage)
    if passage.buried:
        return None
    passage.message = replace(new, message=await with_kept_files(new.message, passage, around))
    return None


async def place_in_timelines(passage: Passage, around: Surroundings) -> str | None:
    """The channel's Conversation, the thread's, and each room's; thread roots and answered
    messages get their canonical names."""
    event, new = _posted(passage), _new(passage)
    channel = event.place.channel
    root = reply_to = None
    if event.place.thread:
        root = await _canonical_root(event.place, around)
    if event.reply_to:
        reply_to = await around.resolve(channel, event.reply_to)
    passage.message = replace(new, root=root, reply_to=reply_to)
    passage.timelines = [_channel_timeline(Place(channel=channel))]
    if event.place.thread and root:
        passage.timelines.append(_thread_timeline(event.place, root))
    if passage.direct:
        passage.timelines.append(direct_timeline(passage.direct))
    elif event.audience is None:  # whispers stay out of the rooms' common memory
        passage.timelines += [room.timeline for room in passage.rooms]
    return None


async def route(passage: Passage, around: Surroundings) -> str | None:
    """One operation for each channel that shall show it, one turn for each agent that is asked."""
    event, new = _posted(passage), _new(passage)
    if passage.buried:
        return None
    if passage.press:
        passage.turns = turns_for(passage.press, passage.rooms, new, around)
        return None
    shown = {event.place.channel.key}
    if event.audience is None or passage.direct:
        for room in passage.rooms:
            for member in room.listeners(besides=event.place.channel):
                if member.channel.key not in shown and lets_out(member, new):
                    shown.add(member.channel.key)
                    byline = await _byline(new, room, member, event, around)
                    post = _post(new, room, member, byline, around, broadcast=event.broadcast)
                    passage.operations.append(post)
                    passage.settles += given_up_if_late(post, member, new, around.clock.time())
    for room in passage.rooms:
        for seat in await agents_asked(room, event, new, around):
            if wants_stop(seat, event):
                passage.stops.append((session_of(seat, room.id, new), new.author.id))
                continue
            turn_id = TurnId(around.new_id())
            session = session_of(seat, room.id, new)
            called_by = "bot" if event.author.bot else "person"
            passage.turns.append(
                NewTurn(turn_id, seat.agent, room.id, new.id, session, called_by=called_by)
            )
    return None


STAGES: tuple[Stage, ...] = (
    drop_repeats,
    wait_for_files,
    settle_own_echo,
    hear_direct,
    hear_slash_command,
    hear_command,
    hear_pairing,
    admit,
    bury_what_is_gone,
    change_what_was_said,
    mark_what_was_said,
    hear_feedback,
    hear_stop,
    hear_press,
    tell_happening,
    name_the_actor,
    keep_files,
    place_in_timelines,
    route,
)


def _posted(passage: Passage) -> MessagePosted:
    """`admit` lets nothing else pass."""
    if not isinstance(passage.event, MessagePosted):
        raise TypeError(f"{passage.event.type} passed `admit`")
    return passage.event


def _new(passage: Passage) -> NewMessage:
    if passage.message is None:
        raise TypeError("`name_the_actor` makes the message")
    return passage.message


async def _canonical_root(place: Place, around: Surroundings) -> MessageId:
    """The message that a thread hangs on: said there, or the copy of one said elsewhere."""
    native = place.thread or ""
    known = await around.resolve(place.channel, native)
    if known is None:
        return message_id_of(place.channel, native)
    stored = await around.store.message(known)
    return stored.root if stored and stored.root else known


def _channel_timeline(place: Place) -> Timeline:
    return Timeline(conversation_id_of(place), "channel", place.key)


def _thread_timeline(place: Place, root: str) -> Timeline:
    parent: UUID = conversation_id_of(Place(channel=place.channel))
    metadata = {"parent": str(parent), "root": root}
    return Timeline(conversation_id_of(place), "thread", place.key, metadata)


async def _byline(
    new: NewMessage, room: Room, member: Member, event: MessagePosted, around: Surroundings
) -> Byline:
    if new.author.id == BRIDGE:
        return Byline(name=new.author.name)
    name = await around.names.shown(room, new.author)
    if (template := member.options.names) is not None:
        name = in_form(template, name, new.author, event.place.channel.platform, event.account)
    return around.bylines.of_person(new.author, name)


def _post(
    new: NewMessage,
    room: Room,
    member: Member,
    byline: Byline,
    around: Surroundings,
    *,
    broadcast: bool,
) -> PostMessage:
    """What was said to a thread and its channel is in the channel where it cannot be in both."""
    both = broadcast and _can_broadcast(member, around)
    flat = (
        member.options.threads == "flat"
        or (broadcast and not both)
        or not has_threads(around.connectors, member.account)
    )
    return PostMessage(
        id=OperationId(around.new_id()),
        account=member.account,
        channel=member.channel,
        room=room.id,
        message=new.id,
        byline=byline,
        root=None if flat else new.root,
        reply_to=new.reply_to or (new.root if flat else None),
        broadcast=both and not flat,
    )


def _can_broadcast(member: Member, around: Surroundings) -> bool:
    connector = around.connectors.get(member.account)
    return connector is not None and connector.capabilities.features.get("broadcast") == Level.FULL
