"""Agents are found by the words of a task."""

from __future__ import annotations

import pytest

from bridge.openfloor.envelope import Capability, Identification, Manifest
from bridge.openfloor.ranking import ranked


def manifest(name: str, synopsis: str = "", *keyphrases: str) -> Manifest:
    return Manifest(
        Identification(f"tag:{name}", "", "", name, synopsis), (Capability(keyphrases),)
    )


TOWN = [
    manifest("pat", "Sells flowers, and sends them home", "flowers", "bouquet"),
    manifest("charles", "The hardware store: tools and repairs", "chainsaw", "repair"),
    manifest("sukanya", "A Thai restaurant", "carry-out", "lunch"),
    manifest("kaja", "Estonian books and authors", "books", "ISBN"),
    manifest("hanako", "花屋", "花束", "誕生日"),
]


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("I need some flowers for a birthday", "pat"),
        ("Is my chainsaw repaired? I want the repair.", "charles"),
        ("order LUNCH from a thai place", "sukanya"),
        ("Do you know any book by Lydia Koidula?", "kaja"),
        ("誕生日の花束をお願いします", "hanako"),
    ],
)
def test_the_agent_that_fits_best_comes_first(task: str, name: str) -> None:
    best, *_ = ranked(TOWN, task, 5)

    assert best.identification.conversational_name == name
    assert best.score
    assert 0 < best.score < 1


def test_agents_that_share_no_word_with_the_task_are_left_out() -> None:
    assert ranked(TOWN, "a rocket to the moon", 5) == []
    assert ranked(TOWN, "", 5) == []
    assert ranked([], "flowers", 5) == []


def test_at_most_so_many_are_named_and_a_keyphrase_counts_more_than_a_sentence() -> None:
    many = [*[manifest(f"m{n}", "talks about flowers at length") for n in range(5)], TOWN[0]]

    found = ranked(many, "flowers", 3)

    assert len(found) == 3
    assert found[0].identification.conversational_name == "pat"
