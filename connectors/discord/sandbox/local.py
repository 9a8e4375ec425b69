"""The local Discord as the sandbox uses it: its routes, and the actions of its people."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.files import file_response
from bridge.sandbox.multipart import Part
from bridge.sandbox.platform import SandboxContext, World
from bridge.sandbox.user_actions import Choice, FileUpload, FormSubmission, OpenForm, Outcome, Press
from connectors.discord.sandbox.api import PREFIX, Api
from connectors.discord.sandbox.checks import CONTENT_MAX, is_snowflake
from connectors.discord.sandbox.deliveries import Deliveries
from connectors.discord.sandbox.drafts import Draft, FileWish
from connectors.discord.sandbox.errors import ApiError
from connectors.discord.sandbox.gateway import Gateway
from connectors.discord.sandbox.interactions import InteractionDispatcher
from connectors.discord.sandbox.oauth import OAuth
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.pictures import avatar_png, picture_type
from connectors.discord.sandbox.platform_actions import PlatformActions
from connectors.discord.sandbox.routes.channels import speak_permission
from connectors.discord.sandbox.routes.reactions import MAX_DISTINCT, emoji_json
from connectors.discord.sandbox.seed import seed
from connectors.discord.sandbox.state import (
    SPOKEN,
    Channel,
    Message,
    MessageType,
    State,
    User,
    Webhook,
)
from connectors.discord.sandbox.state_changes import StateChanges
from connectors.discord.sandbox.text import ALL_MENTIONS
from connectors.discord.sandbox.user_interactions import UserInteractions

_THREAD_NAME_MAX = 100


class LocalDiscord(PlatformActions):
    """One local Discord; tests may change `state` directly where no user action exists."""

    name = "discord"

    def __init__(self, context: SandboxContext) -> None:
        self.state = State(base_url=context.base_url)
        self._context = context
        self._world = seed(self.state, context.channels, context.workspaces)
        address = urlsplit(context.base_url)
        scheme = "wss" if address.scheme == "https" else "ws"
        self._gateway = Gateway(self.state, f"{scheme}://{address.netloc}/discord/gateway")
        self._deliveries = Deliveries(
            context.faults, self._gateway.deliver, self._gateway.disconnect
        )
        self._changes = StateChanges(
            self.state, context.feed, self._deliveries.deliver, context.base_url
        )
        self.oauth = OAuth(self.state, self._gateway, PREFIX)
        self._changes.left_guild = self.oauth.remove_app
        self._api = Api(self._changes, context.faults, context.limits, context.feed, context.files)
        self.dispatcher = InteractionDispatcher(self._changes, self._gateway, context.faults)
        self._user_interactions = UserInteractions(self._changes, self.dispatcher, context.files)

    def routes(self) -> list[BaseRoute]:
        return [
            *self.oauth.routes(),
            Mount(PREFIX, app=self._api),
            WebSocketRoute("/discord/gateway", self._gateway.serve),
            WebSocketRoute("/discord/gateway/", self._gateway.serve),
            Route("/discord/avatars/{user_id}/{file}", self._avatar),
            Route("/discord/embed/avatars/{file}", self._avatar),
            Route("/discord/attachments/{channel_id}/{own_id}/{name}", self._file),
            Route("/discord/media/attachments/{channel_id}/{own_id}/{name}", self._file),
            Route("/discord/external/{mark}/{scheme}/{rest:path}", self._elsewhere),
        ]

    def world(self) -> World:
        return self._world

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage:
        """Post a user's message; in `@me`, `channel` is a DM or one of its two users."""
        return self._post(workspace, channel, person, thread, Draft(content=_checked_text(text)))

    async def post_files(
        self, workspace: str, channel: str, person: str, files: Sequence[FileUpload],
        text: str = "", thread: str | None = None,
    ) -> LocalMessage:  # fmt: skip
        """Post a user's files in one message."""
        place = self._channel(workspace, channel, self._person(person))
        largest = place.guild.largest_file if place.guild else 10 << 20
        if not 1 <= len(files) <= 10 or any(len(file.data) > largest for file in files):
            raise InvalidData(f"A message takes 1 to 10 files of at most {largest} bytes")
        wishes = [self._file_wish(file) for file in files]
        draft = Draft(content=_checked_text(text) if text else None, files=wishes)
        return self._post(workspace, channel, person, thread, draft)

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage:
        """Edit a user's own message; `channel` may be a thread."""
        user, target = self._visible_message(workspace, channel, person, message)
        if target.author.id != user.id or target.type not in SPOKEN:
            raise Refused(f"{user.display_name!r} did not write message {message}")
        content = _checked_text(text) if text.strip() or not target.attachments else ""
        draft = Draft(content=content, body={"content": content})
        shape = self._changes.edit(target, draft, ALL_MENTIONS)
        return self._changes.to_shown(target, shape)

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """Delete a message as its author, or as a user with Manage Messages."""
        user, target = self._visible_message(workspace, channel, person, message)
        granted = permissions_in(target.channel, user.id)
        if target.author.id != user.id and not granted & Permission.MANAGE_MESSAGES:
            raise Refused(f"{user.display_name!r} may not delete message {message}")
        if target.type == MessageType.THREAD_STARTER:
            raise Refused(f"Message {message} shows the thread's root; nobody deletes it")
        self._changes.delete(target)

    async def react_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """React with Unicode or `name:id` of a custom emoji; the local guilds have none."""
        user, target = self._visible_message(workspace, channel, person, message)
        emoji_shape = emoji_json(emoji)
        if f"{emoji_shape['name']}:{emoji_shape['id']}" not in target.reactions:
            if not permissions_in(target.channel, user.id) & Permission.ADD_REACTIONS:
                raise Refused(f"{user.display_name!r} may not react in {target.channel.id}")
            if len(target.reactions) >= MAX_DISTINCT:
                raise Refused(f"Message {message} has {MAX_DISTINCT} different reactions already")
        self._changes.react(target, user, emoji_shape)

    async def unreact_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        user, target = self._visible_message(workspace, channel, person, message)
        self._changes.unreact(target, user, emoji_json(emoji))

    async def clear_reactions_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str | None = None
    ) -> None:
        """Remove all reactions, or those with one emoji; needs Manage Messages."""
        user, target = self._visible_message(workspace, channel, person, message)
        if not permissions_in(target.channel, user.id) & Permission.MANAGE_MESSAGES:
            raise Refused(f"{user.display_name!r} may not remove reactions of others")
        self._changes.clear_reactions(target, emoji_json(emoji) if emoji else None)

    async def pin_as(
        self, workspace: str, channel: str, person: str, message: str, *, pinned: bool = True
    ) -> None:
        user, target = self._visible_message(workspace, channel, person, message)
        if not permissions_in(target.channel, user.id) & Permission.PIN_MESSAGES:
            raise Refused(f"{user.display_name!r} may not pin in channel {target.channel.id}")
        if pinned and target.pinned_at is None:
            self._changes.pin(target, user)
        elif not pinned and target.pinned_at is not None:
            self._changes.unpin(target)

    async def typing_as(self, workspace: str, channel: str, person: str) -> None:
        user = self._person(person)
        place = self._channel(workspace, channel, user)
        _check_may_speak(place, user)
        self._changes.type_in(place, user)

    @property
    def typed(self) -> list[tuple[str, str]]:
        """Return the latest typing indicators: channel and user ids."""
        return [(str(place), str(user)) for place, user in self._changes.typed]

    async def command_as(
        self, workspace: str, channel: str, person: str, command: str, text: str = ""
    ) -> Outcome:
        """Use `/command text` in a channel or thread where the user may use commands."""
        place, user = self._allowed(workspace, channel, person, Permission.USE_APPLICATION_COMMANDS)
        return await self._user_interactions.command(user, place, command, text.strip())

    async def press(self, press: Press) -> Outcome:
        if press.form:
            raise InvalidData("A Discord modal has no buttons: submit it")
        user = self._person(press.person)
        message = self._message_for(press.workspace, press.channel, press.message, user)
        return await self._user_interactions.press(user, message, press.action, press.values)

    async def choose(self, choice: Choice) -> Outcome:
        if choice.form:
            raise InvalidData(
                "A Discord modal sends no choices before it is submitted: give all values then"
            )
        user = self._person(choice.person)
        message = self._message_for(choice.workspace, choice.channel, choice.message, user)
        return await self._user_interactions.choose(user, message, choice.action, choice.value)

    async def fill(self, submission: FormSubmission) -> Outcome:
        user = self._person(submission.person)
        if submission.close:
            return self._user_interactions.close(user, submission.form)
        return await self._user_interactions.fill(user, submission.form, submission.values)

    def forms(self, workspace: str, person: str) -> list[OpenForm]:
        return self._user_interactions.forms(self._person(person).id)

    def whispers(self, workspace: str, person: str) -> list[LocalMessage]:
        """Return the messages that only this user sees, in any channel."""
        user_id = self._person(person).id
        whispers = [m for m in self.state.whispers.values() if m.audience == user_id]
        return [self._changes.to_shown(message) for message in whispers]

    def create_webhook_as(self, channel: str, person: str, name: str) -> Webhook:
        """Create a webhook as a user does in the channel's settings: no application owns it."""
        place = self.state.channels.get(_id(channel))
        if place is None:
            raise NotFound(f"Channel {channel!r} not found; see world()")
        webhook = Webhook(
            id=self.state.ids.next(), token="local_" + secrets.token_urlsafe(46)[:62],
            channel=place, name=name, avatar=None, user=self._person(person), application_id=None,
        )  # fmt: skip
        self._changes.add_webhook(webhook)
        return webhook

    def _post(
        self, workspace: str, channel: str, person: str, thread: str | None, draft: Draft
    ) -> LocalMessage:
        author = self._person(person)
        place = self._channel(workspace, channel, author)
        if thread is not None:
            place = self._thread(place, thread, author)
        _check_may_speak(place, author)
        try:
            shape = self._changes.post(place, author, draft)
        except ApiError as error:
            raise InvalidData(f"Thread {thread!r} takes no messages: {error}") from None
        return self._changes.to_shown(place.messages[int(shape["id"])], shape)

    def _place_and_user(self, workspace: str, channel: str, person: str) -> tuple[Channel, User]:
        user = self._person(person)
        return self._channel(workspace, channel, user), user

    def _file_wish(self, file: FileUpload) -> FileWish:
        stored = self._context.files.keep(file.data)
        part = Part("files[0]", file.name, file.content_type, b"", stored)
        return FileWish(part=part, description=file.alt or None, spoiler=file.spoiler)

    def _message_for(self, workspace: str, channel: str, message: str, user: User) -> Message:
        """Return a message of a channel or its threads, or one that only this user sees."""
        if found_message := self._find_message(workspace, channel, message, user):
            return found_message
        whisper = self.state.whispers.get(_id(message))
        if whisper is None or whisper.audience != user.id:
            raise NotFound(f"Message {message!r} not found in channel {channel!r}")
        return whisper

    def _visible_message(
        self, workspace: str, channel: str, person: str, message: str
    ) -> tuple[User, Message]:  # fmt: skip
        """Return the user and the message; the user must see it."""
        user = self._person(person)
        target = self._find_message(workspace, channel, message, user)
        if target is None:
            raise NotFound(f"Message {message!r} not found in channel {channel!r}")
        if not permissions_in(target.channel, user.id) & Permission.VIEW_CHANNEL:
            raise Refused(f"{user.display_name!r} does not see channel {target.channel.id}")
        return user, target

    def _find_message(
        self, workspace: str, channel: str, message: str, user: User
    ) -> Message | None:
        """Return a message of a channel or of one of its threads, or None."""
        place = self._channel(workspace, channel, user)
        message_id = _id(message)
        places = (place, *self.state.threads_of(place))
        return next((p.messages[message_id] for p in places if message_id in p.messages), None)

    def messages(self, workspace: str, channel: str) -> list[LocalMessage]:
        root = self._channel(workspace, channel, None)
        places = [root, *self.state.threads_of(root)]
        spoken = (m for place in places for m in place.messages.values() if m.type in SPOKEN)
        return [self._changes.to_shown(message) for message in sorted(spoken, key=lambda m: m.id)]

    async def disconnect(self, reason: str = "") -> None:
        """Close every socket: at once, after op 7 (`reconnect`), or for good (`invalidate`)."""
        self._gateway.disconnect(reason)

    async def close(self) -> None:
        self._deliveries.close()
        self._api.close()
        await self._gateway.close()

    async def _avatar(self, request: Request) -> Response:
        key = request.path_params["file"].rpartition(".")[0] or request.path_params["file"]
        picture = self.state.pictures.get(key)
        if isinstance(picture, str):
            return RedirectResponse(picture)
        data = picture or avatar_png(key)
        return Response(data, media_type=picture_type(data))

    async def _file(self, request: Request) -> Response:
        """Serve a file if its address is valid and not expired. Fault: `discord:cdn:<channel>`."""
        params = request.path_params
        fault = self._context.faults.take(f"discord:cdn:{params['channel_id']}", "status")
        if fault is not None:
            return PlainTextResponse("", fault.status)
        file = f"/attachments/{params['channel_id']}/{params['own_id']}/{params['name']}"
        entry = self.state.attachments.get(_id(params["own_id"]))
        if entry is None or not self.state.cdn.allows(file, request.url.query):
            return PlainTextResponse("This content is no longer available.", 404)
        answer = file_response(self._context.files, entry[1].stored, entry[1].content_type)
        return answer or PlainTextResponse("This content is no longer available.", 404)

    async def _elsewhere(self, request: Request) -> Response:
        """Redirect to an external picture, as the proxy address."""
        params = request.path_params
        return RedirectResponse(f"{params['scheme']}://{unquote(params['rest'])}")

    def _person(self, person: str) -> User:
        user = self.state.users.get(_id(person))
        if user is None or user.bot:
            raise NotFound(f"Person {person!r} not found on the local Discord; see world()")
        return user

    def _channel(self, workspace: str, channel: str, author: User | None) -> Channel:
        if workspace == "@me":
            return self._dm(channel, author)
        place = self.state.channels.get(_id(channel))
        if place is None or place.guild is None or str(place.guild.id) != workspace:
            raise NotFound(f"Channel {channel!r} not found in guild {workspace!r}; see world()")
        return place

    def _dm(self, channel: str, author: User | None) -> Channel:
        """Return a DM by its own id, by its user (then with the first app's bot), or by its bot."""
        channel_id = _id(channel)
        place = self.state.channels.get(channel_id)
        if place is not None and place.guild is None:
            return place
        user = self.state.users.get(channel_id)
        if user is None:
            raise NotFound(f"DM {channel!r} not found; give a DM channel, a person or a bot")
        first = next(iter(self.state.apps.values())).user
        person, bot = (author, user) if user.bot else (user, first)
        if person is None:
            raise NotFound(f"DM of bot {channel!r}: name the other side; give the person's id")
        return self.state.dm_of(person, bot)

    def _thread(self, place: Channel, thread: str, author: User) -> Channel:
        """Return a thread of a channel, started from the message `thread` if needed."""
        thread_channel = self.state.channels.get(_id(thread))
        if thread_channel is not None and thread_channel.root is place and thread_channel.thread:
            return thread_channel
        message = place.messages.get(_id(thread))
        if message is None:
            raise NotFound(f"Thread or message {thread!r} not found in channel {place.id}")
        title = self._changes.to_shown(message).text.strip().splitlines() or ["thread"]
        return self._changes.start_thread_from(message, author, title[0][:_THREAD_NAME_MAX])


def _id(value: str) -> int:
    return int(value) if is_snowflake(value) else -1


def _check_may_speak(place: Channel, author: User) -> None:
    if not place.takes_messages:
        raise InvalidData(f"Channel {place.id} is a forum: give the id of a post as `thread`")
    if not permissions_in(place, author.id) & speak_permission(place):
        raise Refused(f"{author.display_name!r} may not write in channel {place.id}")


def _checked_text(text: str) -> str:
    trimmed = text.strip()
    if not 0 < len(trimmed) <= CONTENT_MAX:
        raise InvalidData(
            f"A Discord message has 1 to {CONTENT_MAX} characters, not {len(trimmed)}"
        )
    return trimmed
