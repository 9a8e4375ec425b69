"""The initial state of the local Discord: guilds with channels, people and apps.

Ids are the same at every start, so that configurations and tests can name them.
"""

from __future__ import annotations

from bridge.sandbox.platform import SeededPerson, SeededPlace, World
from connectors.discord.sandbox.events import PRIVILEGED
from connectors.discord.sandbox.permissions import BRIDGE, EVERYONE, Permission
from connectors.discord.sandbox.pictures import avatar_png
from connectors.discord.sandbox.snowflakes import Snowflakes, made_at
from connectors.discord.sandbox.state import (
    App,
    Channel,
    ChannelType,
    Guild,
    Member,
    Overwrite,
    Role,
    State,
    User,
)

GUILDS = ("Acme", "Globex")
CHANNELS = ("general", "random", "help")
FORUM = "ideas"
NO_ACCESS = "board-only"
PEOPLE = {
    "ana": "Ana Ramos",
    "bob": "Bob Lindqvist",
    "chen": "Chen Wei",
    "dana": "Dana Okafor",
}
BRIDGE_TOKEN = "local-discord-bridge.not-a-secret"  # noqa: S105  # obviously fake
PLAIN_TOKEN = "local-discord-plain.not-a-secret"  # noqa: S105  # obviously fake
NARROW_TOKEN = "local-discord-narrow.not-a-secret"  # noqa: S105  # obviously fake
_SEEDED_AT = 1_735_689_600.0  # 2025-01-01


def seed(state: State, channels: int, guilds: int = 2) -> World:
    """Fill an empty state and return its world; `channels` is the number of text channels. Each
    guild after the second has only an app "bridge" of its own."""
    ids = Snowflakes(lambda: _SEEDED_AT)
    people = [_user(state, ids, name, display_name) for name, display_name in PEOPLE.items()]
    owner = people[0]
    apps = [
        _app(state, ids, "bridge", BRIDGE_TOKEN, PRIVILEGED, owner),
        _app(state, ids, "plain", PLAIN_TOKEN, PRIVILEGED, owner),
        _app(state, ids, "narrow", NARROW_TOKEN, 0, owner),
    ]
    seeded = [_guild(state, ids, name, people, apps, channels) for name in GUILDS]
    for number in range(len(seeded) + 1, guilds + 1):
        token = f"local-discord-bridge-{number}.not-a-secret"
        app = _app(state, ids, "bridge", token, PRIVILEGED, owner)
        apps.append(app)
        seeded.append(_guild(state, ids, f"Guild {number}", people, [app], channels))
    return World(
        platform="discord",
        apps=[_app_entry(app, seeded) for app in apps],
        places=[place for guild in seeded for place in _places(guild, channels)],
        people=[
            SeededPerson(workspace=str(guild.id), id=str(user.id), name=user.display_name)
            for guild in seeded
            for user in people
        ],
    )


def channel_names(count: int) -> list[str]:
    return [CHANNELS[n] if n < len(CHANNELS) else f"ch-{n + 1}" for n in range(count)]


def _user(state: State, ids: Snowflakes, name: str, display_name: str) -> User:
    user = User(ids.next(), name, display_name, state.keep_picture(avatar_png(name)))
    state.users[user.id] = user
    return user


def _app(
    state: State, ids: Snowflakes, name: str, token: str, granted: int, owner: User
) -> App:  # fmt: skip
    user = User(ids.next(), name, None, None, bot=True)
    state.users[user.id] = user
    app = App(user.id, name, user, token, int(granted), owner)
    state.apps[token] = app
    return app


def _guild(
    state: State, ids: Snowflakes, name: str, people: list[User], apps: list[App], channels: int
) -> Guild:
    guild = Guild(ids.next(), name, people[0].id)
    state.guilds[guild.id] = guild
    guild.roles[guild.id] = Role(guild.id, "@everyone", EVERYONE)
    joined = made_at(guild.id)
    for user in people:
        guild.members[user.id] = Member(user, joined)
    for app in apps:
        granted = BRIDGE if app.name == "bridge" else _plain_permissions(app)
        role = Role(ids.next(), app.name, granted, position=1, bot_id=app.user.id)
        guild.roles[role.id] = role
        guild.members[app.user.id] = Member(app.user, joined, roles=[role.id])
    for position, channel in enumerate(channel_names(channels)):
        new_channel = state.add_channel(_channel(ids, guild, channel, position))
        guild.system_channel = guild.system_channel or new_channel.id
    forum = _channel(ids, guild, FORUM, channels, ChannelType.FORUM)
    forum.tags = [
        {"id": str(ids.next()), "name": tag, "moderated": False, "emoji_id": None,
         "emoji_name": None}
        for tag in ("question", "done")
    ]  # fmt: skip
    state.add_channel(forum)
    hidden = _channel(ids, guild, NO_ACCESS, channels + 1)
    hidden.overwrites[guild.id] = Overwrite(guild.id, 0, 0, int(Permission.VIEW_CHANNEL))
    state.add_channel(hidden)
    return guild


def _plain_permissions(app: App) -> Permission:
    return EVERYONE | Permission.MANAGE_WEBHOOKS if app.name == "plain" else EVERYONE


def _channel(
    ids: Snowflakes, guild: Guild, name: str, position: int, kind: ChannelType = ChannelType.TEXT
) -> Channel:
    return Channel(ids.next(), kind, name, guild, position=position)


def _app_entry(app: App, seeded: list[Guild]) -> dict[str, object]:
    guilds = [guild for guild in seeded if app.user.id in guild.members]

    def entry_of(name: str) -> dict[str, str]:
        return {
            str(guild.id): str(channel.id)
            for guild in guilds
            for channel in guild.channels.values()
            if channel.name == name
        }

    return {
        "name": app.name,
        "application_id": str(app.id),
        "bot_id": str(app.user.id),
        "token": app.token,
        "granted_intents": app.granted,
        "guilds": [str(guild.id) for guild in guilds],
        "forums": entry_of(FORUM),
        "no_access": entry_of(NO_ACCESS),
    }


def _places(guild: Guild, channels: int) -> list[SeededPlace]:
    visible = list(guild.channels.values())[:channels]
    return [
        SeededPlace(
            workspace=str(guild.id),
            workspace_name=guild.name,
            channel=str(channel.id),
            channel_name=channel.name or "",
        )
        for channel in visible
    ]
