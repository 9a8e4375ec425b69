"""What a number of messages a day needs: units to count, not prices."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.benchmarks.scale.figures import (
    ACCOUNT_BYTES,
    BYTES,
    DAY,
    FILE_BYTES,
    FILES,
    PACKED_BYTES,
    PEAK,
    POSTGRES,
    PROCESS_BYTES,
    ROWS,
    TRANSACTIONS,
    WITHOUT_PACKING,
    Costs,
)

HOT_DAYS = 30  # in the database; after that a partition of a day goes to the bucket


@dataclass(frozen=True)
class Assumptions:
    """What nobody can measure before it is there; the names are those of `figures`.

    `cpu_use` and `database_use` are fractions at the peak: the rest is for bursts, and for what a
    process that died leaves to the others.
    """

    peak: float = PEAK
    cpu_use: float = 0.45
    transactions: float = POSTGRES.transactions
    database_use: float = 0.65
    without_packing: float = WITHOUT_PACKING
    packed_bytes: float = PACKED_BYTES
    files: float = FILES
    file_bytes: float = FILE_BYTES


EXPECTED = Assumptions()
CHEAP = Assumptions(1.6, 0.6, 20_000, 0.7, 1.2, 250, 0.02, 200_000)
DEAR = Assumptions(3.5, 0.35, 5_000, 0.5, 2.5, 700, 0.1, 1_000_000)


@dataclass(frozen=True)
class Needs:
    """The units for so many messages a day of so many accounts; bytes are decimal."""

    volume: float
    accounts: int
    peak: float  # messages per second
    processes: int
    cells: int
    accounts_per_process: float
    memory: float  # bytes of all processes
    cpu_hours: float  # per day, used
    rows: float  # per day and cell
    database: float  # bytes of a cell for HOT_DAYS
    archived: float  # bytes of messages that go to the bucket, per day
    files: float  # per day, and so many writes to the bucket
    file_bytes: float  # per day
    gets: float  # per day


def needs(volume: float, accounts: int, assumed: Assumptions = EXPECTED) -> Needs:
    """Return what the volume needs, by proportion from the figures."""
    peak = volume / DAY * assumed.peak
    cpu = Costs().message
    of_a_cell = assumed.transactions * assumed.database_use / TRANSACTIONS
    cells = max(1, math.ceil(peak / of_a_cell))
    processes = cells * max(2, math.ceil(peak * cpu / assumed.cpu_use / cells))
    files = volume * assumed.files
    return Needs(
        volume=volume, accounts=accounts, peak=peak, processes=processes, cells=cells,
        accounts_per_process=accounts / processes,
        memory=processes * PROCESS_BYTES + accounts * ACCOUNT_BYTES,
        cpu_hours=volume * cpu / 3600,
        rows=volume * ROWS / cells,
        database=volume * BYTES * assumed.without_packing * HOT_DAYS / cells,
        archived=volume * assumed.packed_bytes,
        files=files, file_bytes=files * assumed.file_bytes, gets=files * 2,
    )  # fmt: skip
