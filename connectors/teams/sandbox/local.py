"""The local Teams: routes, seeded world, actions of people, and controls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Router
from starlette.types import Receive, Scope, Send

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.platform import SandboxContext, SeededPerson, SeededPlace, World
from bridge.sandbox.user_actions import Choice, FileUpload, FormSubmission, OpenForm, Outcome, Press
from connectors.teams.sandbox import shapes
from connectors.teams.sandbox.api import Connector
from connectors.teams.sandbox.control import control_routes
from connectors.teams.sandbox.drive import Drive
from connectors.teams.sandbox.events import Outbox
from connectors.teams.sandbox.login import LoginPages
from connectors.teams.sandbox.platform_actions import PlatformActions
from connectors.teams.sandbox.presses import Presses
from connectors.teams.sandbox.reactions import reaction_type
from connectors.teams.sandbox.room import Room
from connectors.teams.sandbox.seed import further_tenant, new_channel, personal_chat, seed
from connectors.teams.sandbox.state import Bot, Conversation, Json, Message, Person, Team, Tenant
from connectors.teams.sandbox.tokens import Keys, Login, PushTokens


class LocalTeams(PlatformActions):
    """One tenant of Teams; the package's docstring lists its addresses and controls."""

    name = "teams"

    def __init__(
        self,
        context: SandboxContext,
        tenant: Tenant | None = None,
        shared: tuple[Keys, Login] | None = None,
    ) -> None:
        self._context = context
        self._further: dict[str, Router] = {}
        self._others: list[LocalTeams] = []
        self.tenant = tenant or seed(context.channels, context.workspaces)
        self.keys = shared[0] if shared else Keys()
        login = self._login = shared[1] if shared else Login(self.tenant, self.keys)
        self.push_tokens = PushTokens(self.keys)
        self.outbox = Outbox(context, self.push_tokens, self.tenant.id)
        self.drive = Drive(context)
        self._room = Room(context, self.tenant, self.outbox, self.drive)
        self._presses = Presses(self._room)
        self._connector = Connector(context, self._room, login)
        self._login_pages = LoginPages(context, login, self.keys)

    def routes(self) -> list[BaseRoute]:
        inner = [
            Mount("/svc", routes=self._connector.routes()),
            Mount("/noauth/{app}", routes=self._connector.routes()),
            Mount("/tenants/{tenant}", app=self._of_tenant),
            *self.drive.routes(),
            *self._login_pages.routes(),
            *control_routes(self),
        ]
        return [Mount("/teams", routes=inner)]

    def add_tenant(self, tenant_id: str, name: str) -> LocalTeams:
        """Add a tenant with the same bots, keys and login, below `/teams/tenants/<id>`."""
        address = f"{self._context.base_url}/teams/tenants/{tenant_id}"
        tenant = further_tenant(tenant_id, name, self.tenant.bots)
        own_context = replace(self._context, base_url=address)
        local = LocalTeams(own_context, tenant, (self.keys, self._login))
        self._further[tenant_id] = Router(routes=local.routes())
        self._others.append(local)
        return local

    async def _of_tenant(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._further.get(scope["path_params"]["tenant"])
        await (app or Response(status_code=404))(scope, receive, send)

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
    ) -> LocalMessage:
        return self._room.say(self._message(workspace, channel, person, text, thread))

    async def post_files(
        self,
        workspace: str,
        channel: str,
        person: str,
        files: Sequence[FileUpload],
        text: str = "",
        thread: str | None = None,
    ) -> LocalMessage:
        """Post files: pictures are part of the message, other files shared from the drive."""
        if not files:
            raise InvalidData("A message with files has one at least")
        message = self._message(workspace, channel, person, text, thread)
        message.files = [self.drive.keep(file, message.conversation) for file in files]
        return self._room.say(message)

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage:
        """Edit a person's own message; bots that receive posts receive the edit."""
        own_message = self._own(workspace, channel, person, message)
        if not text.strip() and not own_message.files:
            raise InvalidData("A message of Teams has words or files: delete it instead")
        return self._room.edit(own_message, text)

    async def remove_file_as(
        self, workspace: str, channel: str, person: str, message: str, name: str
    ) -> LocalMessage:
        """Remove a file from a person's own message, which is an edit."""
        own_message = self._own(workspace, channel, person, message)
        files = [file for file in own_message.files if file.name != name]
        if len(files) == len(own_message.files) or not (files or own_message.text.strip()):
            raise Refused(f"Message {message!r} has no file {name!r}, or nothing else")
        own_message.files = files
        return self._room.edit(own_message, own_message.text)

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """Delete a person's own message."""
        self._room.delete(self._own(workspace, channel, person, message))

    async def stop_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """Press Stop under a message that is being streamed."""
        self._visible_message(workspace, channel, person, message)
        if not self._connector.stop_stream(message):
            raise Refused(f"Nothing is being written in message {message!r}")

    def stop_all(self, channel: str) -> bool:
        """Stop all streams of a chat, also those without text. Return False if there are none."""
        growing = self._connector.open_streams(channel)
        for stream in growing:
            self._connector.stop_stream(stream)
        return bool(growing)

    def informed(self, channel: str) -> list[str]:
        """Return the texts of informative steps in this chat."""
        return self._connector.informed(channel)

    async def react_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """Add a reaction; `emoji` is Unicode, or a reaction type of Teams between colons."""
        by, target = self._visible_message(workspace, channel, person, message)
        self._room.react(target, by, reaction_type(emoji), added=True)

    async def unreact_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        by, target = self._visible_message(workspace, channel, person, message)
        self._room.react(target, by, reaction_type(emoji), added=False)

    async def pin_as(
        self, workspace: str, channel: str, person: str, message: str, *, pinned: bool = True
    ) -> None:
        """Pin or unpin a message."""
        _, target = self._visible_message(workspace, channel, person, message)
        self._room.pin(target, pinned=pinned)

    async def typing_as(self, workspace: str, channel: str, person: str) -> None:
        conversation = self._conversation(workspace, channel)
        self._room.type_in(conversation, self._person(conversation, person))

    @property
    def typed(self) -> list[tuple[str, str]]:
        """The last typing indicators: conversation and account ids."""
        return list(self._room.typed)

    async def press(self, press: Press) -> Outcome:
        if press.form:
            by = self._tenant_person(press.workspace, press.person)
            return await self._presses.press_in_form(by, press.form, press.action, press.values)
        by, message = self._visible_message(
            press.workspace, press.channel, press.person, press.message
        )
        return await self._presses.press(by, message, press.action, press.values)

    async def choose(self, choice: Choice) -> Outcome:
        if choice.form:
            by = self._tenant_person(choice.workspace, choice.person)
            return self._presses.choose_in_form(by, choice.form, choice.action, choice.value)
        by, message = self._visible_message(
            choice.workspace, choice.channel, choice.person, choice.message
        )
        return self._presses.choose(by, message, choice.action, choice.value)

    async def fill(self, submission: FormSubmission) -> Outcome:
        by = self._tenant_person(submission.workspace, submission.person)
        if submission.close:
            return self._presses.close_form(by, submission.form)
        return await self._presses.submit_form(by, submission.form, submission.values)

    def forms(self, workspace: str, person: str) -> list[OpenForm]:
        return self._presses.forms(self._tenant_person(workspace, person).id)

    def whispers(self, workspace: str, person: str) -> list[LocalMessage]:
        """Return the messages with cards that only this person sees."""
        by = self._tenant_person(workspace, person)
        return [
            self._room.to_shown(message, by.id)
            for conversation in self.tenant.conversations.values()
            for message in conversation.visible()
            if any(viewer == by.id for viewer, _ in message.views)
        ]

    def messages(self, workspace: str, channel: str) -> list[LocalMessage]:
        conversation = self._conversation(workspace, channel)
        return [self._room.to_shown(message) for message in conversation.visible()]

    async def disconnect(self, reason: str = "") -> None:
        """Break running deliveries; Teams has no other connections to bots."""
        await self.outbox.break_connections()

    async def close(self) -> None:
        for other in self._others:
            await other.close()
        await self.outbox.close()

    def set_endpoint(self, app: str, url: str | None, *, auth: bool | None = None) -> None:
        """Set a bot's messaging endpoint (None: no endpoint); `auth` switches tokens on or off."""
        bot = self._bot(app)
        bot.endpoint = url
        bot.auth = bot.auth if auth is None else auth

    def set_account_url(self, url: str) -> None:
        """Set the messaging endpoint of the first app, as an operator does in the portal."""
        self.set_endpoint(self.world().apps[0]["app_id"], f"{url}/messages")

    def service_url(self, app: str) -> str:
        return self._room.service_url(self._bot(app))

    def install(self, app: str, where: str) -> None:
        """Install a bot in a team, a group chat or for a person, and notify it each time."""
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
        """Block a bot in a conversation."""
        self._conversation(self.tenant.id, conversation).blocked.add(self._bot(app).app_id)

    def create_channel(self, team: str, name: str) -> str:
        """Create a channel in a team, notify its bots, and return its id."""
        owner = self._team(team)
        channel = new_channel(owner.name, name)
        channel.team = owner
        owner.channels.append(channel)
        self.tenant.conversations[channel.id] = channel
        for bot in self._room.bots_in(channel):
            created = shapes.channel_created(
                self.tenant,
                channel,
                owner.people[0],
                bot,
                self._room.service_url(bot),
                time.time(),
            )
            self.outbox.push(bot, owner.id, created)
        return channel.id

    def personal_chat(self, app: str, person: str) -> str:
        """Return the id of a person's chat with a bot. Raises NotFound if it is not installed."""
        chat = self.tenant.personal.get((self._bot(app).app_id, person))
        if chat is None:
            raise NotFound(f"{app!r} is not installed for {person!r}; install it first")
        return chat.id

    def _app(self, bot: Bot) -> Json:
        base = f"{self._context.base_url}/teams"
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
            "teams": [
                {"id": team.id, "name": team.name}
                for team in tenant.teams.values()
                if bot.app_id in team.apps
            ],
            "group_chat": chat.id,
            "not_installed": closed.id,
        }

    def _bot(self, app: str) -> Bot:
        if (bot := self.tenant.bot(app)) is None:
            raise NotFound(f"No bot {app!r} in the local Teams; see /_control/world for its apps")
        return bot

    def _team(self, team: str) -> Team:
        if (known_team := self.tenant.teams.get(team)) is None:
            raise NotFound(f"No team {team!r} in the local Teams; a team's id is its General's")
        return known_team

    def _conversation(self, workspace: str, channel: str) -> Conversation:
        conversation = self.tenant.conversations.get(channel)
        if conversation is None or workspace != self.tenant.id:
            raise NotFound(f"No channel {channel!r} in {workspace!r}; see /_control/world")
        return conversation

    def _installable(self, app: str, where: str) -> Conversation:
        """Return the team (as its General channel), group chat or personal chat for an install."""
        if where in self.tenant.people:
            app_id = self._bot(app).app_id
            if (app_id, where) not in self.tenant.personal:
                self.tenant.add_chat(personal_chat(self.tenant.people[where], app_id))
            return self.tenant.personal[app_id, where]
        return self._conversation(self.tenant.id, where)

    def _message(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None
    ) -> Message:
        conversation = self._conversation(workspace, channel)
        author = self._person(conversation, person)
        root = self._root(conversation, thread) if thread else None
        return Message(self.tenant.next_id(time.time()), conversation, author, root, text)

    def _visible_message(
        self, workspace: str, channel: str, person: str, message: str
    ) -> tuple[Person, Message]:  # fmt: skip
        """Return the person and a message that they see. Raises NotFound, Refused."""
        conversation = self._conversation(workspace, channel)
        by = self._person(conversation, person)
        target = self.tenant.message(conversation, message)
        if target is None:
            raise NotFound(f"No message {message!r} in {channel!r}")
        return by, target

    def _own(self, workspace: str, channel: str, person: str, message: str) -> Message:
        """Return a person's own message. Raises Refused for messages of others."""
        by, target = self._visible_message(workspace, channel, person, message)
        if target.author is not by:
            raise Refused(f"{by.name!r} did not write message {message}")
        return target

    def _tenant_person(self, workspace: str, person: str) -> Person:
        member = self.tenant.people.get(person)
        if member is None or workspace != self.tenant.id:
            raise NotFound(f"No person {person!r} in the local Teams; see /_control/world")
        return member

    def _place_of(self, workspace: str, channel: str, person: str) -> tuple[Conversation, Person]:
        conversation = self._conversation(workspace, channel)
        return conversation, self._tenant_person(workspace, person)

    def _person(self, conversation: Conversation, person: str) -> Person:
        member = self._tenant_person(self.tenant.id, person)
        if member not in conversation.people:
            raise Refused(f"{member.name!r} is not a member of {conversation.name!r}")
        return member

    def _root(self, conversation: Conversation, thread: str) -> str:
        root = self.tenant.message(conversation, thread)
        if conversation.kind != "channel" or root is None:
            raise NotFound(f"No message {thread!r} with a reply chain in {conversation.id!r}")
        return root.root or root.id
