"""A stored message's Explanation -> its nine steps through the bridge, as data, text or a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from bridge.app.build import build_connectors
from bridge.app.printing import age, many, printable, when
from bridge.app.settings.sections import Settings
from bridge.content.messages.metadata import KEY
from bridge.errors import BridgeError, UndecodableEvent
from bridge.model import AccountId, Delivery, PostMessage, QuotedMessage, Raw
from bridge.model.archive_records import StoredMessage
from bridge.model.operations import EditMessage
from bridge.model.outbox_records import OperationRecord
from bridge.model.refs import native_id_in
from bridge.model.store_status import Explanation
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.router.inbound.pipeline import stage_names
from bridge.router.rooms import programs as outside
from bridge.runtime.clock import SystemClock
from bridge.store.conversations import excerpt_of
from bridge.uacs import write

Way = dict[str, Any]


async def way_of(explanation: Explanation, settings: Settings, store: Store) -> Way:
    """All nine steps; decodes and encodes the message again with the current code."""
    raw = explanation.raw
    names = {record.operation.account for record in explanation.operations}
    accounts = names | ({raw.account} if raw else set())
    connectors = build_connectors(settings, store, SystemClock(), only=accounts)
    try:
        encoded = [
            await _encoded(record, explanation.stored, connectors, store)
            for record in explanation.operations
        ]
        return {
            "message": _message(explanation.stored),
            "receive": None if raw is None else {"account": raw.account, "kind": raw.kind,
                                                 "bytes": len(raw.payload)},
            "inbox": None if raw is None else _inbox(raw, explanation.kept_at),
            "decode": None if raw is None else _decoded(raw, connectors),
            "stages": _stages(explanation),
            "outbox": [_json(record.operation) for record in explanation.operations],
            "lane": [_lane(record) for record in explanation.operations],
            "encode": encoded,
            "send": [_sent(record) for record in explanation.operations],
            "receipt": [_receipt(record) for record in explanation.operations],
        }  # fmt: skip
    finally:
        for connector in connectors.values():
            await connector.close()


def _message(stored: StoredMessage) -> Way:
    return {
        "id": stored.message.message_id,
        "author": stored.author.name,
        "author_id": stored.author.id,
        "place": stored.place.key if stored.place else None,
        "time": when(stored.time),
        "state": stored.state,
        "root": stored.root,
        "uacs": orjson.loads(write(stored.message)),
    }


def _inbox(raw: Raw, kept_at: float | None) -> Way:
    return {
        "kept": when(kept_at),
        "channel": raw.channel.key if raw.channel else None,
        "dedupe_key": raw.dedupe_key,
        "order_key": raw.order_key,
        "payload": _payload(raw.payload),
    }


def _payload(payload: bytes) -> Any:
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        return payload.decode("utf-8", "backslashreplace")


def _decoded(raw: Raw, connectors: Mapping[AccountId, Connector]) -> Any:
    decoders = {account: connector.decode for account, connector in connectors.items()}
    decode = {**decoders, outside.ACCOUNT: outside.decode}.get(raw.account)
    if decode is None:
        return {"error": f"account {raw.account!r} is no longer configured"}
    try:
        return [_json(event) for event in decode(raw)]
    except UndecodableEvent as error:
        return {"error": str(error)}


def _stages(explanation: Explanation) -> Way:
    return {
        "stages": [*stage_names()],
        "outcome": explanation.outcome,
        "timelines": [
            {"conversation": str(timeline.id), "kind": timeline.kind, "name": timeline.name,
             "sequence": number}
            for timeline, number in explanation.timelines
        ],
    }  # fmt: skip


def _lane(record: OperationRecord) -> Way:
    return {
        "operation": record.operation.id,
        "lane": record.operation.lane,
        "state": record.state,
        "attempts": record.attempts,
        "waited_s": _span(record.created, record.began),
    }


async def _encoded(
    record: OperationRecord,
    stored: StoredMessage,
    connectors: Mapping[AccountId, Connector],
    store: Store,
) -> Way:
    operation = record.operation
    connector = connectors.get(operation.account)
    if connector is None:
        return {"operation": operation.id, "error": "its account is no longer configured"}
    delivery = await _delivery(record, stored, store)
    try:
        encoded = connector.encode(delivery)
    except BridgeError as error:
        return {"operation": operation.id, "error": str(error)}
    return {
        "operation": operation.id,
        "calls": [
            {"method": call.method, "slot": call.slot, "thread": call.thread,
             "budgets": [f"{key.rule} of {key.of}" for key in call.rate_limits], "body": call.body}
            for call in encoded.calls
        ],
        "losses": [_json(loss) for loss in encoded.losses],
    }  # fmt: skip


async def _delivery(record: OperationRecord, stored: StoredMessage, store: Store) -> Delivery:
    """The delivery before the lane's first call, with the message as it is now."""
    operation = record.operation
    thread = quoted = None
    if isinstance(operation, PostMessage | EditMessage) and operation.root:
        copies = await store.copies(operation.root, operation.channel)
        channel, root = operation.channel.key, operation.root
        thread = copies[0].native_id if copies else native_id_in(channel, root)
    if isinstance(operation, PostMessage) and operation.reply_to:
        quoted = await _quoted(operation, store)
    copies = () if isinstance(operation, PostMessage) else record.receipts
    return Delivery(
        operation=operation, message=stored.message, thread=thread, quoted=quoted, copies=copies
    )


async def _quoted(operation: PostMessage, store: Store) -> QuotedMessage | None:
    answered = await store.message(operation.reply_to) if operation.reply_to else None
    if answered is None:
        return None
    copies = await store.copies(operation.reply_to or operation.message, operation.channel)
    return QuotedMessage(
        author=answered.author.name,
        excerpt=excerpt_of(answered.message),
        native_id=copies[0].native_id if copies else None,
    )


def _sent(record: OperationRecord) -> Way:
    return {
        "operation": record.operation.id,
        "began": when(record.began),
        "ended": when(record.ended),
        "took_s": _span(record.began, record.ended),
    }


def _receipt(record: OperationRecord) -> Way:
    return {
        "operation": record.operation.id,
        "state": record.state,
        "native_ids": [receipt.native_id for receipt in record.receipts],
        "receipts": [_json(receipt) for receipt in record.receipts],
        "losses": [_json(loss) for loss in record.losses],
        "error": record.error or None,
    }


def _span(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else round(end - start, 4)


def _json(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True)


# --- as text ------------------------------------------------------------------------------------


def as_text(way: Way) -> str:
    """The steps as text, one below the other."""
    return "\n".join(_text_lines(way))


def _text_lines(way: Way) -> Iterator[str]:
    message = way["message"]
    yield printable(f"{message['id']}")
    yield printable(f"  by {message['author']} ({message['author_id']}), {message['state']}")
    yield f"  {message['time']}" + (f", thread of {message['root']}" if message["root"] else "")
    metadata = message["uacs"].get("metadata")
    yield from _record_lines(metadata if isinstance(metadata, dict) else {})
    yield from _feedback_lines(message)
    yield ""
    if way["receive"] is None:
        yield "1-3 receive, inbox, decode   none: no platform handed it over, an agent said it"
    else:
        receive, inbox = way["receive"], way["inbox"]
        size = f"{receive['bytes']} bytes"
        yield f"1 receive  account {receive['account']}, {receive['kind']}, {size}"
        yield f"2 inbox    kept {inbox['kept']}, dedupe key {printable(inbox['dedupe_key'])}"
        yield f"3 decode   {_kinds(way['decode'])}"
    yield f"4 stages   {way['stages']['outcome']}"
    for timeline in way["stages"]["timelines"]:
        name = printable(f"{timeline['kind']} {timeline['name']}")
        yield f"             no. {timeline['sequence']} of {name} ({timeline['conversation']})"
    yield f"5 outbox   {many(len(way['outbox']), 'operation')}"
    for steps in zip(
        way["outbox"], way["lane"], way["encode"], way["send"], way["receipt"], strict=True
    ):
        yield from _operation_lines(*steps)


def _record_lines(metadata: Mapping[str, Any]) -> Iterator[str]:
    """The model, tools, usage and other data of an agent's answer, if they are known."""
    record, usage = metadata.get("record"), metadata.get("usage")
    if isinstance(record, dict):
        left_out = many(len(record.get("losses") or ()), "thing")
        yield printable(
            f"  made by {record.get('model')} ({record.get('api')}) of "
            f"{many(record.get('messages', 0), 'message')}, {left_out} left out"
        )
        digests = (f"{name} {record.get(f'{name}_sha256')}" for name in _DIGESTS)
        yield printable(f"  sha256 of {', '.join(digests)}")
        if record.get("tools"):
            yield printable(f"  tools {', '.join(map(str, record['tools']))}")
    if isinstance(usage, dict):
        counts = (f"{name} {count}" for name, count in usage.items() if isinstance(count, int))
        yield printable(f"  usage {', '.join(counts)}")


_DIGESTS = ("instructions", "history")


def _feedback_lines(message: Way) -> Iterator[str]:
    """Lines with people's feedback on the message."""
    metadata = message["uacs"].get("metadata") or {}
    for feedback in (metadata.get(KEY) or {}).get("feedback", ()):
        comment = f": {feedback['comment']}" if feedback.get("comment") else ""
        yield printable(
            f"  {feedback['sense']}, says {feedback['actor']} at {feedback['at']}{comment}"
        )


def _operation_lines(operation: Way, lane: Way, encoded: Way, send: Way, receipt: Way) -> list[str]:
    calls = encoded.get("calls")
    calls_made = (
        encoded.get("error") or ", ".join(call["method"] for call in calls or ()) or "no call"
    )
    native = ", ".join(receipt["native_ids"]) or "no copy"
    lines = [
        "",
        f"  {operation['type']} {operation['id']}",
        f"6   lane     {lane['lane']}: {lane['state']}, {many(lane['attempts'], 'attempt')}"
        + (f", waited {age(lane['waited_s'])}" if lane["waited_s"] is not None else ""),
        f"7   encode   {calls_made}",
        f"8   send     {send['began']} to {send['ended']}"
        + (f", {age(send['took_s'])}" if send["took_s"] is not None else ""),
        f"9   receipt  {native}",
    ]
    lines += [
        f"             lost: {loss['what']}, shown as {loss['shown_as'] or 'nothing'}"
        for loss in receipt["losses"]
    ]
    if receipt["error"]:
        lines.append(f"             error: {receipt['error']}")
    return [printable(line) for line in lines]


def _kinds(decoded: Any) -> str:
    if isinstance(decoded, list):
        kinds = [str(event["type"]) for event in decoded]
        return printable(", ".join(kinds)) or "nothing"
    return printable(f"error: {decoded['error']}")


# --- as a page ----------------------------------------------------------------------------------

_INTRODUCTION = """# One message, step by step

`receive → inbox → decode → stages → outbox → lane → encode → send → receipt`: this page shows one
message at each step, as `uacs-bridge explain --markdown MESSAGE` prints it. Decoding and encoding
are pure, so the command shows them by running them again."""

_STEPS: Sequence[tuple[str, str]] = (
    ("receive", "The connector verified the sender (`connectors/<platform>/receive.py`) "
     "and took the raw bytes."),
    ("inbox", "One row, on disk before the bridge acknowledges the payload. The dedupe key "
     "identifies repeats; the order key is the channel's cursor for catch-up."),
    ("decode", "The connector decodes the payload to this event (`connectors/<platform>/decode.py`)"
     ": the message is UACS from here on."),
    ("stages", "The event passed these stages in order (`bridge/router/inbound/pipeline.py`). They "
     "placed it in its timelines and decided which channels show it."),
    ("outbox", "One transaction wrote the archive, the timelines and these operations. An "
     "operation refers to its message; the lane loads the text when it sends the operation."),
    ("lane", "Each destination channel has a lane that keeps the order and lists the steps of an "
     "operation (`bridge/router/outbound/lane.py`, then `send.py`)."),
    ("encode", "The router dressed the message for its channel "
     "(`bridge/router/outbound/encoding.py`, `presentation.py`, `references.py`) and the connector "
     "encoded it as native calls (`connectors/<platform>/encode.py`); losses name what the "
     "destination cannot show."),
    ("send", "Each call got permission from the rate limits (`rate_limits.py`), was marked "
     "`sending` before its first byte went out, and was made with a deadline (`send.py`) by "
     "`connectors/<platform>/send.py`."),
    ("receipt", "The native ids of the copies: edits, threads and replies use these links."),
)  # fmt: skip


def as_markdown(way: Way) -> str:
    """The page: an introduction, the message, and a section for each step."""
    return "\n\n".join([_INTRODUCTION, *_sections(way)])


def _sections(way: Way) -> Iterator[str]:
    yield "## The message\n\nThe message in the archive, in UACS.\n\n" + _block(way["message"])
    for number, (name, text) in enumerate(_STEPS, 1):
        step = way[name]
        nothing = "Nothing: an agent said it, no platform handed it over."
        about = textwrap.fill(text, 100, break_on_hyphens=False)
        yield f"## {number}. {name}\n\n{about}\n\n" + (nothing if step is None else _block(step))


def _block(value: object) -> str:
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return f"```json\n{text}\n```"
