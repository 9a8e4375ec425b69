"""Who takes what: each assignment has one owner, and the work is shared out evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bridge.app.cluster.plan import plan
from bridge.model.assignments import Assigned, Assignment, ClusterState, Process, ProcessId

A, B, C = (ProcessId(name) for name in "abc")
_LONG_AGO, _NOW = 0.0, 1000.0


def processes(*names: ProcessId, stopping: tuple[ProcessId, ...] = ()) -> list[Process]:
    return [Process(name, name, "1", 0.0, name in stopping) for name in names]


def state(
    held: Mapping[str, ProcessId | None],
    *names: ProcessId,
    stopping: tuple[ProcessId, ...] = (),
    loads: Mapping[str, float] | None = None,
    since: float = _LONG_AGO,
) -> ClusterState:
    assigned = {
        Assignment(name): Assigned(process, 1, since, (loads or {}).get(name, 0.0))
        for name, process in held.items()
    }
    return ClusterState(processes(*names, stopping=stopping), assigned, now=_NOW)


def of(*names: str) -> set[Assignment]:
    return {Assignment(name) for name in names}


def settled(begin: ClusterState, wanted: set[Assignment], rounds: int = 50) -> ClusterState:
    """The state after each process acted in turn on what it planned."""
    now = begin
    for _ in range(rounds):
        before = now
        for process in begin.processes:
            planned = plan(process.id, now, wanted)
            assigned = dict(now.assigned)
            for name in planned.give_up:
                assert assigned[name].process == process.id
                assigned[name] = replace(assigned[name], process=None, since=_NOW)
            for name in planned.take:
                former = assigned.get(name)
                if former is None or former.process is None:
                    load = 0.0 if former is None else former.load
                    assigned[name] = Assigned(process.id, 1, _LONG_AGO, load)
            now = replace(now, assigned=assigned)
        if now == before:
            return now
    raise AssertionError("the processes pass work to and fro")


def test_a_process_alone_takes_everything() -> None:
    assert set(plan(A, state({}, A), of("x", "y")).take) == of("x", "y")


def test_two_processes_take_half_each_when_they_start_together() -> None:
    wanted = of("1", "2", "3", "4")
    first, second = (set(plan(own, state({}, A, B), wanted).take) for own in (A, B))

    assert len(first) == len(second) == 2
    assert first | second == wanted


def test_what_a_dead_process_had_goes_to_the_others() -> None:
    held = {"1": None, "2": None, "3": A, "4": B}
    end = settled(state(held, A, B, since=_NOW), of(*held))

    assert Counter(at.process for at in end.assigned.values()) == {A: 2, B: 2}


def test_a_process_that_joins_is_given_its_share() -> None:
    held = dict.fromkeys("123456", A)
    end = settled(state(held, A, B, C), of(*held))

    assert Counter(at.process for at in end.assigned.values()) == {A: 2, B: 2, C: 2}


def test_what_came_a_moment_ago_stays_where_it_is() -> None:
    held = dict.fromkeys("1234", A)

    assert plan(A, state(held, A, B, since=_NOW - 1), of(*held)).give_up == []


def test_a_busy_account_weighs_more_than_idle_ones() -> None:
    held: dict[str, ProcessId | None] = dict.fromkeys(("busy", *"123"), A)
    end = settled(state(held, A, B, loads={"busy": 50.0}), of(*held))

    owners = {name: at.process for name, at in end.assigned.items()}
    assert {owners[Assignment(name)] for name in "123"} != {owners[Assignment("busy")]}
    assert list(owners.values()).count(owners[Assignment("busy")]) == 1


def test_a_process_that_stops_takes_nothing_and_gives_everything_up() -> None:
    held: dict[str, ProcessId | None] = {"1": A, "2": B, "3": None}
    planned = plan(A, state(held, A, B, stopping=(A,)), of(*held))

    assert set(planned.give_up) == of("1")
    assert planned.take == ()


def test_what_is_free_does_not_wait_for_a_process_that_starts() -> None:
    held: dict[str, ProcessId | None] = {"1": A, "2": A, "3": None}
    both = state(held, A, B, since=_NOW)
    starts = replace(both, processes=[both.processes[0], replace(both.processes[1], starting=True)])

    assert not plan(A, both, of(*held)).take
    assert set(plan(A, starts, of(*held)).take) == of("3")
    assert not plan(B, starts, of(*held)).take
    assert not plan(A, starts, of("1", "2", "4")).take  # nobody has worked for it yet


def test_what_is_not_in_the_configuration_any_more_is_given_up() -> None:
    planned = plan(A, state({"gone": A, "1": A}, A), of("1"))

    assert set(planned.give_up) == of("gone")


def test_what_nobody_takes_is_taken_by_anybody() -> None:
    free = state({"1": None, "2": A}, A, B, since=_NOW - 5)

    assert set(plan(A, free, of("1", "2")).take) == of("1")  # B, which has less to do, does not
    assert set(plan(B, free, of("1", "2")).take) == of("1")


@given(
    st.dictionaries(
        st.text("xyz123", min_size=1, max_size=3),
        st.tuples(st.sampled_from([None, A, B, C]), st.floats(0, 100)),
        max_size=12,
    ),
    st.sets(st.sampled_from([A, B, C]), min_size=1),
)
def test_whatever_the_loads_the_work_settles_and_all_of_it_is_owned(
    held: dict[str, tuple[ProcessId | None, float]], live: set[ProcessId]
) -> None:
    owners = {name: owner if owner in live else None for name, (owner, _) in held.items()}
    loads = {name: load for name, (_, load) in held.items()}
    begin = state(owners, *sorted(live), loads=loads)
    end = settled(begin, of(*held))

    assert all(at.process in live for at in end.assigned.values())
