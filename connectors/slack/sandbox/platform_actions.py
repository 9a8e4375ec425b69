"""What else people do on the local Slack: come and go, name things, speak in other ways."""

from __future__ import annotations

import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.feed import Shown
from bridge.sandbox.user_actions import FileUpload
from connectors.slack.sandbox.state import Channel, File, Message, Person, Workspace, ts_of
from connectors.slack.sandbox.state_changes import Draft, StateChanges
from connectors.slack.sandbox.streaming import stop

LONGEST_TOPIC = 250
_NAME = re.compile(r"[\w-]{1,80}")
_LONGEST_NAME = re.compile(r"[\w-]{1,80}")


class PlatformActions(ABC):
    """Each action takes the workspace, the channel and the person first."""

    _changes: StateChanges

    @abstractmethod
    def _membership_of(
        self, workspace: str, channel: str, person: str
    ) -> tuple[Workspace, Channel, Person]:
        """Where it is done, and by whom."""

    @abstractmethod
    def _give_file(self, team: Workspace, person: Person, value: FileUpload) -> File:
        """A file that a person picks on their own machine."""

    @abstractmethod
    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        """Do it then, unless the local Slack is closed before."""

    @abstractmethod
    def _with_references(self, team: Workspace, text: str) -> str:
        """Words as a person types them, as Slack keeps them."""

    async def join_as(self, workspace: str, channel: str, person: str) -> None:
        """A person enters a channel."""
        team, place, who = self._membership_of(workspace, channel, person)
        if who.id not in place.members:
            self._changes.join(team, place, who)

    async def leave_as(self, workspace: str, channel: str, person: str) -> None:
        """A person leaves a channel; nobody leaves the one that has everybody in it."""
        team, place, who = self._member(workspace, channel, person)
        if place.general:
            raise Refused(f"cant_leave_general: everybody is in {place.name!r}")
        self._changes.leave(team, place, who.id)

    async def set_topic_as(self, workspace: str, channel: str, person: str, topic: str) -> None:
        team, place, who = self._member(workspace, channel, person)
        if len(topic) > LONGEST_TOPIC:
            raise InvalidData(f"A topic of Slack has at most {LONGEST_TOPIC} characters")
        self._changes.set_topic(team, place, who.id, self._with_references(team, topic))

    async def rename_as(self, workspace: str, channel: str, person: str, name: str) -> None:
        """A person gives a channel another name: lower case, digits, "-" and "_"."""
        team, place, who = self._member(workspace, channel, person)
        if not _NAME.fullmatch(name) or name != name.lower():
            raise InvalidData(f"invalid_name: {name!r} is no name for a channel of Slack")
        if team.by_name.get(name, place) is not place:
            raise Refused(f"name_taken: there is a channel {name!r} already")
        self._changes.rename(team, place, who.id, name)

    async def me_as(self, workspace: str, channel: str, person: str, text: str) -> Shown:
        """A person types `/me text`; Slack takes that in channels, not in threads."""
        team, place, who = self._member(workspace, channel, person)
        draft = Draft(who.id, self._with_references(team, text), subtype="me_message")
        return self._changes.post(team, place, draft)[1]

    async def broadcast_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str
    ) -> Shown:
        """A person answers in a thread and sends it to the channel, too."""
        team, place, who = self._member(workspace, channel, person)
        root = self._message(place, thread)
        draft = Draft(who.id, self._with_references(team, text), client_msg_id=str(uuid.uuid4()))
        draft.parent = root.at if root.parent is None else root.parent
        draft.broadcast = True
        return self._changes.post(team, place, draft)[1]

    async def lock_thread_as(
        self, workspace: str, channel: str, person: str, thread: str, *, locked: bool = True
    ) -> None:
        """A person closes a thread to replies, or opens it again; those with a say may."""
        _, place, _ = self._member(workspace, channel, person)
        self._message(place, thread).locked = locked

    async def forward_as(
        self, workspace: str, channel: str, person: str, message: str, to: str, text: str = ""
    ) -> Shown:
        """A person shares a message of `channel` in the channel `to`, with words or without."""
        team, place, who = self._member(workspace, channel, person)
        _, target, _ = self._member(workspace, to, person)
        shared = self._message(place, message)
        draft = Draft(
            who.id, self._with_references(team, text), client_msg_id=str(uuid.uuid4()),
            attachments=[shared_message(team, place, shared)],
        )  # fmt: skip
        return self._changes.post(team, target, draft)[1]

    async def stop_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """A person presses Stop under a message that is being streamed, or on a thread that says
        that an app works there."""
        team, place, who = self._member(workspace, channel, person)
        target = self._message(place, message)
        if stop(target, self._changes.now()) and target.app is not None:
            thread = ts_of(target.parent or target.at)
            self._changes.stopped(team, place, target.app, thread, [target.ts], who.id)
        elif place.status(message, self._changes.now()):
            for app in team.apps:
                self._changes.stopped(team, place, app, message, [], who.id)
        else:
            raise Refused(f"Nothing is being written in message {message!r}")

    async def remove_file_as(
        self, workspace: str, channel: str, person: str, message: str, name: str
    ) -> None:
        """A person deletes a file of theirs that stands in a message."""
        team, place, who = self._member(workspace, channel, person)
        files = self._message(place, message).files or ()
        file = next((file for file in files if file.name == name and not file.gone), None)
        if file is None or file.user != who.id:
            raise Refused(f"{who.name!r} has no file {name!r} in message {message!r}")
        self._changes.delete_file(team, file)

    async def voice_as(
        self, workspace: str, channel: str, person: str, file: FileUpload, seconds: float = 1.0
    ) -> Shown:
        """A person speaks: an audio clip, which is a file of its own kind."""
        team, place, who = self._member(workspace, channel, person)
        spoken = self._give_file(team, who, file)
        spoken.spoken_ms = int(seconds * 1000)
        draft = Draft(who.id, "", client_msg_id=str(uuid.uuid4()), files=[spoken])
        return self._changes.post(team, place, draft)[1]

    async def schedule_as(
        self, workspace: str, channel: str, person: str, text: str, seconds: float
    ) -> None:
        """A person writes what Slack shall post later; apps hear of it then, as of any post."""
        team, place, who = self._member(workspace, channel, person)
        draft = Draft(who.id, self._with_references(team, text), client_msg_id=str(uuid.uuid4()))
        self._later(seconds, lambda: self._changes.post(team, place, draft))

    def _member(
        self, workspace: str, channel: str, person: str
    ) -> tuple[Workspace, Channel, Person]:
        team, place, who = self._membership_of(workspace, channel, person)
        if who.id not in place.members or place.archived:
            raise Refused(f"{who.name!r} does nothing in {place.name!r}: not a member, or archived")
        return team, place, who

    def _message(self, place: Channel, ts: str) -> Message:
        target = place.find(ts)
        if target is None or target.removed:
            raise NotFound(f"No message {ts!r} in {place.id!r}")
        return target


def shared_message(team: Workspace, place: Channel, message: Message) -> dict[str, object]:
    """The attachment that shows a message elsewhere (java-slack-sdk, message with `is_share`)."""
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
