"""Further user actions on the local Slack: join and leave, rename, other kinds of posts."""

from __future__ import annotations

import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import FileUpload
from connectors.slack.sandbox.state import Channel, Draft, File, Message, Person, Workspace, ts_of
from connectors.slack.sandbox.state_changes import StateChanges
from connectors.slack.sandbox.streaming import stop

LONGEST_TOPIC = 250
_NAME = re.compile(r"[\w-]{1,80}")
_LONGEST_NAME = re.compile(r"[\w-]{1,80}")


class PlatformActions(ABC):
    """The first arguments of each action are the workspace, the channel and the person."""

    _changes: StateChanges

    @abstractmethod
    def _membership_of(
        self, workspace: str, channel: str, person: str
    ) -> tuple[Workspace, Channel, Person]:
        """The workspace, the channel and the person of an action. Raises NotFound."""

    @abstractmethod
    def _give_file(self, team: Workspace, person: Person, value: FileUpload) -> File:
        """A file that a person picks on their own machine."""

    @abstractmethod
    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        """Run `act` after `seconds`, unless the local Slack is closed before."""

    @abstractmethod
    def _with_references(self, team: Workspace, text: str) -> str:
        """Typed text as Slack stores it."""

    async def join_as(self, workspace: str, channel: str, person: str) -> None:
        """A person joins a channel."""
        team, place, member = self._membership_of(workspace, channel, person)
        if member.id not in place.members:
            self._changes.join(team, place, member)

    async def leave_as(self, workspace: str, channel: str, person: str) -> None:
        """A person leaves a channel; nobody can leave the general channel."""
        team, place, member = self._member(workspace, channel, person)
        if place.general:
            raise Refused(f"cant_leave_general: everybody is in {place.name!r}")
        self._changes.leave(team, place, member.id)

    async def set_topic_as(self, workspace: str, channel: str, person: str, topic: str) -> None:
        team, place, member = self._member(workspace, channel, person)
        if len(topic) > LONGEST_TOPIC:
            raise InvalidData(f"A Slack topic has at most {LONGEST_TOPIC} characters")
        self._changes.set_topic(team, place, member.id, self._with_references(team, topic))

    async def rename_as(self, workspace: str, channel: str, person: str, name: str) -> None:
        """A person renames a channel: lower case, digits, "-" and "_"."""
        team, place, member = self._member(workspace, channel, person)
        if not _NAME.fullmatch(name) or name != name.lower():
            raise InvalidData(f"invalid_name: {name!r} is not a valid Slack channel name")
        if team.by_name.get(name, place) is not place:
            raise Refused(f"name_taken: there is a channel {name!r} already")
        self._changes.rename(team, place, member.id, name)

    async def me_as(self, workspace: str, channel: str, person: str, text: str) -> LocalMessage:
        """A person types `/me text`; Slack accepts it in channels, not in threads."""
        team, place, member = self._member(workspace, channel, person)
        draft = Draft(member.id, self._with_references(team, text), subtype="me_message")
        return self._changes.post(team, place, draft)[1]

    async def broadcast_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str
    ) -> LocalMessage:
        """A person replies in a thread and also sends the reply to the channel."""
        team, place, member = self._member(workspace, channel, person)
        root = self._message(place, thread)
        draft = self._draft(team, member, text)
        draft.parent = root.at if root.parent is None else root.parent
        draft.broadcast = True
        return self._changes.post(team, place, draft)[1]

    async def lock_thread_as(
        self, workspace: str, channel: str, person: str, thread: str, *, locked: bool = True
    ) -> None:
        """A member closes a thread to replies, or opens it again."""
        _, place, _ = self._member(workspace, channel, person)
        self._message(place, thread).locked = locked

    async def forward_as(
        self, workspace: str, channel: str, person: str, message: str, to: str, text: str = ""
    ) -> LocalMessage:
        """A person shares a message of `channel` in the channel `to`, with or without text."""
        team, place, member = self._member(workspace, channel, person)
        _, target, _ = self._member(workspace, to, person)
        shared = self._message(place, message)
        draft = self._draft(team, member, text)
        draft.attachments = [shared_message(team, place, shared)]
        return self._changes.post(team, target, draft)[1]

    async def stop_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """A person presses Stop under a streamed message, or on a thread with the
        status of an app."""
        team, place, member = self._member(workspace, channel, person)
        target = self._message(place, message)
        if stop(target, self._changes.now()) and target.app is not None:
            thread = ts_of(target.parent or target.at)
            self._changes.stopped(team, place, target.app, thread, [target.ts], member.id)
        elif place.status(message, self._changes.now()):
            for app in team.apps:
                self._changes.stopped(team, place, app, message, [], member.id)
        else:
            raise Refused(f"Message {message!r} is not being streamed")

    async def remove_file_as(
        self, workspace: str, channel: str, person: str, message: str, name: str
    ) -> None:
        """A person deletes one of their files in a message."""
        team, place, member = self._member(workspace, channel, person)
        files = self._message(place, message).files or ()
        file = next((file for file in files if file.name == name and not file.deleted), None)
        if file is None or file.user != member.id:
            raise Refused(f"{member.name!r} has no file {name!r} in message {message!r}")
        self._changes.delete_file(team, file)

    async def voice_as(
        self, workspace: str, channel: str, person: str, file: FileUpload, seconds: float = 1.0
    ) -> LocalMessage:
        """A person records an audio clip, which is a file with a subtype."""
        team, place, member = self._member(workspace, channel, person)
        spoken = self._give_file(team, member, file)
        spoken.spoken_ms = int(seconds * 1000)
        draft = self._draft(team, member, "")
        draft.files = [spoken]
        return self._changes.post(team, place, draft)[1]

    async def schedule_as(
        self, workspace: str, channel: str, person: str, text: str, seconds: float
    ) -> None:
        """A person schedules a post; apps receive it when it is posted, as any other post."""
        team, place, member = self._member(workspace, channel, person)
        draft = self._draft(team, member, text)
        self._later(seconds, lambda: self._changes.post(team, place, draft))

    def _draft(self, team: Workspace, person: Person, text: str) -> Draft:
        """A message as the client of a person sends it."""
        text = self._with_references(team, text)
        return Draft(person.id, text, client_msg_id=str(uuid.uuid4()))

    def _member(
        self, workspace: str, channel: str, person: str
    ) -> tuple[Workspace, Channel, Person]:
        team, place, member = self._membership_of(workspace, channel, person)
        if member.id not in place.members or place.archived:
            raise Refused(
                f"{member.name!r} cannot act in {place.name!r}: not a member, or archived"
            )
        return team, place, member

    def _message(self, place: Channel, ts: str) -> Message:
        target = place.find(ts)
        if target is None or target.removed:
            raise NotFound(f"No message {ts!r} in {place.id!r}")
        return target


def shared_message(team: Workspace, place: Channel, message: Message) -> dict[str, object]:
    """The attachment that shows a shared message (java-slack-sdk, message with `is_share`)."""
    author = team.people.get(message.user)
    name = author.name if author else message.user
    link = f"https://{team.domain}.slack.com/archives/{place.id}/p{message.ts.replace('.', '')}"
    shape: dict[str, object] = {
        "ts": message.ts, "channel_id": place.id, "channel_team": team.id, "is_msg_unfurl": True,
        "is_share": True, "author_id": message.user, "author_name": name, "author_subname": name,
        "author_link": f"https://{team.domain}.slack.com/team/{message.user}", "from_url": link,
        "text": message.text, "fallback": f"[{message.ts}] {name}: {message.text}", "id": 1,
        "original_url": link, "footer": f"Posted in #{place.name}", "mrkdwn_in": ["text"],
        "color": "D0D0D0",
    }  # fmt: skip
    if message.blocks:
        inner = {"team": team.id, "channel": place.id, "ts": message.ts}
        shape["message_blocks"] = [inner | {"message": {"blocks": message.blocks}}]
    return shape
