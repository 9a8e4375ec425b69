"""More actions of users on the local Discord: join, leave, rename, vote, forward, send voice.

`channel` may be a thread wherever the action applies to threads.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Sequence

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import FileUpload
from connectors.discord.sandbox.drafts import Draft, FileWish
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.rich.polls import MAX_ANSWERS, MAX_HOURS, Poll
from connectors.discord.sandbox.shapes import Json, message_json
from connectors.discord.sandbox.snowflakes import iso_time
from connectors.discord.sandbox.state import (
    SPOKEN,
    Channel,
    ChannelType,
    Guild,
    Message,
    MessageType,
    User,
)
from connectors.discord.sandbox.state_changes import StateChanges, reference_to
from connectors.discord.sandbox.text import ALL_MENTIONS

LONGEST_NAME = 100
LONGEST_TOPIC = {ChannelType.FORUM: 4096}
STICKER = 749054660769218631  # "Wave", of the packs that everybody has
_HAS_SNAPSHOT = 1 << 14
_IS_VOICE = 1 << 13
_IN_SNAPSHOTS = (
    "type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags",
    "mentions", "mention_roles", "components", "sticker_items",
)  # fmt: skip


class PlatformActions(ABC):
    """Each action takes the workspace, the channel and the person first."""

    _changes: StateChanges

    @abstractmethod
    def _place_and_user(self, workspace: str, channel: str, person: str) -> tuple[Channel, User]:
        """Return the channel of an action and the user who does it."""

    @abstractmethod
    def _file_wish(self, file: FileUpload) -> FileWish:
        """Return the file as part of a draft."""

    async def join_as(self, workspace: str, channel: str, person: str) -> None:
        """A person becomes a member of the server that the channel is in."""
        place, user = self._place_and_user(workspace, channel, person)
        guild = _guild(place)
        if user.id not in guild.members:
            self._changes.join(guild, user)

    async def leave_as(self, workspace: str, channel: str, person: str) -> None:
        """A person leaves the server that the channel is in; its owner cannot."""
        place, user = self._place_and_user(workspace, channel, person)
        guild = _guild(place)
        if guild.owner_id == user.id or user.id not in guild.members:
            raise Refused(f"{user.display_name!r} owns {guild.name!r}, or is not in it")
        self._changes.leave(guild, user)

    async def set_topic_as(self, workspace: str, channel: str, person: str, topic: str) -> None:
        place, _ = self._managed(workspace, channel, person)
        longest = LONGEST_TOPIC.get(ChannelType(place.type), 1024)
        if place.thread or len(topic) > longest:
            raise InvalidData(f"A channel's topic has at most {longest} characters, a thread none")
        place.topic = topic or None
        self._changes.change_channel(place)

    async def rename_as(self, workspace: str, channel: str, person: str, name: str) -> None:
        """A person gives a channel or a thread another name."""
        place, _ = self._managed(workspace, channel, person)
        if not 1 <= len(name.strip()) <= LONGEST_NAME:
            raise InvalidData(f"A name has 1 to {LONGEST_NAME} characters")
        place.name = name.strip()
        self._changes.change_channel(place)

    async def start_thread_as(
        self, workspace: str, channel: str, person: str, name: str,
        message: str | None = None, text: str = "",
    ) -> str:  # fmt: skip
        """Start a thread from a message, without one, or as a forum post with a first `text`.

        Returns the thread's id.
        """
        place, user = self._allowed(workspace, channel, person, Permission.CREATE_PUBLIC_THREADS)
        if not 1 <= len(name.strip()) <= LONGEST_NAME:
            raise InvalidData(f"A thread's name has 1 to {LONGEST_NAME} characters")
        if message is not None:
            return str(
                self._changes.start_thread_from(self._message(place, message), user, name).id
            )
        is_forum = place.type == ChannelType.FORUM
        if is_forum and not text.strip():
            raise InvalidData("A post of a forum begins with a message: give its `text`")
        thread = self._changes.start_thread(place, user, name)
        if text:
            own_id = thread.id if is_forum else None
            self._changes.post(thread, user, Draft(content=text), message_id=own_id)
        return str(thread.id)

    async def close_thread_as(
        self, workspace: str, channel: str, person: str, thread: str, *, lock: bool = False
    ) -> None:
        """Archive a thread; locking it needs Manage Threads."""
        place, user = self._managed(workspace, thread, person)
        data = place.thread
        if data is None or str(place.root.id) != channel:
            raise NotFound(f"No thread {thread!r} in {channel!r}")
        if lock and not permissions_in(place, user.id) & Permission.MANAGE_THREADS:
            raise Refused(f"{user.display_name!r} may not lock thread {thread}")
        data.archived, data.locked = True, lock
        data.archive_time = iso_time(self._changes.state.now())
        self._changes.change_channel(place)

    async def delete_thread_as(
        self, workspace: str, channel: str, person: str, thread: str
    ) -> None:
        """Delete a thread with all its messages; needs Manage Threads."""
        place, user = self._managed(workspace, thread, person)
        if place.thread is None or str(place.root.id) != channel:
            raise NotFound(f"No thread {thread!r} in {channel!r}")
        if not permissions_in(place, user.id) & Permission.MANAGE_THREADS:
            raise Refused(f"{user.display_name!r} may not delete thread {thread}")
        self._changes.delete_channel(place)

    async def poll_as(
        self, workspace: str, channel: str, person: str, question: str, answers: Sequence[str],
        hours: int = 24, *, several: bool = False,
    ) -> LocalMessage:  # fmt: skip
        """Post a poll."""
        fits = 1 <= len(question) <= 300 and all(1 <= len(answer) <= 55 for answer in answers)
        if not (fits and 1 <= len(answers) <= MAX_ANSWERS and 1 <= hours <= MAX_HOURS):
            raise InvalidData("A poll has a question of 300 characters, 1 to 10 answers of 55")
        poll = Poll({"text": question}, [{"text": answer} for answer in answers], hours, several)
        return self._post(workspace, channel, person, None, Draft(poll=poll))

    async def vote_as(
        self, workspace: str, channel: str, person: str, message: str, answers: Sequence[int]
    ) -> None:
        """Vote for these answers (1, 2 ...) of a poll and withdraw all other votes."""
        place, user = self._place_and_user(workspace, channel, person)
        target = self._message(place, message)
        poll = target.poll
        if poll is None or poll.finalized:
            raise Refused(f"Message {message} is not a poll, or it has ended")
        if len(answers) > 1 and not poll.several:
            raise Refused("This poll takes one answer of each")
        self._changes.vote(target, user, set(answers))

    async def end_poll_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """End a poll of one's own early."""
        place, user = self._place_and_user(workspace, channel, person)
        target = self._message(place, message)
        if target.poll is None or target.author is not user:
            raise Refused(f"Message {message} is not a poll of {user.display_name!r}")
        self._changes.end_poll(target)

    async def sticker_as(
        self, workspace: str, channel: str, person: str, name: str = "Wave", text: str = ""
    ) -> LocalMessage:
        """Send a sticker, with or without text."""
        sticker: Json = {"id": str(STICKER), "name": name, "format_type": 1}
        return self._post_special(
            workspace, channel, person, Draft(content=text), stickers=[sticker]
        )

    async def reply_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage:
        """Reply to a message, in its channel or thread."""
        place, user = self._allowed(workspace, channel, person, Permission.SEND_MESSAGES)
        target = self._message(place, message)
        shape = self._changes.post(
            target.channel,
            user,
            Draft(content=text),
            reply_to=target,
            reference=reference_to(target),
        )
        return self._changes.to_shown(target.channel.messages[int(shape["id"])], shape)

    async def forward_as(
        self, workspace: str, channel: str, person: str, message: str, to: str, text: str = ""
    ) -> LocalMessage:
        """Forward a message of `channel` to the channel `to`; `text` follows as another message."""
        place, _ = self._place_and_user(workspace, channel, person)
        target = self._message(place, message)
        whole = message_json(target, self._changes.state)
        snapshot = {name: whole[name] for name in _IN_SNAPSHOTS if name in whole}
        copy = self._post_special(
            workspace, to, person, Draft(flags=_HAS_SNAPSHOT),
            snapshots=[{"message": snapshot}], reference={**reference_to(target), "type": 1},
        )  # fmt: skip
        if text:
            self._post(workspace, to, person, None, Draft(content=text))
        return copy

    async def remove_file_as(
        self, workspace: str, channel: str, person: str, message: str, name: str
    ) -> LocalMessage:
        """Remove a file from a message of one's own, which is an edit."""
        place, user = self._place_and_user(workspace, channel, person)
        target = self._message(place, message)
        other_files = [
            FileWish(attachment_id=attachment.id)
            for attachment in target.attachments
            if attachment.filename != name
        ]
        if target.author is not user or len(other_files) == len(target.attachments):
            raise Refused(f"{user.display_name!r} has no file {name!r} in message {message}")
        if not other_files and not target.content:
            raise InvalidData("A message of Discord has words or files: delete it instead")
        shape = self._changes.edit(target, Draft(files=other_files), ALL_MENTIONS)
        return self._changes.to_shown(target, shape)

    async def voice_as(
        self, workspace: str, channel: str, person: str, file: FileUpload, seconds: float = 1.0
    ) -> LocalMessage:
        """Send a voice message: one audio file and nothing else."""
        draft = Draft(files=[self._file_wish(file)], flags=_IS_VOICE)
        waveform = base64.b64encode(bytes(range(0, 256, 8))).decode()
        return self._post_special(workspace, channel, person, draft, sound=(seconds, waveform))

    @abstractmethod
    def _post(
        self, workspace: str, channel: str, person: str, thread: str | None, draft: Draft
    ) -> LocalMessage:
        """Post a user's message in a channel where they may write."""

    def _post_special(
        self, workspace: str, channel: str, person: str, draft: Draft, *,
        stickers: Sequence[Json] = (), snapshots: Sequence[Json] = (),
        reference: Json | None = None, sound: tuple[float, str] | None = None,
    ) -> LocalMessage:  # fmt: skip
        """Post a message with stickers, snapshots or sound, which `StateChanges.post` lacks."""
        permission = Permission.SEND_MESSAGES
        place, user = self._allowed(workspace, channel, person, permission)
        message = self._changes.compose(place, user, draft)
        message.type = MessageType.DEFAULT
        message.stickers, message.snapshots = list(stickers), list(snapshots)
        message.reference = reference
        if sound:
            message.attachments[0].seconds, message.attachments[0].waveform = sound
        shape = self._changes.publish(message)
        return self._changes.to_shown(message, shape)

    def _managed(self, workspace: str, channel: str, person: str) -> tuple[Channel, User]:
        """Return a channel that this user may change; a thread's owner may change the thread."""
        place, user = self._place_and_user(workspace, channel, person)
        permission = Permission.MANAGE_THREADS if place.thread else Permission.MANAGE_CHANNELS
        owns = place.thread is not None and place.thread.owner_id == user.id
        if not owns and not permissions_in(place, user.id) & permission:
            raise Refused(f"{user.display_name!r} may not change {place.name!r}")
        return place, user

    def _allowed(
        self, workspace: str, channel: str, person: str, permission: Permission
    ) -> tuple[Channel, User]:
        place, user = self._place_and_user(workspace, channel, person)
        if not permissions_in(place, user.id) & permission:
            raise Refused(f"{user.display_name!r} may not do that in {place.name!r}")
        return place, user

    def _message(self, place: Channel, message: str) -> Message:
        """Return a message that a user or bot wrote, in the channel or one of its threads."""
        message_id = int(message) if message.isdecimal() else -1
        places = (place, *self._changes.state.threads_of(place))
        messages = next((p.messages[message_id] for p in places if message_id in p.messages), None)
        if messages is None or messages.type not in SPOKEN:
            raise NotFound(f"No message {message!r} in {place.id}")
        return messages


def _guild(place: Channel) -> Guild:
    if place.guild is None:
        raise InvalidData("Nobody joins or leaves direct messages")
    return place.guild
