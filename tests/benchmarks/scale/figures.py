"""The figures that the simulation starts from, each with where it comes from.

Certainty of limits: S, the platform's own documents say it; M, long known; O, observed by others.
"""

from __future__ import annotations

from dataclasses import dataclass

DAY = 86_400.0
PEAK_HOUR = 14  # of the daily curve
PEAK = 2.2  # times the mean of a day, at the peak; an assumption


@dataclass(frozen=True)
class Limit:
    """So many requests in so many seconds, as a bucket of tokens."""

    requests: float
    seconds: float
    certainty: str

    @property
    def rate(self) -> float:
        """Requests per second that it allows for long."""
        return self.requests / self.seconds


@dataclass(frozen=True)
class Platform:
    """What a platform allows: posts per channel, posts per account, events per account."""

    name: str
    share: float  # of all accounts; an assumption
    channel: tuple[Limit, ...]
    account: tuple[Limit, ...]
    events: Limit | None
    answer: float  # seconds that a post takes, the median; an assumption


PLATFORMS = (
    Platform(
        "slack", 0.5,
        (Limit(1, 1, "S"),), (Limit(300, 60, "S"),),  # "several hundred a minute per workspace"
        Limit(30_000, 3600, "M"), 0.12,
    ),
    Platform(
        "discord", 0.25,
        # Webhooks have 5 per 2 s of their own; a channel takes the smaller rate.
        (Limit(5, 5, "O"),), (Limit(50, 1, "S"),), None, 0.10,
    ),
    Platform(
        "teams", 0.25,
        (Limit(7, 1, "S"), Limit(60, 30, "S"), Limit(1800, 3600, "S")), (Limit(50, 1, "S"),), None,
        0.25,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """Seconds of a step. CPU is that of docs/benchmarks.md, "CPU per relayed message": 5.6 ms for a
    message with two copies; how it splits is an estimate from the shares named there."""

    receive: float = 0.0012
    route: float = 0.0014
    send: float = 0.0015
    refused: float = 0.0008  # an attempt that the platform refuses
    reconnect: float = 0.03  # of one account by a new owner; an assumption

    @property
    def message(self) -> float:
        """CPU of a message with two copies."""
        return self.receive + self.route + 2 * self.send


@dataclass(frozen=True)
class Database:
    """Transactions per second, and seconds that one takes beside waiting: the way there, and the
    COMMIT of a group. Assumptions, but for the grouping of SQLite (4 ms, docs/benchmarks.md)."""

    name: str
    transactions: float
    way: float
    commit: float


SQLITE = Database("SQLite in the process", 5_000, 0.0, 0.005)
POSTGRES = Database("PostgreSQL, one primary", 10_000, 0.001, 0.002)
TRANSACTIONS = 5.0  # of a message with two copies (docs/benchmarks.md); those simulated: 4 to 6
SIGNALS = 3.0  # of a message whose copies other processes own: two wakings, one settlement
NATS = 200_000.0  # signals per second of a cluster; an assumption

LEASE = 10.0  # seconds until the accounts of a dead process have a new owner
FOLLOW_UPS = 2.0  # messages that follow one in its room within seconds, the mean; an assumption
FOLLOW_UP_PAUSE = 4.0  # seconds, the mean
SPREAD = 1.3  # sigma of the log-normal sizes of rooms: one in a hundred has 20 times the median
MEMBERS = 3  # channels of a room, of three accounts

# What a relayed message with two copies leaves in the store: `python -m tests.benchmarks.rows`.
ROWS = 11
BYTES = 2_668.0
DELIVERY_BYTES = 1_349.0  # of them: operations and links
WITHOUT_PACKING = 1.7  # times the bytes in PostgreSQL, whose rows have heads of 28; an assumption
PACKED_BYTES = 400.0  # of a message in an archived partition, compressed; an assumption
FILES = 0.05  # of all messages have one; an assumption
FILE_BYTES = 400_000.0  # the mean; an assumption
PROCESS_BYTES = 133e6  # docs/benchmarks.md, "Latency, throughput, memory"
ACCOUNT_BYTES = 1e6  # of a connected account; an assumption

BACKOFF = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  # seconds between attempts at a platform that refuses
