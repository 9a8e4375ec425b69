"""CPU of the card codecs: a card written for each platform, against chat-sdk, and read again.

`python -m tests.benchmarks --only cards`. chat-sdk (PyPI, 0.4.x) is no dependency of ours and asks
for Python 3.12: run this with the interpreter of a venv that has both. Without it the ratios are
left out. Bars: 0.6 of chat-sdk's rate for the nodes that it does not drop; 3,000 reads a second.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import orjson

from bridge.content.cards.codec import Codec
from bridge.content.cards.interactions import action_token
from bridge.content.cards.json import card_from_json
from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import Card
from connectors.discord import cards as discord
from connectors.slack import cards as slack
from connectors.teams import cards as teams
from tests.benchmarks.turns import Work, compared, in_turns

PAIRS = 31
BAR = 0.6  # of chat-sdk's rate
READS = 3_000  # a second

_REPEATS = 100
_MESSAGE = "slack:T1:C1:1700000000.000100"
_CODECS: dict[str, Codec] = {"slack": slack, "discord": discord, "teams": teams}
_DROPPED = {"discord": ("image", "choice")}  # by chat-sdk 0.4.41, without a word

Json = dict[str, Any]


def _button(label: str, **look: str) -> Json:
    return {"type": "button", "id": label.lower(), "label": label, "value": "4.2.1", **look}


_FACTS = {
    "Service": "billing-api",
    "Version": "4.2.1",
    "Region": "eu-central-1",
    "Started by": "Alice Example",
    "Duration": "3 min 12 s",
    "Tests": "1,204 passed",
}
_TEXT = (
    "The build of **main** passed all checks and waits for approval. "
    "Read [the notes](https://example.com/releases/4.2.1) first."
)
_CHART = {"url": "https://example.com/charts/latency.png", "alt": "Latency of the last hour"}
_LOG = {"label": "Open the log", "url": "https://example.com/builds/1204/log"}
_REGIONS = {"Europe": "eu", "America": "us", "Asia": "ap"}
_ACTIONS: list[Json] = [
    _button("Approve", style="primary"),
    _button("Reject", style="danger"),
    _button("Later"),
    {"type": "button", "does": "open", **_LOG},
    {
        "type": "choice",
        "id": "region",
        "label": "Region",
        "placeholder": "Choose a region",
        "options": [{"label": label, "value": value} for label, value in _REGIONS.items()],
    },
]


def card_json(without: tuple[str, ...] = ()) -> Json:
    """The card, 1.2 KB: header, text, 6 fields, image, divider, 4 buttons and a menu."""
    nodes: list[Json] = [
        {"type": "prose", "text": "# Deploy to production"},
        {"type": "prose", "text": _TEXT},
        {"type": "fields", "items": [{"label": key, "value": _FACTS[key]} for key in _FACTS]},
        {"type": "image", "asset": _CHART},
        {"type": "divider"},
        {
            "type": "actions",
            "items": [action for action in _ACTIONS if action["type"] not in without],
        },
    ]
    return {"type": "card", "nodes": [node for node in nodes if node["type"] not in without]}


def measure(pairs: int = PAIRS) -> list[Json]:
    """One row per platform: medians in microseconds of CPU, the ratio with its spread."""
    return [_row(platform, codec, pairs) for platform, codec in _CODECS.items()]


def _row(platform: str, codec: Codec, pairs: int) -> Json:
    card = card_json(_DROPPED.get(platform, ()))
    theirs = _chat_sdk(platform, card)
    ours = partial(_write, codec, card_from_json(card), _rendering())
    times = in_turns([ours, _reading(codec), *([theirs] if theirs else [])], pairs, _REPEATS)
    read_us = statistics.median(times[1])
    row = {
        "platform": platform,
        "pairs": pairs,
        "write_us": round(statistics.median(times[0]), 1),
        "read_us": round(read_us, 1),
        "reads_per_s": round(1_000_000 / read_us),
        "reads_bar": READS,
    }
    return row | (compared(times[0], times[2], BAR) if theirs else {})


def _rendering() -> Rendering:
    return Rendering(token=partial(action_token, bytes(range(32)), _MESSAGE))


def _write(codec: Codec, card: Card, rendering: Rendering) -> object:
    """The bytes that travel, and the losses."""
    written = codec.write_card(card, rendering)
    return [orjson.dumps(message.body) for message in written.messages], written.losses


def _reading(codec: Codec) -> Work:
    """The whole card as its platform has it -> a card."""
    (message,) = codec.write_card(card_from_json(card_json()), _rendering()).messages
    (payload,) = (payload for payload in codec.payloads(dict(message.body)) if payload.schema_id)
    return partial(codec.read_payload, payload)


# --- chat-sdk -------------------------------------------------------------------------------


def _chat_sdk(platform: str, card: Json) -> Work | None:
    """chat-sdk on its way to the same bytes; None where it is not installed."""
    try:
        adapter: Any = import_module(f"chat_sdk.adapters.{platform}.cards")
    except ImportError:
        return None
    title, *rest = card["nodes"]
    children = [_their_node(node) for node in rest]
    theirs = {"type": "card", "title": title["text"].removeprefix("# "), "children": children}
    return partial(_their_bytes, _BODIES[platform], adapter, theirs)


def _their_bytes(body: Callable[[Any, Json], Json], adapter: Any, card: Json) -> bytes:
    return orjson.dumps(body(adapter, card))


# What chat-sdk's adapters post: each line as its `post_message` makes it.
_BODIES: dict[str, Callable[[Any, Json], Json]] = {
    "slack": lambda adapter, card: {
        "text": adapter.card_to_fallback_text(card),
        "blocks": adapter.card_to_block_kit(card),
    },
    "discord": lambda adapter, card: adapter.card_to_discord_payload(card),
    "teams": lambda adapter, card: {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "content": adapter.card_to_adaptive_card(card),
            }
        ],
    },
}


def _their_node(node: Json) -> Json:
    match node["type"]:
        case "prose":
            return {"type": "text", "content": node["text"]}
        case "fields":
            children = [item | {"type": "field"} for item in node["items"]]
            return {"type": "fields", "children": children}
        case "image":
            return {"type": "image", **node["asset"]}
        case "actions":
            return {"type": "actions", "children": [_their_node(item) for item in node["items"]]}
        case "button" if "url" in node:
            return {"type": "link-button", "label": node["label"], "url": node["url"]}
        case "choice":
            return node | {"type": "select"}
        case _:
            return node


# --- for people --------------------------------------------------------------------------------


def table(rows: list[Json]) -> str:
    """The rows for people."""
    head = (
        "platform   write us  chat-sdk us  ratio (min-max)    bar      read us  reads/s        bar"
    )
    return "\n".join([head, *map(_line, rows)])


def _line(row: Json) -> str:
    spread = f"({row['ratio_min']}-{row['ratio_max']})" if "ratio" in row else "no chat-sdk here"
    return (
        f"{row['platform']:<8} {row['write_us']:>10} {row.get('chat_sdk_us', '-'):>12} "
        f"{row.get('ratio', '-'):>6} {spread:<11} >= {BAR} {row['read_us']:>10} "
        f"{row['reads_per_s']:>8}   >= {READS}"
    )


if __name__ == "__main__":
    print(table(measure()))
