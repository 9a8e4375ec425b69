"""What was measured on a machine, and what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_DAY = 86_400


@dataclass(frozen=True)
class Disk:
    """The store's disk.

    - `commits`: COMMITs a second, one after the other; each waits for the disk.
    - `commit_ms`, `slow_ms`: how long half of them take at most, and 99 % of them.
    - `units`: units of work a second where many share a COMMIT, as in a busy bridge.
    """

    commits: float
    commit_ms: float
    slow_ms: float
    units: float


@dataclass(frozen=True)
class Translations:
    """A rich card between all platforms: CPU microseconds of one translation, on average and in the
    slowest direction, and translations a second on one core."""

    microseconds: float
    slowest: str
    slowest_microseconds: float
    per_second: float


@dataclass(frozen=True)
class Hashing:
    """MB a second on one core: SHA-256 of files, and their encryption in an encrypted store (None
    in one that is not)."""

    sha256: float
    encryption: float | None


@dataclass(frozen=True)
class Relay:
    """Messages of people on local platforms, each copied to two others by a bridge in a process of
    its own, without rate limits.

    - `messages`, `seconds`: how many, in how long a time.
    - `per_second`: of this machine, which also ran the local platforms.
    - `cpu_microseconds`: of the bridge, for one message.
    - `units`: of the store, for one message.
    """

    messages: int
    seconds: float
    per_second: float
    cpu_microseconds: float
    units: float


@dataclass(frozen=True)
class Verdict:
    """What limits the relay, and how much there is: messages a second that the CPU and the disk
    would each allow, and messages a day of the lower one."""

    limit: Literal["CPU", "disk"]
    by_cpu: float
    by_disk: float
    per_day: float


@dataclass(frozen=True)
class Bench:
    """All that was measured; `encrypted`: like the store, the measured ones were encrypted."""

    folder: str
    encrypted: bool
    cores: int
    disk: Disk
    translations: Translations
    hashing: Hashing
    relay: Relay
    verdict: Verdict


def verdict_of(disk: Disk, relay: Relay) -> Verdict:
    """Return what limits a bridge: one process uses one core, and shares COMMITs."""
    by_cpu = 1e6 / relay.cpu_microseconds
    by_disk = disk.units / relay.units
    lower = min(by_cpu, by_disk)
    return Verdict("CPU" if by_cpu <= by_disk else "disk", by_cpu, by_disk, lower * _DAY)
