"""The initial state of a local Slack: its workspaces with their people, channels and apps."""

from __future__ import annotations

from bridge.sandbox.platform import SeededPerson, SeededPlace, World
from connectors.slack.sandbox.state import App, Channel, Person, Slack, Workspace

CREATED = 1_700_000_000
_CHANNEL_NAMES = ("general", "random", "help")
_TEAMS = {
    "ACME": ("Acme", ("Ada Park", "Ben Ortiz", "Chloe Meyer", "Dev Rao")),
    "GLOBEX": ("Globex", ("Emil Berg", "Fatima Noor", "Gus Lindt")),
}
_APPS = {"bridge": "Bridge", "plain": "Plain"}

SCOPES = frozenset(
    [
        "app_mentions:read",
        "channels:history",
        "channels:join",
        "channels:read",
        "chat:write",
        "chat:write.customize",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "metadata.message:read",
        "mpim:history",
        "mpim:read",
        "pins:read",
        "pins:write",
        "reactions:read",
        "reactions:write",
        "team:read",
        "usergroups:read",
        "users:read",
        "users:read.email",
    ]
)
EVENTS = frozenset(
    [
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "agent_session_stopped",
        "app_mention",
        "channel_rename",
        "group_rename",
        "member_joined_channel",
        "member_left_channel",
        "pin_added",
        "pin_removed",
        "reaction_added",
        "reaction_removed",
    ]
)


def seeded_slack(base_url: str, channels: int, workspaces: int = 2) -> Slack:
    """Workspaces with `channels` channels each, all with the apps "bridge" and "plain"."""
    named = [_workspace(key, *_TEAMS[key], base_url, channels) for key in _TEAMS]
    further = range(len(named) + 1, workspaces + 1)
    return Slack([*named, *(further_workspace(number, base_url, channels) for number in further)])


def further_workspace(number: int, base_url: str, channels: int) -> Workspace:
    """A further workspace; it differs from the first one only in its ids."""
    return _workspace(f"W{number}", f"Team {number}", _TEAMS["ACME"][1], base_url, channels)


def world_of(slack: Slack, base_url: str) -> World:
    """What a client needs: tokens and ids, the channels, the people."""
    workspaces = list(slack.workspaces.values())
    return World(
        platform="slack",
        apps=[_app_facts(team, app, base_url) for team in workspaces for app in team.apps],
        places=[
            SeededPlace(
                workspace=workspace.id, workspace_name=workspace.name,
                channel=channel.id, channel_name=channel.name,
            )
            for workspace in workspaces
            for channel in workspace.channels.values()
            if channel.kind == "channel" and workspace.apps[0].bot_user in channel.members
            and not channel.archived
        ],
        people=[
            SeededPerson(workspace=workspace.id, id=person.id, name=person.name)
            for workspace in workspaces
            for person in workspace.people.values()
            if person.app is None
        ],
    )  # fmt: skip


def _workspace(
    key: str, name: str, people: tuple[str, ...], base_url: str, channels: int
) -> Workspace:
    workspace = Workspace(f"T0{key}", name, name.lower().replace(" ", "-"))
    workspace.apps = [_app(workspace, key, n, app, base_url) for n, app in enumerate(_APPS, 1)]
    for number, full_name in enumerate(people, 1):
        user = f"U0{key}{number:02d}"
        handle = full_name.split()[0].lower()
        workspace.people[user] = Person(
            user, handle, full_name, _picture(base_url, user),
            email=f"{handle}@{workspace.domain}.example", updated=CREATED,
        )  # fmt: skip
    humans = list(workspace.people)
    for app in workspace.apps:
        workspace.people[app.bot_user] = Person(
            app.bot_user, app.name.lower(), app.name, app.picture, app=app, updated=CREATED
        )
    _add_channels(workspace, key, channels, humans)
    return workspace


def _add_channels(workspace: Workspace, key: str, count: int, humans: list[str]) -> None:
    """The channels with all people, one channel without the bots, and an archived one."""
    bots = [app.bot_user for app in workspace.apps]
    for number in range(1, count + 1):
        name = _CHANNEL_NAMES[number - 1] if number <= len(_CHANNEL_NAMES) else f"ch-{number}"
        channel = _channel(workspace, f"C0{key}{number:03d}", name, [*humans, *bots])
        channel.general = number == 1
    _channel(workspace, f"C0{key}QUIET", "quiet", humans)
    _channel(workspace, f"C0{key}ATTIC", "attic", [*humans, *bots]).archived = True


def _channel(workspace: Workspace, channel_id: str, name: str, members: list[str]) -> Channel:
    return workspace.add_channel(
        Channel(
            channel_id, name, "channel", workspace.id, members[0], CREATED,
            members=dict.fromkeys(members),
        )
    )  # fmt: skip


def _app(workspace: Workspace, key: str, number: int, kind: str, base_url: str) -> App:
    """An app; its tokens have Slack's prefixes and are obviously not secrets."""
    suffix = f"sandbox-{workspace.domain}" + ("" if kind == "bridge" else f"-{kind}")
    bot_user = f"U0{key}BOT{number}"
    return App(
        id=f"A0{key}{number:02d}", name=_APPS[kind], team=workspace.id,
        bot_id=f"B0{key}{number:02d}", bot_user=bot_user,
        bot_token=f"xoxb-{suffix}", app_token=f"xapp-{suffix}",
        signing_secret=f"signing-secret-{suffix}", verification_token=f"verification-{suffix}",
        picture=_picture(base_url, bot_user), scopes=SCOPES, events=EVENTS, updated=CREATED,
        commands=frozenset({f"/{kind}"}),
    )  # fmt: skip


def _app_facts(workspace: Workspace, app: App, base_url: str) -> dict[str, object]:
    return {
        "name": app.name.lower(),
        "workspace": workspace.id,
        "workspace_name": workspace.name,
        "app_id": app.id,
        "api_url": f"{base_url}/slack/api/",
        "bot_token": app.bot_token,
        "app_token": app.app_token,
        "signing_secret": app.signing_secret,
        "bot_id": app.bot_id,
        "bot_user": app.bot_user,
        "quiet_channel": workspace.by_name["quiet"].id,
        "archived_channel": workspace.by_name["attic"].id,
    }


def _picture(base_url: str, name: str) -> str:
    return f"{base_url}/slack/avatars/{name}.svg"
