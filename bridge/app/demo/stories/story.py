"""A story: what a person says, and what agents answer, invite and take leave. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

INVITED, RETURNED = "invite", "bye"
"""What an agent hears that is no word: that it is invited, and that another one left."""
LEAVES = "bye"


class Reply(NamedTuple):
    """What an agent does when it hears something: its words, and then it leaves (`bye`), invites
    the agent of this name, or neither."""

    heard: str
    says: str | None
    then: str | None = None


@dataclass(frozen=True)
class Story:
    """One story.

    - `person`: who speaks; `host`: the agent that listens always.
    - `agents`: the replies of each agent in their order.
    """

    name: str
    person: str
    host: str
    agents: Mapping[str, Sequence[Reply]]

    def dialogue(self, errands: int | None = None) -> list[tuple[str, str]]:
        """Return who says what, in order; of the first `errands` invitations alone, or of all."""
        said: list[tuple[str, str]] = []
        invitations = 0
        for heard, says, then in self.agents[self.host]:
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
