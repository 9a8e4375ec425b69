"""Whatever a peer sends is read, or refused with one clear error: no crash, no hang."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.errors import InvalidData
from bridge.model.times import datetime_of
from bridge.openfloor.dialog import Speaking, dialog_event_of, message_of
from bridge.openfloor.read import envelope_of, read_envelope
from bridge.openfloor.write import write_envelope
from bridge.testing.clock import START
from bridge.uacs import Actor, read_message, write
from tests.openfloor.test_envelopes import LISTING_2, MANIFEST_OF_THE_PAPER, examples

_SLOWEST = 1.0  # seconds of one envelope, on a busy machine
_STRANGE: list[Any] = [
    None, True, False, 0, -1, 1e308, 10**30, "", " ", "\x00", "\ud7ff", "𝄞" * 50, "@timedOut",
    "javascript:alert(1)", "http://169.254.169.254/", [], {}, [[]], [None], {"": {}}, {"to": {}},
    ["a", {"b": 1}], {"value": [1]}, "<script>x</script>", "2023-06-14 02:06:07+00:00", "PT0.2",
]  # fmt: skip
_KEYS = [
    "openFloor", "ovon", "events", "eventType", "to", "private", "parameters", "dialogEvent",
    "features", "text", "tokens", "value", "valueUrl", "span", "startTime", "conversation", "id",
    "sender", "schema", "version", "servicingManifests", "manifest", "identification",
    "capabilities", "supportedLayers", "score", "dialogHistory", "alternates", "mimeType", "reason",
    "floorGranted", "assignedFloorRoles", "conversants",
]  # fmt: skip


def seeds() -> list[Any]:
    """Envelopes to begin with: those of the specification where they are, and our own."""
    publish = {
        "eventType": "publishManifests",
        "parameters": {"servicingManifests": [{**MANIFEST_OF_THE_PAPER, "score": 0.5}]},
    }
    own = {
        "openFloor": {
            "schema": {"version": "1.1.0"}, "conversation": {"id": "c"},
            "sender": {"speakerUri": "tag:a"}, "events": [publish],
        }
    }  # fmt: skip
    return [LISTING_2, own, *(json.loads(path.read_bytes()) for path in examples())]


def mutated(value: Any, rng: random.Random) -> Any:
    """The value with some of its parts replaced, doubled, renamed or gone."""
    if rng.random() < 0.04:
        return rng.choice(_STRANGE)
    if isinstance(value, dict):
        changed = {}
        for key, member in value.items():
            luck = rng.random()
            if luck < 0.02:
                continue
            name = rng.choice(_KEYS) if luck < 0.05 else key
            changed[name] = mutated(member, rng)
        if rng.random() < 0.03:
            changed[rng.choice(_KEYS)] = rng.choice(_STRANGE)
        return changed
    if isinstance(value, list):
        items = [mutated(item, rng) for item in value if rng.random() > 0.03]
        return items * 2 if rng.random() < 0.02 else items
    return value


def broken(body: bytes, rng: random.Random) -> bytes:
    """The bytes cut, or with some changed."""
    if rng.random() < 0.5:
        return body[: rng.randrange(len(body) + 1)]
    changed = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def play(count: int, seed: int) -> tuple[int, int]:
    """Read that many envelopes. Returns how many were read, and how many refused."""
    rng, start = random.Random(seed), seeds()
    read = refused = 0
    for _ in range(count):
        body = json.dumps(mutated(rng.choice(start), rng)).encode("utf-8", "replace")
        if rng.random() < 0.2:
            body = broken(body, rng)
        began = time.perf_counter()
        problem = refusal(body)
        if problem is None:
            read += 1
        else:
            assert 0 < len(problem) < 300
            refused += 1
        assert time.perf_counter() - began < _SLOWEST
    return read, refused


def refusal(body: bytes) -> str | None:
    try:
        check(body)
    except InvalidData as error:
        return str(error)
    return None


def check(body: bytes) -> None:
    """What is read is written, and read as the same; what is said becomes a message and comes back.

    Raises:
        InvalidData: it is refused.
    """
    envelope = read_envelope(body).envelope
    written = envelope_of(orjson.loads(write_envelope(envelope))).envelope
    assert len(written.events) == len(envelope.events)
    if envelope.root == "openFloor":  # the old words have no place for some of the new
        assert (written.events, written.talk) == (envelope.events, envelope.talk)
    assert envelope_of(orjson.loads(write_envelope(written))).envelope == written
    for event in envelope.events:
        for said in (*([event.dialog_event] if event.dialog_event else ()), *event.history):
            actor = Actor(id="openfloor:peer", role="assistant")
            message = message_of(said, actor, "openfloor:m1", datetime_of(START))
            assert read_message(write(message)) == message
            again = dialog_event_of(message, Speaking(said.speaker_uri))
            assert again.text.split() == dialog_event_of(message, Speaking("x")).text.split()


def test_strange_envelopes_are_read_or_refused() -> None:
    read, refused = play(3000, seed=17)

    assert read > 1000
    assert refused > 300


@pytest.mark.long
def test_200_000_strange_envelopes_are_read_or_refused() -> None:
    count = int(os.environ.get("ENVELOPES", "200000"))

    read, refused = play(count, seed=int(os.environ.get("SEED", "1")))

    print(f"{count} envelopes: {read} read, {refused} refused")
    assert read + refused == count


def test_a_file_of_one_large_envelope_is_read_in_time(tmp_path: Path) -> None:
    events = [{"eventType": "bye", "reason": "x" * 100}] * 20_000
    body = {"openFloor": {"conversation": {"id": "c"}, "sender": {}, "events": events}}
    del tmp_path

    began = time.process_time()
    read = read_envelope(json.dumps(body).encode())

    assert len(read.envelope.events) == 20_000
    assert time.process_time() - began < 5
