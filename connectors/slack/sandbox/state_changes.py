"""The actions of people and apps: each changes the state and notifies the feed and the apps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Literal

from bridge.sandbox.feed import Change, Feed, LocalMessage
from connectors.slack.sandbox import events
from connectors.slack.sandbox.blocks.stored import new_id
from connectors.slack.sandbox.events import Event
from connectors.slack.sandbox.files import share
from connectors.slack.sandbox.shapes import message_json, to_shown
from connectors.slack.sandbox.state import (
    App,
    Channel,
    Draft,
    File,
    Message,
    Person,
    Reaction,
    Slack,
    Workspace,
)
from connectors.slack.sandbox.text import rich_text

Json = dict[str, Any]
Tell = Callable[[App, Event], None]
SYSTEM_LINES = frozenset({"channel_join", "channel_leave", "channel_topic", "channel_name"})
MAX_WHISPERS = 500  # per channel


class StateChanges:
    """The only writer of the state; `tell` sends an event to one app."""

    def __init__(self, slack: Slack, feed: Feed, tell: Tell, now: Callable[[], float]) -> None:
        self.slack = slack
        self.now = now
        self._feed = feed
        self._tell = tell

    def post(
        self, workspace: Workspace, channel: Channel, draft: Draft
    ) -> tuple[Message, LocalMessage]:
        message = self.compose(channel, draft)
        channel.add(message)
        if message.app is not None and message.parent is not None:
            channel.statuses.pop(message.parent, None)
        for file in draft.files or ():
            share(file, channel, message)
        raw = message_json(message, workspace.id)
        root = events.root_of(channel, message, workspace.id)
        self._announce(workspace, channel, events.posted(channel, message, raw, root), message.app)
        self._mention(workspace, channel, message, raw, message.at)
        return message, self._publish("posted", workspace, channel, message, raw)

    def stopped(
        self, workspace: Workspace, channel: Channel, app: App, thread: str, streaming: list[str],
        user: str,
    ) -> None:  # fmt: skip
        """A person pressed Stop on an app's work; only that app receives the event."""
        at = channel.next_at(self.now())
        event = events.stopped(channel, thread, streaming, user, at)
        if events.receives(app, event, channel):
            self._tell(app, event)

    def compose(self, channel: Channel, draft: Draft) -> Message:
        """A message with its time, not yet in the channel; plain text gets its rich_text."""
        at = channel.next_at(self.now())
        blocks = draft.blocks
        if blocks is None and draft.text and not draft.attachments and draft.subtype is None:
            blocks = rich_text(draft.text, new_id())
        content: dict[str, Any] = {
            member.name: getattr(draft, member.name) for member in fields(draft)
        }
        content["blocks"] = blocks
        return Message(at=at, **content)

    def whisper(self, channel: Channel, draft: Draft, person: str) -> Message:
        """Post an ephemeral message for one person; apps receive no event, and it is
        kept briefly."""
        message = self.compose(channel, draft)
        message.audience = person
        channel.whispers[message.at] = message
        while len(channel.whispers) > MAX_WHISPERS:
            del channel.whispers[next(iter(channel.whispers))]
        return message

    def edit(
        self, workspace: Workspace, channel: Channel, message: Message, fields: Json, by: str
    ) -> int:
        """Apply `changes` to a message, mark it as edited, and return the time of the edit."""
        before = message_json(message, workspace.id)
        for name, value in fields.items():
            setattr(message, name, value)
        message.edited_at = int(self.now()) * 1_000_000  # whole seconds, as Slack writes them
        message.edited_by = by
        raw = message_json(message, workspace.id)
        at = channel.next_at(self.now())
        self._announce(workspace, channel, events.changed(channel, at, raw, before), message.app)
        self._publish("edited", workspace, channel, message, raw)
        return at

    def grow(self, workspace: Workspace, channel: Channel, message: Message, fields: Json) -> None:
        """Append to a stream; apps receive an event when it ends."""
        for name, value in fields.items():
            setattr(message, name, value)
        raw = message_json(message, workspace.id)
        self._publish("edited", workspace, channel, message, raw)

    def settle(
        self, workspace: Workspace, channel: Channel, message: Message, fields: Json
    ) -> None:
        """Change a message without an edit mark: a stream ended, or a file was deleted."""
        before = message_json(message, workspace.id)
        self.grow(workspace, channel, message, fields)
        raw = message_json(message, workspace.id)
        at = channel.next_at(self.now())
        self._announce(workspace, channel, events.changed(channel, at, raw, before), message.app)

    def retype(self, workspace: Workspace, channel: Channel, message: Message, text: str) -> None:
        """A person changes the text of their message, with its blocks.

        A mentioned app receives a further `app_mention` with `edited` (java-slack-sdk #755,
        slack-go #1256).
        """
        blocks = rich_text(text, new_id()) if text else None
        fields = {"text": text, "blocks": blocks}
        at = self.edit(workspace, channel, message, fields, message.user)
        self._mention(workspace, channel, message, message_json(message, workspace.id), at)

    def delete(self, workspace: Workspace, channel: Channel, message: Message) -> None:
        before = message_json(message, workspace.id)
        channel.remove(message)
        for file in message.files or ():
            file.shares[channel.id].remove(message.ts)
        at = channel.next_at(self.now())
        if message.removed:
            raw = message_json(message, workspace.id)
            event = events.changed(channel, at, raw, before)
        else:
            raw = before
            event = events.deleted(channel, at, before)
        self._announce(workspace, channel, event, message.app)
        self._publish("deleted", workspace, channel, message, raw)

    def delete_file(self, workspace: Workspace, file: File) -> None:
        """Replace the file by a tombstone; a message that showed nothing else is deleted (docs,
        "Working with files", 2026-08)."""
        del workspace.files[file.id]
        tombstone = replace(file, deleted=True)
        shares = [(channel, ts) for channel, stamps in file.shares.items() for ts in stamps]
        for own_id, ts in shares:
            place = workspace.channels[own_id]
            message = place.find(ts)
            if message is None or not message.files:
                continue
            remaining = [tombstone if other is file else other for other in message.files]
            if message.text or not all(file.deleted for file in remaining):
                self.settle(workspace, place, message, {"files": remaining})
            else:
                self.delete(workspace, place, message)

    def join(self, workspace: Workspace, channel: Channel, person: Person) -> None:
        """Join a channel: a system message, and two events."""
        channel.members[person.id] = None
        text = f"<@{person.id}> has joined the channel"
        self.post(workspace, channel, Draft(person.id, text, subtype="channel_join"))
        at = channel.next_at(self.now())
        self._announce(workspace, channel, events.joined(workspace, channel, person.id, at), None)

    def leave(self, workspace: Workspace, channel: Channel, user: str) -> None:
        """Leave a channel: a system message and an event, which a leaving app does not receive."""
        channel.members.pop(user, None)
        text = f"<@{user}> has left the channel"
        self.post(workspace, channel, Draft(user, text, subtype="channel_leave"))
        at = channel.next_at(self.now())
        self._announce(workspace, channel, events.left(workspace, channel, user, at), None)

    def set_topic(self, workspace: Workspace, channel: Channel, user: str, topic: str) -> None:
        """Change the topic; the system message is the only event."""
        channel.topic = topic
        text = f"set the channel topic: {topic}" if topic else "cleared the channel topic"
        facts = {"topic": topic}
        self.post(
            workspace, channel,
            Draft(user, f"<@{user}> {text}", subtype="channel_topic", facts=facts),
        )  # fmt: skip

    def rename(self, workspace: Workspace, channel: Channel, user: str, name: str) -> None:
        """Rename a channel: a system message and an event."""
        before = channel.name
        del workspace.by_name[before]
        channel.name = name
        workspace.by_name[name] = channel
        text = f'<@{user}> has renamed the channel from "{before}" to "{name}"'
        facts = {"old_name": before, "name": name}
        self.post(workspace, channel, Draft(user, text, subtype="channel_name", facts=facts))
        at = channel.next_at(self.now())
        self._announce(workspace, channel, events.renamed(channel, at), None)

    def react(
        self, workspace: Workspace, channel: Channel, message: Message, user: str, name: str
    ) -> None:
        message.reactions.setdefault(name, Reaction(name)).users.append(user)
        self._reaction("reaction_added", workspace, channel, message, user, name)

    def unreact(
        self, workspace: Workspace, channel: Channel, message: Message, user: str, name: str
    ) -> None:
        message.reactions[name].users.remove(user)
        if not message.reactions[name].users:
            del message.reactions[name]
        self._reaction("reaction_removed", workspace, channel, message, user, name)

    def pin(
        self, workspace: Workspace, channel: Channel, message: Message, user: str, *, pinned: bool
    ) -> None:
        """Pin a message, or remove its pin; every app in the channel receives an event."""
        at = channel.next_at(self.now())
        if pinned:
            message.pinned_by, message.pinned_at = user, at
        event = events.pinned(workspace, channel, message, user, at, pinned=pinned)
        if not pinned:
            message.pinned_by = None
        self._announce(workspace, channel, event, None)
        self._publish("marked", workspace, channel, message)

    def _reaction(
        self, kind: Literal["reaction_added", "reaction_removed"],
        workspace: Workspace, channel: Channel, message: Message, user: str, name: str,
    ) -> None:  # fmt: skip
        at = channel.next_at(self.now())
        event = events.reacted(kind, channel, message, user, name, at)
        self._announce(workspace, channel, event, None)
        self._publish("marked", workspace, channel, message)

    def _announce(
        self, workspace: Workspace, channel: Channel, event: Event, author: App | None
    ) -> None:
        """Send the event to every app whose bot is in the channel, including the author's app."""
        for app in workspace.apps:
            if events.receives(app, event, channel):
                self._tell(app, events.fit_for(app, event, author))

    def _mention(
        self, workspace: Workspace, channel: Channel, message: Message, raw: Json, at: int
    ) -> None:
        silent = message.subtype in SYSTEM_LINES
        if channel.kind == "im" or silent or "<@" not in message.text:
            return
        event = events.mentioned(channel, at, raw)
        for app in workspace.apps:
            named = message.app is not app and f"<@{app.bot_user}>" in message.text
            if named and events.receives(app, event, channel):
                self._tell(app, events.fit_for(app, event, message.app))

    def _publish(
        self, kind: Literal["posted", "edited", "deleted", "marked"],
        workspace: Workspace, channel: Channel, message: Message, raw: Json | None = None,
    ) -> LocalMessage:  # fmt: skip
        message_view = to_shown(workspace, channel, message, raw)
        self._feed.publish(Change(kind=kind, message=message_view))
        return message_view
