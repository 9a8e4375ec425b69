"""The people of an export: names and pictures by id, and the workspace that most of them are of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from bridge.model import Person
from connectors.slack import ids
from connectors.slack.json_values import Json, object_at, text_at
from connectors.slack.payload import person_of

_SLACKBOT = "Slackbot"
_MOST_PERSONS = 20_000  # that are kept ready


@dataclass(frozen=True, slots=True)
class _Listed:
    name: str
    picture: str | None
    bot: bool
    teams: tuple[str, ...]


@dataclass
class People:
    """The users of an export; a Person is made when somebody asks for it."""

    _listed: dict[str, _Listed] = field(default_factory=dict[str, _Listed])
    _teams: Counter[str] = field(default_factory=Counter[str])
    _persons: dict[tuple[str, str], Person] = field(default_factory=dict[tuple[str, str], Person])

    def add(self, user: Json) -> None:
        """Take a user object; one without id or name is passed over."""
        native = text_at(user, "id")
        person = person_of(ids.actor_id("", native), user)
        if not native:
            return
        team = text_at(user, "team_id") or text_at(user, "profile", "team")
        further = object_at(user, "enterprise_user").get("teams")
        teams = [team, *(further if isinstance(further, list) else [])]
        named = tuple(name for name in teams if isinstance(name, str) and is_workspace(name))
        if is_workspace(team) and user.get("is_stranger") is not True:
            self._teams[team] += 1
        self._listed[native] = _Listed(
            person.name if person else native,
            person.picture if person else None,
            person.bot if person else user.get("is_bot") is True,
            tuple(dict.fromkeys(named)),
        )

    def workspace(self) -> str:
        """The workspace of most people; "" if no person names one."""
        return most_frequent(self._teams)

    def is_listed(self, native: str) -> bool:
        """Whether the export lists this user."""
        return native in self._listed

    def teams_of(self, native: str) -> tuple[str, ...]:
        """The workspaces that a user object names."""
        listed = self._listed.get(native)
        return listed.teams if listed else ()

    def person(self, team: str, native: str) -> Person | None:
        """The person as a member of this workspace; None if the export does not list them."""
        if (person := self._persons.get((team, native))) is not None:
            return person
        listed = self._listed.get(native)
        if listed is None:
            if native != ids.SLACKBOT:
                return None
            listed = _Listed(_SLACKBOT, None, True, ())
        person = Person(
            id=ids.actor_id(team, native), name=listed.name, picture=listed.picture, bot=listed.bot
        )
        if len(self._persons) > _MOST_PERSONS:
            self._persons.clear()
        self._persons[team, native] = person
        return person


def is_workspace(team: str) -> bool:
    """Whether this is the id of a workspace, not of an Enterprise Grid organisation (E...)."""
    return team.startswith("T")


def most_frequent(counted: Counter[str]) -> str:
    """The most frequent name, of several the first in the alphabet; "" if there is none."""
    return min(counted, key=lambda name: (-counted[name], name), default="")


def teams_in(posts: Iterable[Json]) -> Counter[str]:
    """How many of these messages name which workspace."""
    named = (text_at(post, "team") for post in posts)
    return Counter(team for team in named if is_workspace(team))
