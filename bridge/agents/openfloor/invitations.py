"""Whether an agent elsewhere takes part in a conversation of the bridge, durably."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from bridge.agents.codec.json_values import obj
from bridge.openfloor.machines import DEMANDING, DemandingHappening, DemandingState
from bridge.ports.clock import Clock
from bridge.ports.key_values import KeyValues

_EXACT = 60.0  # seconds by which the time of the last answer may be wrong
_AT_REST: dict[DemandingState, DemandingState] = {
    "inviting": "idle", "waiting": "ready", "consuming": "ready",
}  # fmt: skip
"""What is left of a step that a stop of the bridge cut off: an invitation is sent again."""


@dataclass
class Invitation:
    """An agent's part in one conversation.

    - `state`: the state of figure 4.
    - `at`: when it last answered, in seconds since 1970.
    - `kept`: the state that the store has; None for none.
    - `turn`: the turn that is asked now; `before`: the state in which it began.
    """

    state: DemandingState
    at: float
    kept: DemandingState | None = None
    turn: str = ""
    before: DemandingState = "idle"

    def step(self, happening: DemandingHappening) -> None:
        """Go on to the next state of figure 4."""
        self.state = DEMANDING.after(self.state, happening)


class Invitations:
    """The conversations to which one agent is invited."""

    def __init__(self, values: KeyValues, clock: Clock, idle_seconds: float | None) -> None:
        self._values = values
        self._clock = clock
        self._idle_seconds = idle_seconds

    async def get(self, floor: str, turn: str = "", *, invited: bool = False) -> Invitation:
        """Return the agent's part in a conversation. An agent that was not asked for long is not
        invited any more. A turn that runs again, since its answer was not kept before the bridge
        stopped, begins in the state in which it began. Raises StoreError.

        Args:
            floor: the id of the conversation.
            turn: the id of the turn that is asked; "" for none.
            invited: what an earlier version of the bridge noted, where this one has noted nothing.
        """
        stored = await self._values.get(_key(floor))
        now = self._clock.time()
        if stored is None:
            state: DemandingState = "ready" if invited else "idle"
            return Invitation(state, now, turn=turn, before=state)
        value = obj(orjson.loads(stored))
        again = bool(turn) and value.get("turn") == turn
        state = "ready" if value.get("before" if again else "state") == "ready" else "idle"
        at = value.get("at")
        found = Invitation(
            state, float(at) if isinstance(at, int | float) else now,
            kept=None if again else state, turn=turn, before=state,
        )  # fmt: skip
        if self._idle_seconds is not None and found.at + self._idle_seconds < now:
            found.step("silence")
        return found

    async def put(self, floor: str, invitation: Invitation) -> None:
        """Keep the agent's part in a conversation as it is now. Raises StoreError."""
        state, now = _AT_REST.get(invitation.state, invitation.state), self._clock.time()
        if state == invitation.kept and (state == "idle" or now < invitation.at + _EXACT):
            return
        invitation.kept, invitation.at = state, now
        kept = {"state": state, "at": now, "turn": invitation.turn, "before": invitation.before}
        value = orjson.dumps(kept).decode()
        await self._values.put(_key(floor), value)


def _key(floor: str) -> str:
    return f"floor:{floor}"
