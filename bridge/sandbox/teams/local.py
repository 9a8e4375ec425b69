"""The local Teams as the sandbox sees it: routes, the seeded world, people's hands, controls."""

from __future__ import annotations

import time
from typing import Literal

from starlette.routing import BaseRoute, Mount

from bridge.errors import NotFound, Refused
from bridge.sandbox.feed import Change, Shown
from bridge.sandbox.platform import SeededPerson, SeededPlace, Surroundings, World
from bridge.sandbox.teams import shapes
from bridge.sandbox.teams.api import Connector
from bridge.sandbox.teams.control import control_routes
from bridge.sandbox.teams.events import Outbox
from bridge.sandbox.teams.login import LoginPages
from bridge.sandbox.teams.seed import new_channel, personal_chat, seed
from bridge.sandbox.teams.state import Bot, Conversation, Json, Message, Person, Team
from bridge.sandbox.teams.text import typed
from bridge.sandbox.teams.tokens import Keys, Login, PushTokens


class LocalTeams:
    """One tenant of Teams; see the package's docstring for its addresses and controls."""

    name = "teams"

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.tenant = seed(around.channels)
        self.keys = Keys()
        login = Login(self.tenant, self.keys)
        self.push_tokens = PushTokens(self.keys)
        self.outbox = Outbox(around, self.push_tokens, self.tenant.id)
        self._connector = Connector(around, self.tenant, login, self._publish)
        self._login_pages = LoginPages(around, login, self.keys)

    def routes(self) -> list[BaseRoute]:
        inner = [
            Mount("/svc", routes=self._connector.routes()),
            Mount("/noauth/{app}", routes=self._connector.routes()),
            *self._login_pages.routes(),
            *control_routes(self),
        ]
        return [Mount("/teams", routes=inner)]

    def world(self) -> World:
        tenant = self.tenant
        places = [
            SeededPlace(
                workspace=tenant.id, workspace_name=team.name,
                channel=channel.id, channel_name=channel.name,
            )
            for team in tenant.teams.values()
            if team.apps
            for channel in team.channels
        ]  # fmt: skip
        people = [
            SeededPerson(workspace=tenant.id, id=person.id, name=person.name)
            for person in tenant.people.values()
        ]
        apps = [self._app(bot) for bot in tenant.bots.values()]
        return World(platform=self.name, apps=apps, places=places, people=people)

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> Shown:
        conversation = self._conversation(workspace, channel)
        author = self._person(conversation, person)
        root = self._root(conversation, thread) if thread else None
        own_id = self.tenant.next_id(time.time())
        message = self.tenant.add_message(Message(own_id, conversation, author, root, text))
        shown = self._publish("posted", message)
        self._tell_bots(message)
        return shown

    def messages(self, workspace: str, channel: str) -> list[Shown]:
        conversation = self._conversation(workspace, channel)
        return [shapes.shown(self.tenant, message) for message in conversation.visible()]

    async def disconnect(self, reason: str = "") -> None:
        """Teams has no sockets: this only ends the deliveries in progress."""
        await self.outbox.break_connections()

    async def close(self) -> None:
        await self.outbox.close()

    def set_endpoint(self, app: str, url: str | None, *, auth: bool | None = None) -> None:
        """Tell where a bot listens (None: nowhere); `auth` switches its tokens on or off."""
        bot = self._bot(app)
        bot.endpoint = url
        bot.auth = bot.auth if auth is None else auth

    def service_url(self, app: str) -> str:
        bot = self._bot(app)
        path = "svc/" if bot.auth else f"noauth/{bot.app_id}/"
        return f"{self._around.base_url}/teams/{path}"

    def install(self, app: str, where: str) -> None:
        """Install a bot in a team, a group chat or for a person; it hears of it, each time."""
        bot, conversation = self._bot(app), self._installable(app, where)
        conversation.installed.add(bot.app_id)
        now, url, by = time.time(), self.service_url(app), conversation.people[0]
        added = shapes.members_added(self.tenant, conversation, by, bot, url, now)
        update = shapes.installation_update(self.tenant, conversation, by, bot, url, now, "add")
        self.outbox.push(bot, conversation.id, added)
        self.outbox.push(bot, conversation.id, update)

    def uninstall(self, app: str, where: str) -> None:
        bot, conversation = self._bot(app), self._installable(app, where)
        conversation.installed.discard(bot.app_id)
        now, url, by = time.time(), self.service_url(app), conversation.people[0]
        update = shapes.installation_update(self.tenant, conversation, by, bot, url, now, "remove")
        self.outbox.push(bot, conversation.id, update)

    def block(self, app: str, conversation: str) -> None:
        """A person forbids a bot to write in a conversation."""
        self._conversation(self.tenant.id, conversation).blocked.add(self._bot(app).app_id)

    def create_channel(self, team: str, name: str) -> str:
        """Create a channel in a team; its bots hear of it. Returns its id."""
        found = self._team(team)
        channel = new_channel(found.name, name)
        channel.team = found
        found.channels.append(channel)
        self.tenant.conversations[channel.id] = channel
        for bot in self._bots_in(channel):
            created = shapes.channel_created(
                self.tenant,
                channel,
                found.people[0],
                bot,
                self.service_url(bot.app_id),
                time.time(),
            )
            self.outbox.push(bot, found.id, created)
        return channel.id

    def personal_chat(self, app: str, person: str) -> str:
        """The id of the chat of a person with a bot that is installed for them."""
        chat = self.tenant.personal.get((self._bot(app).app_id, person))
        if chat is None:
            raise NotFound(f"{app!r} is not installed for {person!r}; install it first")
        return chat.id

    def _tell_bots(self, message: Message) -> None:
        conversation = message.conversation
        said = typed(message.text, [*conversation.people, *self._bots_in(conversation)])
        mentioned = {mention["mentioned"]["id"] for mention in said.mentions}
        for bot in self._bots_in(conversation):
            hears = bot.hears_all or bot.id in mentioned or conversation.kind == "personal"
            if bot.endpoint and hears:
                url = self.service_url(bot.app_id)
                activity = shapes.message_activity(self.tenant, message, said, bot, url)
                self.outbox.push(bot, conversation.id, activity)

    def _publish(self, kind: Literal["posted", "edited", "deleted"], message: Message) -> Shown:
        shown = shapes.shown(self.tenant, message)
        self._around.feed.publish(Change(kind=kind, message=shown))
        return shown

    def _app(self, bot: Bot) -> Json:
        base = f"{self._around.base_url}/teams"
        tenant = self.tenant
        chat = next(c for c in tenant.conversations.values() if c.kind == "groupChat")
        closed = next(team for team in tenant.teams.values() if not team.apps)
        return {
            "key": bot.key,
            "app_id": bot.app_id,
            "app_password": bot.password,
            "name": bot.name,
            "bot_id": bot.id,
            "tenant": tenant.id,
            "auth": bot.auth,
            "hears_all": bot.hears_all,
            "service_url": self.service_url(bot.app_id),
            "token_url": f"{base}/login/{tenant.id}/oauth2/v2.0/token",
            "openid_url": f"{base}/keys/openidconfiguration",
            "teams": [{"id": t.id, "name": t.name} for t in tenant.teams.values() if t.apps],
            "group_chat": chat.id,
            "not_installed": closed.id,
        }

    def _bots_in(self, conversation: Conversation) -> list[Bot]:
        return [b for app_id, b in self.tenant.bots.items() if app_id in conversation.installed]

    def _bot(self, app: str) -> Bot:
        if (bot := self.tenant.bot(app)) is None:
            raise NotFound(f"No bot {app!r} in the local Teams; see /_control/world for its apps")
        return bot

    def _team(self, team: str) -> Team:
        if (found := self.tenant.teams.get(team)) is None:
            raise NotFound(f"No team {team!r} in the local Teams; a team's id is its General's")
        return found

    def _conversation(self, workspace: str, channel: str) -> Conversation:
        found = self.tenant.conversations.get(channel)
        if found is None or workspace != self.tenant.id:
            raise NotFound(f"No channel {channel!r} in {workspace!r}; see /_control/world")
        return found

    def _installable(self, app: str, where: str) -> Conversation:
        """The team (as its General), group chat or personal chat to install a bot in."""
        if where in self.tenant.people:
            app_id = self._bot(app).app_id
            if (app_id, where) not in self.tenant.personal:
                self.tenant.add_chat(personal_chat(self.tenant.people[where], app_id))
            return self.tenant.personal[app_id, where]
        return self._conversation(self.tenant.id, where)

    def _person(self, conversation: Conversation, person: str) -> Person:
        found = self.tenant.people.get(person)
        if found is None:
            raise NotFound(f"No person {person!r} in the local Teams; see /_control/world")
        if found not in conversation.people:
            raise Refused(f"{found.name!r} is not a member of {conversation.name!r}")
        return found

    def _root(self, conversation: Conversation, thread: str) -> str:
        root = self.tenant.message(conversation, thread)
        if conversation.kind != "channel" or root is None:
            raise NotFound(f"No message {thread!r} with a reply chain in {conversation.id!r}")
        return root.root or root.id
