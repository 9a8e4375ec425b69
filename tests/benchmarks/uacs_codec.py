"""CPU of a UACS round trip against orjson's loads + dumps of the same bytes.

`python -m tests.benchmarks.uacs_codec [--json]`. The bars are ratios within one run (issue 2):
5 for a text message of 200 B, 4 for a rich one of 8 KB. Absolute figures are this machine's.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import orjson

from bridge.uacs import read_message, write

RUNS = 15
BARS = {"text": 5.0, "rich": 4.0}

_ENVELOPE = {
    "message_id": "slack:T1:C1:1700000000.000100",
    "timestamp": "2026-11-21T12:00:00.123Z",
    "actor": {"id": "slack:T1:U1", "role": "human", "name": "Alice"},
}


def text_message() -> bytes:
    """A plain post of 200 B."""
    part = {"type": "text", "text": "Hello, how are you?"}
    return orjson.dumps({**_ENVELOPE, "content": [part]})


def rich_message() -> bytes:
    """A rich post of 8 KB: native payload, its fallback, images, a tool call, metadata."""
    blocks = [_block(number) for number in range(16)]
    content = [
        {
            "type": "structured_data",
            "schema_id": "application/vnd.slack.blocks+json",
            "data": blocks,
        },
        {"type": "text", "text": "Wörter, “quotes” and an emoji 🎉. " * 20},
        {
            "type": "image",
            "source": {"url": "https://example.com/a.png"},
            "media_type": "image/png",
        },
        {"type": "image", "source": {"file_id": "blob:sha256-0f1e"}, "media_type": "image/jpeg"},
        {
            "type": "tool_call",
            "id": "call_1",
            "name": "weather",
            "arguments": {"city": "Boston", "days": 5, "near": [42.36, -71.06], "unit": None},
        },
        {"type": "tool_result", "tool_call_id": "call_1", "content": {"high": [1, 2, 3.5]}},
        {"type": "vnd.example.poll", "options": ["yes", "no"], "votes": {"yes": 3}},
    ]
    additions = {"version": 1, "fallbacks": {"0": [1]}, "parts": {"2": {"name": "a.png"}}}
    metadata = {"uacs_bridge": additions, "slack": {"event_type": "x", "event_payload": {"n": 1}}}
    return orjson.dumps({**_ENVELOPE, "content": content, "metadata": metadata})


def _block(number: int) -> dict[str, Any]:
    return {
        "type": "section",
        "block_id": f"block-{number}",
        "text": {
            "type": "mrkdwn",
            "text": f"Some *bold* text with <https://example.com/{number}|a link> and more to read",
            "verbatim": False,
        },
        "accessory": {
            "type": "button",
            "action_id": f"act-{number}",
            "text": {"type": "plain_text", "text": "Press", "emoji": True},
            "value": str(number),
        },
        "fields": [{"type": "mrkdwn", "text": f"field {i}"} for i in range(3)],
    }


def measure(runs: int = RUNS) -> list[dict[str, Any]]:
    """One row per message: medians in microseconds of CPU, ratio with its spread over the runs."""
    messages = {"text": text_message(), "rich": rich_message()}
    return [_row(name, raw, runs) for name, raw in messages.items()]


def _row(name: str, raw: bytes, runs: int) -> dict[str, Any]:
    assert orjson.loads(write(read_message(raw))) == orjson.loads(raw)
    repeats = 4_000_000 // (len(raw) + 200)
    floors: list[float] = []
    round_trips: list[float] = []
    for _ in range(runs):  # in turns, so that both meet the same noise of the machine
        floors.append(_microseconds(lambda: orjson.dumps(orjson.loads(raw)), repeats))
        round_trips.append(_microseconds(lambda: write(read_message(raw)), repeats))
    ratios = sorted(trip / floor for trip, floor in zip(round_trips, floors, strict=True))
    message = read_message(raw)
    return {
        "message": name,
        "bytes": len(raw),
        "runs": runs,
        "orjson_us": round(statistics.median(floors), 2),
        "read_us": round(_microseconds(lambda: read_message(raw), repeats), 2),
        "write_us": round(_microseconds(lambda: write(message), repeats), 2),
        "round_trip_us": round(statistics.median(round_trips), 2),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_min": round(ratios[0], 2),
        "ratio_max": round(ratios[-1], 2),
        "bar": BARS[name],
    }


def _microseconds(work: Callable[[], object], repeats: int) -> float:
    gc.collect()
    start = time.process_time_ns()
    for _ in range(repeats):
        work()
    return (time.process_time_ns() - start) / repeats / 1000


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for people."""
    head = "message  bytes  orjson us  read us  write us  round trip us  ratio (min-max)    bar"
    lines = [
        f"{row['message']:<7} {row['bytes']:>6} {row['orjson_us']:>10} {row['read_us']:>8} "
        f"{row['write_us']:>9} {row['round_trip_us']:>14} {row['ratio']:>6} "
        f"({row['ratio_min']}-{row['ratio_max']})  <= {row['bar']}"
        for row in rows
    ]
    return "\n".join([head, *lines])


def main() -> None:
    """Print the table, or JSON with --json."""
    rows = measure()
    print(orjson.dumps(rows).decode() if "--json" in sys.argv[1:] else table(rows))


if __name__ == "__main__":
    main()
