"""The seeded tenant: teams with the bots in them, one without, a group chat, five people."""

from __future__ import annotations

from hashlib import sha256
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from connectors.teams.sandbox.state import Bot, Conversation, Person, Team, Tenant

TENANT_ID = "7e0a0000-0000-4000-8000-0000000000aa"
PEOPLE = ("Ada Lindqvist", "Bo Tanaka", "Carmen Diaz", "Dev Patel", "Noor Haddad")
CHANNELS = ("General", "Random", "Help")


def seed(channels: int, teams: int = 2) -> Tenant:
    """Return a new tenant with `channels` channels in each team; ids are reproducible. Each team
    after the second has only a bot "Bridge" of its own."""
    tenant = Tenant(TENANT_ID, "Lakeside Works")
    people = [_person(name) for name in PEOPLE]
    tenant.people = {person.id: person for person in people}
    bots = [
        _bot(1, "bridge", "Bridge", hears_all=True),
        _bot(2, "plain", "Plain Bot", hears_all=False),
        _bot(3, "plain-noauth", "Noauth Bot", hears_all=False, auth=False),
    ]
    tenant.bots = {bot.app_id: bot for bot in bots}
    apps = set(tenant.bots)
    _add_team(tenant, "Atlas", people, channels, set(apps))
    _add_team(tenant, "Borealis", people, channels, set(apps))
    _add_team(tenant, "Cellar", people, 1, set())
    chat_id = f"19:{_digest('chat Launch', 32)}@thread.v2"
    tenant.add_chat(
        Conversation(chat_id, "groupChat", "Launch", members=people[:3], apps=set(apps))
    )
    # The last person has no bot installed, so Teams refuses proactive chats with them.
    for person in people[:-1]:
        for app_id in apps:
            tenant.add_chat(personal_chat(person, app_id))
    for number in range(3, teams + 1):
        bot = _bot(number + 1, f"bridge-{number}", "Bridge", hears_all=True)
        tenant.bots[bot.app_id] = bot
        _add_team(tenant, f"Team {number}", people, channels, {bot.app_id})
    return tenant


def further_tenant(tenant_id: str, name: str, bots: dict[str, Bot]) -> Tenant:
    """Return another tenant, with one team in which no bot is installed."""
    tenant = Tenant(tenant_id, name)
    people = [_person(f"{given} of {name}") for given in ("Eve", "Finn")]
    tenant.people = {person.id: person for person in people}
    tenant.bots = bots
    _add_team(tenant, f"Team of {name}", people, len(CHANNELS), set())
    return tenant


def personal_chat(person: Person, app_id: str) -> Conversation:
    chat_id = "a:1" + _digest(f"personal {app_id} {person.id}", 64)
    return Conversation(chat_id, "personal", person.name, members=[person], apps={app_id})


def new_channel(team_name: str, name: str) -> Conversation:
    channel_id = f"19:{_digest(f'channel {team_name} {name}', 32)}@thread.tacv2"
    return Conversation(channel_id, "channel", name)


def _add_team(
    tenant: Tenant, name: str, people: list[Person], channels: int, apps: set[str]
) -> None:
    names = [*CHANNELS, *(f"ch-{n}" for n in range(len(CHANNELS) + 1, channels + 1))][:channels]
    new_channels = [new_channel(name, channel) for channel in names or CHANNELS[:1]]
    group_id = str(uuid5(NAMESPACE_URL, f"teams:group:{name}"))
    tenant.add_team(Team(new_channels[0].id, name, group_id, list(people), apps), *new_channels)


def _person(name: str) -> Person:
    aad_id = str(uuid5(NAMESPACE_URL, f"teams:person:{name}"))
    email = quote(name.lower().replace(" ", ".")) + "@lakeside.example"
    return Person("29:1" + _digest(f"person {name}", 64), aad_id, name, email)


def _bot(number: int, key: str, name: str, *, hears_all: bool, auth: bool = True) -> Bot:
    app_id = f"b0700000-0000-4000-8000-{number:012d}"
    return Bot(key, app_id, f"fake-secret-of-{key}", name, hears_all, auth)


def _digest(text: str, length: int) -> str:
    return sha256(f"uacs-bridge sandbox {text}".encode()).hexdigest()[:length]
