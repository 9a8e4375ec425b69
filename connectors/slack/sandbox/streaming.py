"""The lifetime of a stream on the local Slack, and how a person stops it."""

from __future__ import annotations

from connectors.slack.sandbox.state import Message

LIFE = 300.0  # seconds (observed: 306); appending does not prolong it


def is_growing(message: Message, now: float) -> bool:
    """Whether the message has an open stream; this call ends one that is too old."""
    live = message.live
    if live is not None and live.state == "in_progress" and now - live.begun > LIFE:
        live.state = "errored"
        message.facts = {"streaming_state": "errored"}
    return live is not None and live.state == "in_progress"


def stop(message: Message, now: float) -> bool:
    """A person presses Stop: the message stays as it is. Returns False when no stream is open."""
    if message.live is None or not is_growing(message, now):
        return False
    message.live.state = "stopped"
    message.facts = {"streaming_state": "completed"}
    return True
