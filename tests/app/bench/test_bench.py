"""`uacs-bridge bench` measures disk, CPU and a relay, says what limits, and leaves nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bridge.app.bench.cpu import measure_hashing, measure_translations
from bridge.app.bench.disk import measure_disk
from bridge.app.bench.measuring import measure
from bridge.app.bench.results import Bench, Disk, Hashing, Relay, Translations, verdict_of
from bridge.app.cli.commands.bench import lines_of
from bridge.runtime.discovery import CONNECTORS, names_of
from bridge.store.vault import VARIABLE, is_encrypted

DISK = Disk(commits=200, commit_ms=4, slow_ms=9, units=6000)
RELAY = Relay(messages=400, seconds=4, per_second=100, cpu_microseconds=2500, units=6)
FOUND = Bench(
    "/var/lib", False, 4, DISK, Translations(500, "a to b", 900, 2000), Hashing(900, None), RELAY,
    verdict_of(DISK, RELAY),
)  # fmt: skip


def test_the_slower_of_cpu_and_disk_is_the_limit() -> None:
    by_cpu = verdict_of(DISK, RELAY)
    by_disk = verdict_of(replace(DISK, units=600), RELAY)

    assert (by_cpu.limit, by_cpu.by_cpu, by_cpu.by_disk) == ("CPU", 400, 1000)
    assert by_cpu.per_day == 400 * 86_400
    assert (by_disk.limit, by_disk.per_day) == ("disk", 100 * 86_400)


def test_people_read_what_was_measured_and_what_it_means() -> None:
    lines = "\n".join(lines_of(FOUND))

    assert "200/s" in lines
    assert "half of them in 4.00 ms, 99 % in 9.00 ms" in lines
    assert "2,500 us of CPU and 6.0 units each" in lines
    assert "The CPU is the limit: the CPU allows 400 messages/s" in lines
    assert "34.6 million messages a day" in lines
    assert "encryption of files" not in lines
    encrypted = replace(FOUND, encrypted=True, hashing=Hashing(900, 700))
    assert "700 MB/s" in "\n".join(lines_of(encrypted))


async def test_the_disk_is_measured_in_a_store_that_is_encrypted_like_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = await measure_disk(tmp_path / "a.sqlite3", 0.05, encrypted=False)

    assert 0 < plain.commit_ms <= plain.slow_ms
    assert plain.commits > 0
    assert plain.units > 0
    pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")
    monkeypatch.setenv(VARIABLE, "a key of some length")
    sealed = await measure_disk(tmp_path / "b.sqlite3", 0.05, encrypted=True)
    assert is_encrypted(tmp_path / "b.sqlite3")
    assert sealed.commits > 0


def test_translations_of_all_directions_and_hashing_are_measured() -> None:
    translations = measure_translations(0.0)

    source, _, target = translations.slowest.partition(" to ")
    assert {source, target} <= set(names_of(CONNECTORS))
    assert 0 < translations.microseconds <= translations.slowest_microseconds
    assert measure_hashing(0.01, encrypted=False).encryption is None
    assert (measure_hashing(0.01, encrypted=True).encryption or 0) > 0


@pytest.mark.process
async def test_messages_are_relayed_through_a_bridge_of_its_own_and_nothing_is_left(
    tmp_path: Path,
) -> None:
    parts: list[str] = []

    found = await measure(tmp_path / "data" / "bridge.sqlite3", parts.append, share=0.05)

    assert parts == ["disk", "translations", "relay"]
    assert found.relay.messages >= 32
    assert found.relay.cpu_microseconds > 0
    assert found.relay.units >= 3  # the row, the admission, the operations
    assert found.verdict == verdict_of(found.disk, found.relay)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240
