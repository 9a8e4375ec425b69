"""The local Slack: its routes, the actions of its people, its controls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from bridge.content.text.emoji import short_name_of
from bridge.errors import BridgeError, InvalidData, NotFound, Refused
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.files import file_response
from bridge.sandbox.platform import SandboxContext, World
from bridge.sandbox.user_actions import Choice, FileUpload, FormSubmission, OpenForm, Outcome, Press
from connectors.slack.sandbox import files
from connectors.slack.sandbox.api import WebApi
from connectors.slack.sandbox.commands import Commands
from connectors.slack.sandbox.delivery import Delivery, Pace
from connectors.slack.sandbox.interactions import Interactions
from connectors.slack.sandbox.methods.reactions import MAX_DISTINCT
from connectors.slack.sandbox.oauth import OAuth
from connectors.slack.sandbox.pictures import avatar_svg
from connectors.slack.sandbox.platform_actions import PlatformActions
from connectors.slack.sandbox.replies import Replies
from connectors.slack.sandbox.seed import seeded_slack, world_of
from connectors.slack.sandbox.shapes import to_shown
from connectors.slack.sandbox.sockets import Sockets
from connectors.slack.sandbox.state import App, Channel, File, Message, Person, Workspace, at_of
from connectors.slack.sandbox.state_changes import StateChanges
from connectors.slack.sandbox.text import typed_text
from connectors.slack.sandbox.uploads import Uploads
from connectors.slack.sandbox.views import Views


class _RequestUrl(BaseModel):
    model_config = ConfigDict(extra="forbid")

    app: str
    url: str | None = None


class LocalSlack(PlatformActions):
    """Implements `LocalPlatform`; `pace` has the deadlines for apps."""

    name = "slack"

    def __init__(
        self,
        context: SandboxContext,
        pace: Pace | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.pace = pace or Pace()
        self.slack = seeded_slack(context.base_url, context.channels, context.workspaces)
        self._context = context
        self._timers: list[asyncio.TimerHandle] = []
        self._sockets = Sockets(context.base_url)
        self.delivery = Delivery(self._sockets, context.faults, self.pace)
        self._changes = StateChanges(self.slack, context.feed, self.delivery.tell, now)
        uploads, views = Uploads(context, self.slack, self._share_later), Views(now)
        self.oauth = OAuth(self.slack, context.base_url, self.delivery.tell, now)
        self._api = WebApi(
            context, self.slack, self._changes, self._sockets, uploads, views, self.oauth
        )
        replies = Replies(context, self._changes)
        self._interactions = Interactions(
            self._changes, self.delivery, replies, views, self._give_file
        )
        self._commands = Commands(self._changes, self.delivery, replies, views)
        self._files = [*uploads.routes(), *replies.routes()]

    def status(self, workspace: str, channel: str, thread: str) -> str:
        """The text that a thread shows while an app works on an answer."""
        return (
            self.slack.workspaces[workspace].channels[channel].status(thread, self._changes.now())
        )

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/slack/api/{method}", self._api.endpoint, methods=["GET", "POST"]),
            WebSocketRoute("/slack/socket/link/", self._socket),
            Route("/slack/avatars/{name}.svg", self._avatar),
            *self._files,
            *self.oauth.routes(),
            Route("/slack/_control/request_url", self._control_url, methods=["POST"]),
            Route("/slack/_control/pace", self._control_pace, methods=["PUT"]),
        ]

    def world(self) -> World:
        return world_of(self.slack, self._context.base_url)

    def add_person(self, name: str) -> None:
        """A new person joins the first workspace, and the channels of its first person."""
        workspace = next(iter(self.slack.workspaces.values()))
        neighbour = next(iter(workspace.people.values()))
        user = f"{neighbour.id[:-2]}9{len(workspace.people)}"
        handle = "".join(name.lower().split())
        picture = neighbour.picture.replace(neighbour.id, user)
        workspace.people[user] = Person(user, handle, name, picture, updated=neighbour.updated)
        for channel in workspace.channels.values():
            if neighbour.id in channel.members:
                channel.members[user] = None

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage:
        """A person types `text`: "@Name", "#channel" and "@here" become mentions.

        `channel` may be a user id, for the direct messages with that person.
        """
        return self._say(workspace, channel, person, text, thread, None)

    async def post_files(
        self, workspace: str, channel: str, person: str, files: Sequence[FileUpload],
        text: str = "", thread: str | None = None,
    ) -> LocalMessage:  # fmt: skip
        """A person shares files, all in one message."""
        if not files:
            raise InvalidData("Give at least one file")
        team, _ = self._place(workspace, channel, person)
        sharer = self._person(team, person)
        uploaded = [self._give_file(team, sharer, file) for file in files]
        return self._say(workspace, channel, person, text, thread, uploaded)

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage:
        """A person retypes one of their messages, as they would in `post_as`."""
        team, place, original = self._own(workspace, channel, person, message)
        if original.subtype or place.archived:
            raise Refused(f"Nobody edits message {message} in {place.name!r}")
        if not text.strip() and not original.files:
            raise InvalidData("A Slack message needs text or files: delete it instead")
        self._changes.retype(team, place, original, self._with_references(team, text))
        return to_shown(team, place, original)

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """A person deletes one of their messages; one with replies stays as a tombstone."""
        self._changes.delete(*self._own(workspace, channel, person, message))

    async def react_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """A person reacts with a Unicode emoji or `:name:`; clients offer only emoji that Slack
        has."""
        team, place, messages = self._standing(workspace, channel, person, message)
        name = _reaction_name(emoji)
        reaction = messages.reactions.get(name)
        if reaction and person in reaction.users:
            return
        if reaction is None and len(messages.reactions) >= MAX_DISTINCT:
            raise Refused(f"Message {message} has {MAX_DISTINCT} different reactions already")
        self._changes.react(team, place, messages, person, name)

    async def unreact_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        team, place, messages = self._standing(workspace, channel, person, message)
        name = _reaction_name(emoji)
        if (reaction := messages.reactions.get(name)) and person in reaction.users:
            self._changes.unreact(team, place, messages, person, name)

    async def pin_as(
        self, workspace: str, channel: str, person: str, message: str, *, pinned: bool = True
    ) -> None:
        team, place, messages = self._standing(workspace, channel, person, message)
        if (messages.pinned_by is not None) != pinned:
            self._changes.pin(team, place, messages, person, pinned=pinned)

    async def typing_as(self, workspace: str, channel: str, person: str) -> None:
        """Do nothing: Slack sends apps no typing events (docs.slack.dev, Events API, 2026-08)."""
        self._person(self._place(workspace, channel, person)[0], person)

    async def command_as(
        self, workspace: str, channel: str, person: str, command: str, text: str = ""
    ) -> Outcome:
        """A person types `/command text`: "@Name" and "#channel" are escaped as the app
        requires."""
        team, place, member = self._member(workspace, channel, person)
        return await self._commands.give(
            team, place, member, command, self._with_references(team, text)
        )

    async def press(self, press: Press) -> Outcome:
        team, person, place = self._touched(press)
        return await self._interactions.press(team, person, place, press)

    async def choose(self, choice: Choice) -> Outcome:
        team, person, place = self._touched(choice)
        return await self._interactions.choose(team, person, place, choice)

    async def fill(self, submission: FormSubmission) -> Outcome:
        team = self._team(submission.workspace)
        return await self._interactions.fill(
            team, self._person(team, submission.person), submission
        )

    def forms(self, workspace: str, person: str) -> list[OpenForm]:
        return self._interactions.forms(self._team(workspace), person)

    def whispers(self, workspace: str, person: str) -> list[LocalMessage]:
        team = self._team(workspace)
        pairs = [
            (channel, message)
            for channel in team.channels.values()
            for message in channel.whispers.values()
            if message.audience == person
        ]
        pairs.sort(key=lambda pair: pair[1].at)
        return [to_shown(team, channel, message) for channel, message in pairs]

    def messages(self, workspace: str, channel: str) -> list[LocalMessage]:
        team, place = self._place(workspace, channel)
        return [to_shown(team, place, place.messages[at]) for at in sorted(place.messages)]

    def file_as_seen(self, file: str) -> Response | None:
        """The file that a signed-in person's browser gets; `url_private` needs an app's token."""
        stored = next(
            (t.files[file] for t in self.slack.workspaces.values() if file in t.files), None
        )
        if stored is None or stored.stored is None:
            return None
        return file_response(
            self._context.files, stored.stored, stored.mimetype or "application/octet-stream",
            {"Content-Security-Policy": "sandbox"},
        )  # fmt: skip

    async def set_request_url(self, app_id: str, url: str | None) -> None:
        """Send an app's events to `url` after Slack's handshake; None: use Socket Mode again."""
        app = self._app(app_id)
        if url is not None:
            await self.delivery.verify_url(app, url)
        app.request_url = url
        app.listening = True

    @property
    def connections(self) -> int:
        """The number of open sockets of all apps."""
        return len(self._sockets.of())

    async def disconnect(self, reason: str = "") -> None:
        """Close every app's socket; `reason` as in `Delivery.disconnect`."""
        self.delivery.disconnect(reason=reason)

    async def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        await self.delivery.close()

    def _membership_of(
        self, workspace: str, channel: str, person: str
    ) -> tuple[Workspace, Channel, Person]:
        team, place = self._place(workspace, channel, person)
        return team, place, self._person(team, person)

    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, act))

    def _share_later(self, act: Callable[[], object]) -> None:
        if self.pace.share_seconds:
            self._later(self.pace.share_seconds, act)
        else:
            act()

    def _say(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None,
        shared: list[File] | None,
    ) -> LocalMessage:  # fmt: skip
        team, place = self._place(workspace, channel, person)
        speaker = self._person(team, person)
        draft = self._draft(team, speaker, text)
        draft.files = shared
        if thread is not None:
            draft.parent = _open_parent(place, thread).at
        return self._changes.post(team, place, draft)[1]

    def _own(
        self, workspace: str, channel: str, person: str, message: str
    ) -> tuple[Workspace, Channel, Message]:
        """A message that this person wrote; the local Slack has no admins with further rights."""
        team, place, target = self._standing(workspace, channel, person, message)
        if target.app is not None or target.user != person:
            raise Refused(f"{self._person(team, person).name!r} did not write message {message}")
        return team, place, target

    def _standing(
        self, workspace: str, channel: str, person: str, message: str
    ) -> tuple[Workspace, Channel, Message]:
        """A message that a person of the workspace sees."""
        team, place = self._place(workspace, channel, person)
        self._person(team, person)
        target = place.find(message)
        if target is None or target.removed:
            raise NotFound(f"No message {message!r} in {channel!r}")
        return team, place, target

    def _give_file(self, team: Workspace, person: Person, value: Any) -> File:
        """A file that a person picks on their own machine."""
        try:
            uploads = FileUpload.model_validate(value)
        except ValidationError as error:
            raise InvalidData(f"Not a file: {error.errors(include_url=False)[0]['msg']}") from error
        file = files.new_file(
            team, self._context.base_url, name=uploads.name, title=uploads.name, user=person.id,
            app=None, now=int(self._changes.now()), size=len(uploads.data), alt=uploads.alt,
        )  # fmt: skip
        files.fill(file, self._context.files.keep(uploads.data), uploads.content_type)
        return file

    def _touched(
        self, action: Press | Choice
    ) -> tuple[Workspace, Person, tuple[Channel, Message] | None]:
        """The workspace, the acting person, and the target message, if the target is one."""
        team = self._team(action.workspace)
        person = self._person(team, action.person)
        if action.form:
            return team, person, None
        _, place = self._place(action.workspace, action.channel, action.person)
        at = at_of(action.message)
        target = place.messages.get(at) if at is not None else None
        if target is None and at is not None:
            target = place.whispers.get(at)
        if target is None or target.audience not in (None, person.id):
            raise NotFound(f"No message {action.message!r} in {action.channel!r}")
        return team, person, (place, target)

    def _team(self, workspace: str) -> Workspace:
        team = self.slack.workspaces.get(workspace)
        if team is None:
            raise NotFound(f"No workspace {workspace!r}; see `world().places`")
        return team

    def _person(self, team: Workspace, person: str) -> Person:
        member = team.people.get(person)
        if member is None:
            raise NotFound(f"No person {person!r} in {team.id!r}; see `world().people`")
        return member

    def _with_references(self, team: Workspace, text: str) -> str:
        people = {person.handle: person.id for person in team.people.values()}
        people |= {person.name: person.id for person in team.people.values()}
        channels = {name: channel.id for name, channel in team.by_name.items()}
        return typed_text(text, people, channels)

    def _place(self, workspace: str, channel: str, person: str = "") -> tuple[Workspace, Channel]:
        team = self.slack.workspaces.get(workspace)
        place = team.channels.get(channel) if team else None
        if team and place is None and channel in team.people and person in team.people:
            place = team.direct(person, channel, self._changes.now())
        if team is None or place is None:
            raise NotFound(f"No channel {channel!r} in {workspace!r}; see `world().places`")
        return team, place

    def _app(self, app_id: str) -> App:
        app = self.slack.apps.get(app_id)
        if app is None:
            raise NotFound(f"No app {app_id!r}; see `world().apps`")
        return app

    async def _socket(self, websocket: WebSocket) -> None:
        await self._sockets.serve(websocket, self.delivery.acknowledge)

    async def _avatar(self, request: Request) -> Response:
        key: str = request.path_params["name"]
        for team in self.slack.workspaces.values():
            if key == team.id:
                return _svg(avatar_svg(key, team.name))
            if person := team.people.get(key):
                return _svg(avatar_svg(key, person.name))
        return Response(status_code=404)

    async def _control_url(self, request: Request) -> Response:
        try:
            command = _RequestUrl.model_validate_json(await request.body())
            await self.set_request_url(command.app, command.url)
        except (BridgeError, ValidationError) as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        return Response(status_code=204)

    async def _control_pace(self, request: Request) -> Response:
        try:
            self.pace = self.delivery.pace = Pace.model_validate_json(await request.body())
        except ValidationError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        return Response(status_code=204)


def _open_parent(channel: Channel, thread: str) -> Message:
    parent = _parent(channel, thread)
    if parent.locked:
        raise Refused(f"The thread of message {parent.ts} is locked")
    return parent


def _parent(channel: Channel, thread: str) -> Message:
    root = channel.find(thread)
    if root is None:
        raise NotFound(f"No message {thread!r} in {channel.id!r} to answer in a thread")
    return root if root.parent is None else channel.messages[root.parent]


def _reaction_name(emoji: str) -> str:
    name = emoji.strip(":") if emoji.startswith(":") else short_name_of(emoji)
    if not name:
        raise InvalidData(f"Slack has no emoji {emoji!r}")
    return name


def _svg(text: str) -> Response:
    return Response(text, media_type="image/svg+xml")
