"""The local Discord as the sandbox uses it: its routes, and people who speak on it."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.discord.acts import Acts
from bridge.sandbox.discord.api import PREFIX, Api
from bridge.sandbox.discord.checks import CONTENT_MAX, Draft, is_snowflake
from bridge.sandbox.discord.deliveries import Deliveries
from bridge.sandbox.discord.errors import ApiError
from bridge.sandbox.discord.gateway import Gateway
from bridge.sandbox.discord.permissions import permissions_in
from bridge.sandbox.discord.pictures import avatar_png, picture_type
from bridge.sandbox.discord.routes.channels import speak_permission
from bridge.sandbox.discord.seed import seed
from bridge.sandbox.discord.state import SPOKEN, Channel, Message, State, User
from bridge.sandbox.discord.text import ALL_MENTIONS
from bridge.sandbox.feed import Shown
from bridge.sandbox.platform import Surroundings, World

_THREAD_NAME_MAX = 100


class LocalDiscord:
    """One local Discord; `state` is open to tests that arrange what people cannot."""

    name = "discord"

    def __init__(self, around: Surroundings) -> None:
        self.state = State()
        self._world = seed(self.state, around.channels)
        address = urlsplit(around.base_url)
        scheme = "wss" if address.scheme == "https" else "ws"
        self._gateway = Gateway(self.state, f"{scheme}://{address.netloc}/discord/gateway")
        self._deliveries = Deliveries(around.faults, self._gateway.tell, self._gateway.disconnect)
        self._acts = Acts(self.state, around.feed, self._deliveries.tell, around.base_url)
        self._api = Api(self._acts, around.faults, around.limits, around.feed)

    def routes(self) -> list[BaseRoute]:
        return [
            Mount(PREFIX, app=self._api),
            WebSocketRoute("/discord/gateway", self._gateway.serve),
            WebSocketRoute("/discord/gateway/", self._gateway.serve),
            Route("/discord/avatars/{user_id}/{file}", self._avatar),
            Route("/discord/embed/avatars/{file}", self._avatar),
        ]

    def world(self) -> World:
        return self._world

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> Shown:
        """A person says something; in `@me`, `channel` is a DM or one of its two users."""
        author = self._person(person)
        place = self._channel(workspace, channel, author)
        if thread is not None:
            place = self._thread(place, thread, author)
        _check_may_speak(place, author)
        draft = Draft(content=_checked(text))
        try:
            shape = self._acts.post(place, author, draft)
        except ApiError as error:
            raise InvalidData(f"Thread {thread!r} takes no messages: {error}") from None
        return self._acts.shown(place.messages[int(shape["id"])], shape)

    async def edit_as(self, channel: str, message: str, text: str) -> Shown:
        """A person changes a message of theirs; `channel` may be a thread."""
        found = self._message(channel, message)
        draft = Draft(content=_checked(text), given={"content": text})
        shape = self._acts.edit(found, draft, ALL_MENTIONS)
        return self._acts.shown(found, shape)

    async def delete_as(self, channel: str, message: str) -> None:
        """Somebody deletes a message: its author, or a moderator; `channel` may be a thread."""
        self._acts.delete(self._message(channel, message))

    def messages(self, workspace: str, channel: str) -> list[Shown]:
        root = self._channel(workspace, channel, None)
        places = [root, *self.state.threads_of(root)]
        spoken = (m for place in places for m in place.messages.values() if m.type in SPOKEN)
        return [self._acts.shown(message) for message in sorted(spoken, key=lambda m: m.id)]

    async def disconnect(self, reason: str = "") -> None:
        """Close every socket: cut, after op 7 (`reconnect`), or without resume (`invalidate`)."""
        self._gateway.disconnect(reason)

    async def close(self) -> None:
        self._deliveries.close()
        self._api.close()
        await self._gateway.close()

    async def _avatar(self, request: Request) -> Response:
        key = request.path_params["file"].rpartition(".")[0] or request.path_params["file"]
        kept = self.state.pictures.get(key)
        if isinstance(kept, str):
            return RedirectResponse(kept)
        data = kept or avatar_png(key)
        return Response(data, media_type=picture_type(data))

    def _person(self, person: str) -> User:
        user = self.state.users.get(_id(person))
        if user is None or user.bot:
            raise NotFound(f"Person {person!r} not found on the local Discord; see world()")
        return user

    def _channel(self, workspace: str, channel: str, author: User | None) -> Channel:
        if workspace == "@me":
            return self._dm(channel, author)
        found = self.state.channels.get(_id(channel))
        if found is None or found.guild is None or str(found.guild.id) != workspace:
            raise NotFound(f"Channel {channel!r} not found in guild {workspace!r}; see world()")
        return found

    def _dm(self, channel: str, author: User | None) -> Channel:
        """A DM by its own id, by its person (then with the first app's bot), or by its bot."""
        wanted = _id(channel)
        found = self.state.channels.get(wanted)
        if found is not None and found.guild is None:
            return found
        named = self.state.users.get(wanted)
        if named is None:
            raise NotFound(f"DM {channel!r} not found; give a DM channel, a person or a bot")
        first = next(iter(self.state.apps.values())).user
        person, bot = (author, named) if named.bot else (named, first)
        if person is None:
            raise NotFound(f"DM of bot {channel!r}: say with whom; give the person's id")
        return self.state.dm_of(person, bot)

    def _thread(self, place: Channel, thread: str, author: User) -> Channel:
        """A thread of a channel; one that is no thread yet begins from that message."""
        found = self.state.channels.get(_id(thread))
        if found is not None and found.root is place and found.thread:
            return found
        message = place.messages.get(_id(thread))
        if message is None:
            raise NotFound(f"Thread or message {thread!r} not found in channel {place.id}")
        title = self._acts.shown(message).text.strip().splitlines() or ["thread"]
        return self._acts.start_thread_from(message, author, title[0][:_THREAD_NAME_MAX])

    def _message(self, channel: str, message: str) -> Message:
        place = self.state.channels.get(_id(channel))
        found = place.messages.get(_id(message)) if place else None
        if found is None:
            raise NotFound(f"Message {message!r} not found in channel {channel!r}")
        return found


def _id(value: str) -> int:
    return int(value) if is_snowflake(value) else -1


def _check_may_speak(place: Channel, author: User) -> None:
    if not place.takes_messages:
        raise InvalidData(f"Channel {place.id} is a forum: give the id of a post as `thread`")
    if not permissions_in(place, author.id) & speak_permission(place):
        raise Refused(f"{author.display_name!r} may not write in channel {place.id}")


def _checked(text: str) -> str:
    trimmed = text.strip()
    if not 0 < len(trimmed) <= CONTENT_MAX:
        raise InvalidData(
            f"A Discord message has 1 to {CONTENT_MAX} characters, not {len(trimmed)}"
        )
    return trimmed
