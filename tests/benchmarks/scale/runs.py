"""Deployments, the windows of time that are simulated of them, and what a run shows."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.benchmarks.scale.cell import Cell, Channel, Faults
from tests.benchmarks.scale.engine import Engine
from tests.benchmarks.scale.figures import (
    DAY,
    NATS,
    PEAK,
    PEAK_HOUR,
    POSTGRES,
    SIGNALS,
    SQLITE,
    Database,
)
from tests.benchmarks.scale.traffic import arrivals

PER_ACCOUNT = 10_000  # messages of an account a day: 10^9 of 10^5 accounts
ROOMS_PER_ACCOUNT = 7  # 21 channels of an account, three to a room
QUIET = 0.5  # of what its platform allows for long: a channel below that is a quiet one


@dataclass(frozen=True)
class Deployment:
    """Cells of so many processes on a database. `part` of one cell is simulated: so much of its
    accounts, processes and transactions."""

    name: str
    cells: int
    processes: int
    database: Database
    part: float = 1.0


@dataclass(frozen=True)
class Run:
    """A deployment with so many messages a day, for so many seconds around the peak."""

    volume: float
    deployment: Deployment
    window: float = 600.0
    faults: Faults | None = None
    title: str = ""


RUNS = (
    Run(1e7, Deployment("today: 1 process", 1, 1, SQLITE), 300),
    Run(1e7, Deployment("1 cell of 4 processes", 1, 4, POSTGRES, 0.5)),
    Run(1e8, Deployment("1 cell of 4 processes", 1, 4, POSTGRES, 0.25), 60),
    Run(1e8, Deployment("1 cell of 30 processes", 1, 30, POSTGRES, 0.1), 300),
    Run(1e8, Deployment("2 cells of 16 processes", 2, 16, POSTGRES, 0.125)),
    Run(1e9, Deployment("2 cells of 16 processes", 2, 16, POSTGRES, 0.0625), 60),
    Run(1e9, Deployment("20 cells of 16 processes", 20, 16, POSTGRES, 0.125)),
)
_CELL = Deployment("a cell of 20", 20, 16, POSTGRES, 0.25)
FAULTY = (
    Run(1e9, _CELL, 300, None, "nothing fails"),
    Run(1e9, _CELL, 300, Faults(death=60.0), "one process of four dies"),
    Run(1e9, _CELL, 300, Faults(stall=(60.0, 30.0)), "the database stalls for 30 s"),
    Run(
        1e9, Deployment("a cell of 20", 20, 16, POSTGRES, 0.0625), 1500,
        Faults(refusal=("discord", 60.0, 600.0)), "Discord refuses for 10 minutes",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What a run shows; latencies in seconds, uses as fractions of what there is.

    `quiet` are the copies to channels that get less than half of what their platform allows.
    """

    messages: int
    median: float
    p95: float
    p99: float
    longest: float
    quiet: float
    quiet_p99: float
    backlog: int  # messages in the part at the end of the window
    most: int  # messages in the part at one time
    drained: float  # seconds from the end of the window until all was delivered
    cpu: float  # of all processes, for what came in the window
    database: float
    signals: float
    hottest: float  # posts for the busiest channel, of what its platform allows for long
    too_hot: float  # copies for channels that get more than that, as a fraction
    events: int  # per hour, of the busiest account
    lost: int
    out_of_order: int

    def uses(self) -> dict[str, float]:
        """Return how much is used of what the accounts share."""
        return {"CPU": self.cpu, "database": self.database, "signals": self.signals}

    def first(self) -> str:
        """Return what breaks, or would break first with more messages."""
        name, use = max(self.uses().items(), key=lambda item: item[1])
        return f"{name} at {use:.0%}"


def simulate(run: Run, seed: int = 1) -> Result:
    """Simulate a part of one cell around the peak of a day, until all messages are delivered."""
    deployment, window = run.deployment, run.window
    engine, share = Engine(), deployment.part / deployment.cells
    accounts = max(3, round(run.volume / PER_ACCOUNT * share))
    rooms = accounts * ROOMS_PER_ACCOUNT
    cell = Cell(
        engine, Random(f"{seed} cell"), accounts=accounts, rooms=rooms,
        processes=max(1, round(deployment.processes * deployment.part)),
        database=deployment.database, share=deployment.part, faults=run.faults,
    )  # fmt: skip
    start = PEAK_HOUR * 3600 - window / 2
    coming = arrivals(Random(f"{seed} load"), rooms, run.volume / DAY * share, start, window)

    def follow() -> None:
        if (message := next(coming, None)) is not None:
            engine.at(message[0], arrive, *message[1:])

    def arrive(room: int, member: int) -> None:
        cell.arrive(room, member)
        follow()

    follow()
    engine.run(window)
    backlog = cell.in_flight
    engine.run()
    return _result(cell, run, backlog)


def _result(cell: Cell, run: Run, backlog: int) -> Result:
    window, peak = run.window, run.volume / DAY * PEAK
    latencies = sorted(cell.latencies)
    heat = {id(channel): _heat(channel, window) for room in cell.rooms for channel in room}
    quiet = sorted(
        latency
        for latency, target in zip(cell.latencies, cell.targets, strict=True)
        if heat[id(target)] < QUIET
    )
    too_hot = sum(heat[id(target)] > 1 for target in cell.targets)
    busy = sum(process.busy for process in cell.processes)
    return Result(
        messages=cell.arrived,
        median=_at(latencies, 0.5), p95=_at(latencies, 0.95), p99=_at(latencies, 0.99),
        longest=latencies[-1],
        quiet=len(quiet) / len(latencies), quiet_p99=_at(quiet, 0.99),
        backlog=backlog, most=cell.most_in_flight, drained=cell.engine.now - window,
        cpu=busy / window / len(cell.processes), database=cell.store.busy / window,
        signals=peak / run.deployment.cells * SIGNALS / NATS,
        hottest=max(heat.values()), too_hot=too_hot / len(latencies),
        events=round(max(account.events for account in cell.accounts) / window * 3600),
        lost=cell.arrived - cell.delivered, out_of_order=cell.out_of_order,
    )  # fmt: skip


def _heat(channel: Channel, window: float) -> float:
    return channel.posts / window / min(limit.rate for limit in channel.account.platform.channel)


def _at(ordered: list[float], fraction: float) -> float:
    return ordered[min(int(len(ordered) * fraction), len(ordered) - 1)] if ordered else 0.0
