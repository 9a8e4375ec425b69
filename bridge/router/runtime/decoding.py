"""Payloads whose events are of use only if they can be read."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.errors import UndecodableEvent
from bridge.model import Event, Raw
from bridge.ports.connector import Connector


def readable_events(connector: Connector, raw: Raw) -> Sequence[Event]:
    """Return the events of a payload; none where it cannot be decoded."""
    try:
        return connector.decode(raw)
    except UndecodableEvent:
        return ()
