"""Measures translations of a card between the installed platforms, and hashing, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import sha256

from pydantic import JsonValue

from bridge.app.bench.results import Hashing, Translations
from bridge.app.translation.translate import CARD, translate
from bridge.runtime.discovery import CONNECTORS, names_of
from bridge.store.encrypted_files import Encryptor

_CARD: JsonValue = {
    "type": "card",
    "nodes": [
        "# Deployment of the web shop",
        "Version **4.2** is on [staging](https://example.org/staging); _please_ look at it.",
        {
            "type": "fields",
            "items": [{"label": f"Check {n}", "value": f"passed after {n} s"} for n in range(6)],
        },
        {"type": "divider"},
        {
            "type": "actions",
            "items": [
                {"type": "button", "label": "Approve", "id": "approve"},
                {"type": "button", "label": "Reject", "id": "reject"},
            ],
        },
    ],
}
_BLOCK = bytes(1024 * 1024)


def measure_translations(seconds: float) -> Translations:
    """Translate in all directions in turn, for so long a time at least."""
    platforms = names_of(CONNECTORS)
    native = {name: translate(_CARD, source=CARD, target=name).messages[0] for name in platforms}
    directions = [(source, target) for source in platforms for target in platforms
                  if source != target]  # fmt: skip
    spent = dict.fromkeys(directions, 0.0)
    rounds = 0
    end = time.perf_counter() + seconds
    while not rounds or time.perf_counter() < end:
        for source, target in directions:
            before = time.process_time()
            translate(native[source], source=source, target=target)
            spent[source, target] += time.process_time() - before
        rounds += 1
    mean = 1e6 * sum(spent.values()) / rounds / len(directions)
    slowest = max(spent, key=lambda direction: spent[direction])
    name = " to ".join(slowest)
    return Translations(mean, name, 1e6 * spent[slowest] / rounds, 1e6 / mean)


def measure_hashing(seconds: float, *, encrypted: bool) -> Hashing:
    """Hash, and encrypt where the store is encrypted, each for so long a time."""
    digest = sha256()
    hashed = _rate(digest.update, seconds)
    if not encrypted:
        return Hashing(hashed, None)
    encryptor = Encryptor(bytes(32))
    return Hashing(hashed, _rate(encryptor.update, seconds))


def _rate(work: Callable[[bytes], object], seconds: float) -> float:
    """MB a second."""
    blocks, began, took = 0, time.process_time(), 0.0
    while took < seconds:
        work(_BLOCK)
        blocks += 1
        took = time.process_time() - began
    return blocks * len(_BLOCK) / 1e6 / took
