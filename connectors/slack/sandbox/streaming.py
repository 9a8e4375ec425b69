"""How long a stream of the local Slack lives, and how a person ends it."""

from __future__ import annotations

from connectors.slack.sandbox.state import Message

LIFE = 300.0  # seconds (observed: 306); appending does not prolong it


def is_growing(message: Message, now: float) -> bool:
    """Whether a stream is open there; one that has lived too long ends by this."""
    live = message.live
    if live is not None and live.state == "in_progress" and now - live.begun > LIFE:
        live.state = "errored"
        message.facts = {"streaming_state": "errored"}
    return live is not None and live.state == "in_progress"


def stop(message: Message, now: float) -> bool:
    """A person presses Stop: it stays as it is. False: nothing is growing there."""
    if message.live is None or not is_growing(message, now):
        return False
    message.live.state = "stopped"
    message.facts = {"streaming_state": "completed"}
    return True
