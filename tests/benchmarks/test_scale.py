"""The simulation of many accounts keeps the laws of queues, loses nothing, and keeps the order."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.benchmarks.scale.cell import Cell, Faults
from tests.benchmarks.scale.engine import Buckets, Engine, Processor
from tests.benchmarks.scale.figures import DAY, PEAK, POSTGRES, SQLITE, Costs, Limit
from tests.benchmarks.scale.needs import needs
from tests.benchmarks.scale.runs import Deployment, Run, simulate
from tests.benchmarks.scale.traffic import arrivals, curve

SMALL = Deployment("small", 1, 4, POSTGRES)
ALL_FAULTS = Faults(death=10.0, stall=(20.0, 5.0), refusal=("discord", 5.0, 20.0))


def cell_with(faults: Faults | None = None, seconds: float = 40.0, rate: float = 20.0) -> Cell:
    """A cell of four processes after all of its messages."""
    engine = Engine()
    cell = Cell(
        engine, Random(1), accounts=40, rooms=60, processes=4, database=POSTGRES, faults=faults
    )
    for time, room, member in arrivals(Random(2), 60, rate, 14 * 3600.0, seconds):
        engine.at(time, cell.arrive, room, member)
    engine.run()
    return cell


@pytest.mark.parametrize("faults", [None, ALL_FAULTS])
def test_no_message_is_lost_and_each_channel_is_in_order(faults: Faults | None) -> None:
    cell = cell_with(faults)

    assert cell.arrived > 1000
    assert cell.delivered == cell.arrived
    assert len(cell.latencies) == 2 * cell.arrived
    assert cell.out_of_order == 0


@pytest.mark.parametrize("faults", [None, ALL_FAULTS])
def test_the_messages_in_the_cell_are_their_rate_times_their_time(faults: Faults | None) -> None:
    """Little's law: the two sides are counted independently of each other."""
    cell = cell_with(faults)
    seconds = cell.engine.now

    mean_inside = cell.area / seconds
    rate, mean_time = cell.arrived / seconds, cell.time_inside / cell.arrived

    assert mean_inside == pytest.approx(rate * mean_time, rel=1e-9)


def test_a_processor_waits_as_the_theory_of_queues_says() -> None:
    """M/D/1 at half of its capacity: the mean wait is half of one service."""
    engine, random = Engine(), Random(3)
    processor = Processor(engine)
    waits: list[float] = []

    def come(left: int) -> None:
        arrived = engine.now
        processor.do(1.0, lambda: waits.append(engine.now - arrived - 1.0))
        if left:
            engine.at(engine.now + random.expovariate(0.5), come, left - 1)

    come(60_000)
    engine.run()

    assert sum(waits) / len(waits) == pytest.approx(0.5, rel=0.05)


def test_limits_allow_a_burst_and_then_their_rate() -> None:
    buckets, now = Buckets((Limit(5, 2, "O"), Limit(20, 60, "S"))), 0.0
    times: list[float] = []
    for _ in range(60):
        now += buckets.wait(now)
        buckets.take(now)
        times.append(now)

    assert times[4] == 0.0
    assert times[5] == pytest.approx(0.4)
    assert times[-1] - times[-21] == pytest.approx(60.0)


def test_the_daily_curve_has_its_mean_and_its_peak() -> None:
    rates = [curve(second) for second in range(0, int(DAY), 60)]

    assert sum(rates) / len(rates) == pytest.approx(1.0, abs=1e-3)
    assert max(rates) == pytest.approx(PEAK)
    assert min(rates) == 0.0


def test_the_load_has_its_rate_and_is_in_order() -> None:
    times = [time for time, _, _ in arrivals(Random(4), 50, 30.0, 14 * 3600.0 - 150, 300.0)]

    assert times == sorted(times)
    assert len(times) / 300 == pytest.approx(30 * PEAK, rel=0.05)


def test_the_same_seed_gives_the_same_run() -> None:
    run = Run(3e6, SMALL, 8)

    assert simulate(run, 7) == simulate(run, 7)
    assert simulate(run, 7) != simulate(run, 8)


def test_what_is_too_small_breaks_first() -> None:
    calm = simulate(Run(1e6, SMALL, 8))
    cpu = simulate(Run(2e7, Deployment("one", 1, 1, SQLITE), 8))
    slow = replace(POSTGRES, transactions=300.0)
    database = simulate(Run(1e7, Deployment("slow", 1, 8, slow), 8))

    assert max(calm.uses().values()) < 0.2
    assert cpu.first().startswith("CPU")
    assert database.first().startswith("database")
    assert min(cpu.cpu, database.database) > 1
    assert cpu.backlog > cpu.messages / 3


def test_a_refusal_delays_its_own_platform_alone() -> None:
    slowest: dict[str, float] = {}
    cell = cell_with(Faults(refusal=("discord", 5.0, 30.0)), rate=4.0)
    for latency, target in zip(cell.latencies, cell.targets, strict=True):
        name = target.account.platform.name
        slowest[name] = max(slowest.get(name, 0.0), latency)

    assert slowest["discord"] > 20
    assert slowest["teams"] < 5


def test_needs_grow_with_the_messages() -> None:
    small, large = needs(1e8, 10_000), needs(1e9, 100_000)

    assert (small.cells, large.cells) == (2, 20)
    assert large.cpu_hours == pytest.approx(10 * small.cpu_hours)
    assert large.cpu_hours == pytest.approx(1e9 * Costs().message / 3600)
    assert large.database == pytest.approx(small.database)
