"""How patient the router is: deadlines, backoff and pauses, all in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Numbers that a test makes small and an operator may change.

    - `settle_grace`: how long after a broken answer a post may still arrive before we look for it.
    - `send_deadline`: how long one native call may take, whatever its connector thinks.
    - `auth_pause`: the longest pause between two attempts with credentials that were refused.
    - `turn_idle`, `turn_total`: how long an agent may be silent, and work.
    - `stream_open`: how long an answer's first words are gathered before they are shown.
    - `first_session`: how long, after a start, rows from before wait for what catch-up may find
      between them; an account that cannot connect by then lets them go.
    - `odd_failures`: attempts after which an operation that fails in ways no connector should
      have is given up, so that it does not block its lane for ever.
    - `catch_up_tries`, `catch_up_grace`: failures after which a channel goes on unread; how long
      live events may be on their way when a channel has been read.
    - `echo_interval`: how often what our own posts tell of how far we have heard is noted.
    - `late_after`, `late_look`: how long a lane may be behind before people are told (infinite:
      never), and how often that is looked at.
    - `mark_wait`: how often a reaction looks whether the post it belongs to stands at last.
    - `drain`: how long a stop waits for what has begun.
    """

    settle_grace: float = 2.0
    send_deadline: float = 30.0
    first_backoff: float = 0.5
    longest_backoff: float = 300.0
    auth_pause: float = 60.0
    turn_idle: float = 60.0
    turn_total: float = 600.0
    turn_attempts: int = 2
    stream_open: float = 0.15
    drain: float = 5.0
    late_after: float = 120.0
    late_look: float = 15.0
    history_shown: int = 50
    catch_up_tries: int = 5
    catch_up_grace: float = 2.0
    echo_interval: float = 5.0
    first_session: float = 30.0
    odd_failures: int = 5
    mark_wait: float = 5.0
    thread_window: float = 7 * 86400.0

    def backoff(self, attempts: int) -> float:
        """Doubles with each attempt, up to the longest."""
        return min(self.longest_backoff, self.first_backoff * 2 ** min(attempts, 30))
