"""The lines of the demo's scenes, collected from the local platforms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bridge.sandbox.platform import LocalPlatformType

SceneName = Literal["script", "opening", "card", "scene"]


@dataclass(frozen=True)
class Line:
    """A message that a person posts. `text` is typed; `reads` is the text that everybody then sees
    (None: the same without markup); `thread` is the number of the line whose thread it is in."""

    platform: str
    person: str
    text: str
    reads: str | None = None
    thread: int | None = None
    answered: bool = False  # an agent is mentioned and will answer


def lines_of(scene: SceneName, types: Mapping[str, LocalPlatformType]) -> tuple[Line, ...]:
    """The lines of a scene in their order. A line in the thread of a missing platform's line is
    outside of threads. Pure."""
    placed_lines = sorted(
        (
            (line.at, name, line)
            for name, local in types.items()
            if local.demo
            for line in local.demo.scenes.get(scene, ())
        ),
        key=lambda placed: placed[:2],
    )
    numbers = {at: number for number, (at, _, _) in reversed(list(enumerate(placed_lines)))}
    return tuple(
        Line(
            name,
            line.person,
            line.text,
            line.reads,
            None if line.thread is None else numbers.get(line.thread),
            line.answered,
        )
        for _, name, line in placed_lines
    )
