"""Messages and explanations -> the JSON that the demo's page shows. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bridge.app.demo.world import Side
from bridge.model.archive_records import Timeline
from bridge.model.outbox_records import OperationRecord
from bridge.model.refs import split_key
from bridge.model.store_status import Explanation
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.platform import LocalPlatform
from bridge.sandbox.user_actions import TakesUserActions

Json = dict[str, Any]


def shown_view(message: LocalMessage) -> Json:
    """A message with its native markup, which the page draws as the platform's client would."""
    return {
        "platform": message.platform,
        "channel": message.channel,
        "thread": message.thread,
        "id": message.id,
        "author": message.author,
        "author_id": message.author_id,
        "picture": message.picture,
        "bot": message.bot,
        "text": message.text,
        "time": message.time,
        "edited": message.edited,
        "reactions": message.reactions,
        "pinned": message.pinned,
        "native": message.raw,
    }


def private_view(platform: LocalPlatform, side: Side) -> Json:
    """What each person of a platform sees alone: open forms, and messages for this person only.

    Returns `{person id: {"forms": [...], "whispers": [...]}}`, without people who see nothing.
    """
    if not isinstance(platform, TakesUserActions):
        return {}
    views: Json = {}
    for person in side.people:
        forms = platform.forms(side.workspace, person.id)
        whispers = platform.whispers(side.workspace, person.id)
        if forms or whispers:
            views[person.id] = {
                "forms": [form.model_dump(mode="json") for form in forms],
                "whispers": [shown_view(whisper) for whisper in whispers],
            }
    return views


def explanation_view(explanation: Explanation, sides: Mapping[str, Side]) -> Json:
    """The steps of one message: received, decided, placed and sent, and the message itself."""
    stored, raw = explanation.stored, explanation.raw
    said_on = None if stored.place is None else stored.place.channel.platform
    return {
        "id": stored.message.message_id,
        "author": stored.author.name,
        "said_at": _time(stored.time),
        "said_on": said_on,
        "said_on_label": _label(said_on, sides),
        "thread_of": stored.root,
        "state": stored.state,
        "outcome": explanation.outcome,
        "kept_at": None if explanation.kept_at is None else _time(explanation.kept_at),
        "received": None if raw is None else {"kind": raw.kind, "payload": _payload(raw.payload)},
        "timelines": [_timeline_view(*placed, sides) for placed in explanation.timelines],
        "operations": [
            _operation_view(record, sides, explanation.kept_at) for record in explanation.operations
        ],
        "uacs": stored.message.model_dump(mode="json", exclude_none=True),
    }


def _label(platform: str | None, sides: Mapping[str, Side]) -> str | None:
    side = sides.get(platform or "")
    return side.label if side else platform


def _timeline_view(timeline: Timeline, number: int, sides: Mapping[str, Side]) -> Json:
    where = timeline.name if timeline.kind == "room" else _place_name(timeline.name, sides)
    return {"kind": timeline.kind, "where": where, "number": number, "id": str(timeline.id)}


def _place_name(key: str, sides: Mapping[str, Side]) -> str:
    """The channel of a place's key for people: the platform's label, then `#general`."""
    platform, _workspace, channel, *_thread = split_key(key)
    side = sides.get(platform)
    if side is None or channel not in side.names:
        return key
    return f"{side.label} #{side.names[channel]}"


def _operation_view(
    record: OperationRecord, sides: Mapping[str, Side], archived_at: float | None
) -> Json:
    operation = record.operation
    side = sides.get(operation.channel.platform)
    return {
        "type": operation.type,
        "platform": operation.channel.platform,
        "label": _label(operation.channel.platform, sides),
        "channel": side.names.get(operation.channel.channel, "") if side else "",
        "state": record.state,
        "attempts": record.attempts,
        "error": record.error,
        "request_ms": _ms(record.began, record.ended),
        "whole_ms": _ms(archived_at if archived_at is not None else record.created, record.ended),
        "native_ids": [receipt.native_id for receipt in record.receipts],
        "thread": next((r.thread for r in record.receipts if r.thread), None),
        "losses": [loss.model_dump() for loss in record.losses],
    }


def _ms(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else round(max(0.0, end - start) * 1000, 1)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _payload(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except ValueError:
        return payload.decode("utf-8", "replace")
