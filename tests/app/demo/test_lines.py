"""The lines of a scene are those of all its platforms, in one order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from bridge.app.demo.lines import Line, lines_of
from bridge.app.demo.world import demo_types
from bridge.sandbox.demo_side import DemoLine, DemoSide
from bridge.sandbox.platform import LocalPlatform, LocalPlatformType


def local(*lines: DemoLine) -> LocalPlatformType:
    side = DemoSide(
        Path(), "Ann", lambda message: (message.author, message.text), scenes={"scene": lines}
    )
    return LocalPlatformType("Somewhere", lambda _: cast("LocalPlatform", None), demo=side)


HERE = local(DemoLine(0, "Ann", "first"), DemoLine(20, "Ann", "third", thread=10))
THERE = local(DemoLine(10, "Bob", "second", thread=0))


def test_lines_are_merged_by_their_places_and_threads_are_numbers_of_lines() -> None:
    assert lines_of("scene", {"here": HERE, "there": THERE}) == (
        Line("here", "Ann", "first"),
        Line("there", "Bob", "second", thread=0),
        Line("here", "Ann", "third", thread=1),
    )


def test_a_line_in_a_thread_of_a_missing_platform_is_outside_of_threads() -> None:
    assert lines_of("scene", {"here": HERE, "there": replace(THERE, demo=None)}) == (
        Line("here", "Ann", "first"),
        Line("here", "Ann", "third"),
    )


def test_every_scene_has_lines_and_every_platform_speaks_in_the_script() -> None:
    types = demo_types()

    assert all(lines_of(scene, types) for scene in ("script", "opening", "card", "scene"))
    assert {line.platform for line in lines_of("script", types)} == set(types)
