"""Counting from what stands on the local platforms alone: lost, doubled, out of order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bridge.sandbox.feed import Shown
from tests.e2e.town import Spot, Town

_TAG = re.compile(r"#(\d{5})\b")


@dataclass(frozen=True)
class Said:
    """A person's post: its number, where it was said and its native id."""

    number: int
    spot: Spot
    native_id: str

    @staticmethod
    def text(number: int) -> str:
        return f"#{number:05d} said here"


@dataclass
class Tally:
    """Each entry is (post, channel where it should be seen)."""

    lost: list[tuple[int, Spot]] = field(default_factory=list[tuple[int, Spot]])
    doubled: list[tuple[int, Spot]] = field(default_factory=list[tuple[int, Spot]])
    disordered: list[tuple[int, Spot]] = field(default_factory=list[tuple[int, Spot]])
    not_told: int = 0
    seen: int = 0

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.disordered)


def numbers(shown: Iterable[Shown]) -> list[int]:
    """The numbers of posts in the order in which they stand."""
    return [int(found[1]) for each in shown if (found := _TAG.search(each.text))]


async def tally(town: Town, said: Sequence[Said], rooms: Sequence[Sequence[Spot]]) -> Tally:
    """What became of each post in the other channels of its room."""
    told = set(await town.handed_over())
    result = Tally()
    by_spot: dict[Spot, list[Said]] = defaultdict(list)
    for post in said:
        by_spot[post.spot].append(post)
    result.not_told = sum(
        post.spot.platform == "teams" and post.native_id not in told for post in said
    )
    for room in rooms:
        standing = {spot: numbers(await town.standing(spot)) for spot in room}
        for source in room:
            for target in room:
                if target is not source:
                    _compare(by_spot[source], target, standing[target], told, result)
    return result


def _compare(
    said: Sequence[Said], target: Spot, standing: Sequence[int], told: set[str], result: Tally
) -> None:
    order: Mapping[int, int] = {post.number: index for index, post in enumerate(said)}
    here = [number for number in standing if number in order]
    result.seen += len(here)
    result.doubled += [(n, target) for n in sorted(set(here)) if here.count(n) > 1]
    result.disordered += [
        (later, target) for earlier, later in pairwise(here) if order[later] < order[earlier]
    ]
    result.lost += [
        (post.number, target)
        for post in said
        if post.number not in here and (post.spot.platform != "teams" or post.native_id in told)
    ]
