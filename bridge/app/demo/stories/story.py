"""A story: what a person says, and what agents answer, invite and take leave. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

INVITED, RETURNED = "invite", "bye"
"""What an agent hears that is no word: that it is invited, and that another one left."""
LEAVES = "bye"


class Reply(NamedTuple):
    """What an agent does when it hears something: its words, and then it leaves (`bye`), invites
    the agent of this name, or neither. `proposes`: agents whom it names to whoever asked."""

    heard: str
    says: str | None
    then: str | None = None
    proposes: tuple[str, ...] = ()


class Ask(NamedTuple):
    """A call of one of the bridge's tools about an agent of the story."""

    tool: str
    agent: str
    question: str = ""


@dataclass(frozen=True)
class Mediation:
    """What the host says first, whom it asks behind the scenes, and what it says then; `{answer}`
    is the last agent's."""

    first: str
    asks: tuple[Ask, ...]
    last: str


@dataclass(frozen=True)
class Story:
    """One story.

    - `person`: who speaks; `host`: the agent that listens always.
    - `agents`: the replies of each agent in their order.
    - `mediation`: how the host gets its answer, if from others; they are not in the room, but for
      those that it asks by name first.
    - `manifests`: what agents say of themselves; `others`: names and addresses of further agents
      that are proposed and not there.
    - `welcome`: what the host says before anybody else.
    - `on_library`: the agent that runs on the published `openfloor` library, where that is there.
    """

    name: str
    person: str
    host: str
    agents: Mapping[str, Sequence[Reply]]
    mediation: Mediation | None = None
    manifests: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    others: tuple[tuple[str, str], ...] = ()
    welcome: str = ""
    on_library: str = ""

    @property
    def in_room(self) -> Sequence[str]:
        """The agents that are members of the room, the host first."""
        if self.mediation is None:
            return [self.host, *(name for name in self.agents if name != self.host)]
        return [self.host, self.mediation.asks[0].agent]

    def dialogue(self, errands: int | None = None) -> list[tuple[str, str]]:
        """Return who says what, in order; of the first `errands` invitations alone, or of all."""
        said = [(self.host, self.welcome)] if self.welcome else []
        invitations = 0
        for heard, says, then, _ in self.agents[self.host]:
            if invitations == errands and heard != RETURNED:
                break
            said += self._lines(self.host, heard, says)
            for reply in self.agents.get(then or "", ()):
                said += self._lines(then or "", reply.heard, reply.says)
            invitations += then is not None
        return said

    def _lines(self, agent: str, heard: str, says: str | None) -> list[tuple[str, str]]:
        lines = [] if heard in (INVITED, RETURNED) else [(self.person, heard)]
        return lines if says is None else [*lines, (agent, says)]
