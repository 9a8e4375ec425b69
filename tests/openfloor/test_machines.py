"""The tables of the state machines: each is whole, and drawn in the documentation as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from bridge.openfloor import machines
from bridge.openfloor.machines import (
    DEMANDING,
    FIND,
    FLOOR,
    MACHINES,
    MANIFEST,
    SERVING,
    DemandingHappening,
    FloorState,
    Machine,
)

DOCS = Path(__file__).parents[2] / "docs" / "openfloor.md"
NAMES = (
    (SERVING, "Serving"), (DEMANDING, "Demanding"), (MANIFEST, "Manifest"), (FIND, "Find"),
    (FLOOR, "Floor"),
)  # fmt: skip


def types_of(machine: Machine[Any, Any]) -> tuple[set[str], set[str]]:
    name = next(name for each, name in NAMES if each is machine)
    states: Any = getattr(machines, f"{name}State")
    happenings: Any = getattr(machines, f"{name}Happening")
    return set(get_args(states)), set(get_args(happenings))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_state_is_reached_and_every_happening_moves_something(machine: Any) -> None:
    states, happenings = types_of(machine)
    reached, before = {machine.first}, set[str]()
    while reached != before:
        before = set(reached)
        reached |= {to for (state, _), to in machine.table.items() if state in reached}

    assert reached == states
    assert {happening for _, happening in machine.table} == happenings


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_what_the_table_does_not_name_changes_nothing(machine: Any) -> None:
    states, happenings = types_of(machine)
    unnamed = [
        (state, happening)
        for state in states for happening in happenings
        if (state, happening) not in machine.table
    ]  # fmt: skip

    assert [machine.after(*pair) for pair in unnamed] == [state for state, _ in unnamed]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_documentation_draws_the_table(machine: Machine[Any, Any]) -> None:
    drawn = DOCS.read_text().partition(f"<!-- machine {machine.name} -->\n```mermaid\n")[2]

    assert drawn.partition("\n```")[0] == machine.diagram()


def test_a_good_bye_ends_an_invitation_whatever_was_said_before_it() -> None:
    state = DEMANDING.first
    happenings: tuple[DemandingHappening, ...] = (
        "invite", "accept", "consumed", "utterance", "response", "bye",
    )  # fmt: skip
    for happening in happenings:
        state = DEMANDING.after(state, happening)

    assert state == "idle"


def test_who_gives_the_floor_back_has_it_again_when_it_is_granted() -> None:
    after: list[FloorState] = [FLOOR.after("granted", "yield")]
    after.append(FLOOR.after(after[-1], "grant"))
    after.append(FLOOR.after(after[-1], "uninvite"))
    after.append(FLOOR.after(after[-1], "grant"))
    after.append(FLOOR.after(after[-1], "invite"))

    assert after == ["silent", "granted", "absent", "absent", "granted"]
