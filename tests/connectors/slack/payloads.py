"""Handwritten payloads after docs.slack.dev, and helpers to decode them."""

from __future__ import annotations

from typing import Any

import orjson

from bridge.model import AccountId, Event, Raw
from connectors.slack.decode import decode
from connectors.slack.ids import Identity
from connectors.slack.receive import raw_of

ACCOUNT = AccountId("acme")
TEAM, CHANNEL, TS = "T1", "C1", "1700000000.000100"
OWN_IDENTITY = Identity(team=TEAM, team_name="Acme", user="UBOT", handle="bridge", bot="BOURS")

Json = dict[str, Any]


def envelope(event: Json, **changes: Any) -> Json:
    """An event in the envelope of the Events API."""
    return {
        "token": "verification",
        "team_id": TEAM,
        "api_app_id": "AOURS",
        "event": event,
        "type": "event_callback",
        "event_id": "Ev1",
        "event_time": 1700000000,
        "authorizations": [{"team_id": TEAM, "user_id": "UBOT", "is_bot": True}],
        **changes,
    }


def post(text: str = "hello", **changes: Any) -> Json:
    """A message by Ada."""
    return {
        "type": "message",
        "channel": CHANNEL,
        "channel_type": "channel",
        "user": "UADA",
        "text": text,
        "ts": TS,
        "event_ts": TS,
        **changes,
    }


def raw(body: Json, identity: Identity | None = OWN_IDENTITY) -> Raw:
    return raw_of(ACCOUNT, orjson.loads(orjson.dumps(body)), identity, now=1700000099.0)


def decoded(event: Json, identity: Identity | None = OWN_IDENTITY, **changes: Any) -> Event:
    """The single event that this inner event becomes."""
    (event_,) = decode(raw(envelope(event, **changes), identity), identity)
    return event_
