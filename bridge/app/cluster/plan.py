"""Decides which assignments a process takes and which it gives up. Pure: all processes plan alike
from what the store shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bridge.model.assignments import Assignment, ClusterState, ProcessId

_LEFT_ALONE = 1.5  # seconds after which anybody takes what is free
_STAYS = 10.0  # seconds that an assignment stays before it moves for balance
_IDLE = 1.0  # the weight of an assignment with nothing to do; a load of 1 a second weighs as much
_RELIEF, _SHARE = 0.5, 0.05  # by which a move must relieve a process: weight, and of the average


@dataclass(frozen=True)
class Plan:
    """What a process does now."""

    take: Collection[Assignment] = ()
    give_up: Collection[Assignment] = ()


def plan(own: ProcessId, state: ClusterState, wanted: Collection[Assignment]) -> Plan:
    """Return what this process takes of the `wanted` assignments that are free, and what it gives
    up: all when it stops, what is not wanted any more, and one at a time for balance."""
    live = {one.id for one in state.processes if not (one.stopping or one.starting)}
    held = {
        name: assigned.process
        for name, assigned in state.assigned.items()
        if assigned.process is not None
    }
    mine = {name for name, process in held.items() if process == own}
    if own not in live:
        return Plan(give_up=mine)
    weights = {
        name: _IDLE + (state.assigned[name].load if name in state.assigned else 0.0)
        for name in {*wanted, *held}
    }
    loads = dict.fromkeys(sorted(live), 0.0)
    for name, process in held.items():
        if process in loads:
            loads[process] += weights[name]
    starting = {one.id for one in state.processes if one.starting}
    take = _taken(own, state, sorted(set(wanted) - held.keys()), weights, loads, starting)
    give_up = mine - set(wanted)
    return Plan(take, give_up or ([] if take else _moved(own, state, mine, weights, loads)))


def _taken(
    own: ProcessId,
    state: ClusterState,
    free: Collection[Assignment],
    weights: Mapping[Assignment, float],
    loads: dict[ProcessId, float],
    starting: Collection[ProcessId],
) -> list[Assignment]:
    """Each free assignment is for the process with the least to do; the heaviest go first. Only
    what nobody has worked for yet waits for processes that start."""
    take: list[Assignment] = []
    new = dict.fromkeys(sorted(starting), 0.0)
    for name in sorted(free, key=lambda name: (-weights[name], name)):
        former = state.assigned.get(name)
        lightest = _lightest(loads if former is not None else loads | new)
        (loads if lightest in loads else new)[lightest] += weights[name]
        left_alone = former is not None and state.now - former.since > _LEFT_ALONE
        if lightest == own or left_alone:
            take.append(name)
    return take


def _moved(
    own: ProcessId,
    state: ClusterState,
    mine: Collection[Assignment],
    weights: Mapping[Assignment, float],
    loads: Mapping[ProcessId, float],
) -> list[Assignment]:
    """The assignment whose move to the process with the least to do relieves this one most."""
    gap = loads[own] - loads[_lightest(loads)]
    average = sum(loads.values()) / len(loads)
    settled = [name for name in mine if state.now - state.assigned[name].since > _STAYS]
    gains = {name: min(weights[name], gap - weights[name]) for name in settled}
    least = max(_RELIEF, _SHARE * average)
    fitting = [name for name, gain in gains.items() if gain >= least]
    return [max(fitting, key=lambda name: (gains[name], name))] if fitting else []


def _lightest(loads: Mapping[ProcessId, float]) -> ProcessId:
    """The process with the least to do; all processes name the same one."""
    return min(loads, key=lambda process: (loads[process], process))
