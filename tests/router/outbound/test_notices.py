"""What the bridge itself says is a message like all others: kept, shown once, changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from bridge.router.outbound.notices import notice_id
from tests.router.conftest import RouterRig
from tests.router.inbound.test_routing import texts_in

GAP = notice_id("gap", "sales", "1")


def texts(rig: RouterRig) -> list[list[str]]:
    names = {"sales": "s", "billing": "b", "web": "w"}
    return [one.texts(names[account]) for account, one in rig.connectors.items()]


async def test_a_notice_is_shown_in_the_channels_it_is_for_and_remembered(rig: RouterRig) -> None:
    room = rig.rooms[0]
    async with rig.run() as router:
        await router.parts.outbound.notices.post(
            GAP, "12 messages are missing", room.id, room.members[:2], timeline=room.timeline
        )
        await rig.clock.let_work()

    assert texts(rig) == [["12 messages are missing"], ["12 messages are missing"], []]
    assert await texts_in(rig.store, room.conversation) == ["12 messages are missing"]


async def test_a_repeated_notice_is_posted_once_also_after_a_restart(rig: RouterRig) -> None:
    room = rig.rooms[0]
    for _ in range(2):
        async with rig.run() as router:
            await router.parts.outbound.notices.post(GAP, "all is well", room.id, room.members)
            await rig.clock.let_work()

    assert texts(rig) == [["all is well"]] * 3


async def test_a_notice_with_a_new_text_is_edited_in_place(rig: RouterRig) -> None:
    room = rig.rooms[0]
    async with rig.run() as router:
        await router.parts.outbound.notices.post(GAP, "one is missing", room.id, room.members)
        await rig.clock.let_work()
        await router.parts.outbound.notices.post(GAP, "two are missing", room.id, room.members)
        await rig.clock.let_work()

    assert texts(rig) == [["two are missing"]] * 3


async def test_a_notice_is_taken_back_everywhere(rig: RouterRig) -> None:
    room = rig.rooms[0]
    async with rig.run() as router:
        await router.parts.outbound.notices.post(GAP, "one is missing", room.id, room.members)
        await rig.clock.let_work()
        await router.parts.outbound.notices.take_back(GAP)
        await router.parts.outbound.notices.take_back(notice_id("never", "said"))
        await rig.clock.let_work()

    assert texts(rig) == [[], [], []]


async def test_nobody_answers_a_notice(rig: RouterRig) -> None:
    room = rig.rooms[0]
    async with rig.run() as router:
        await router.parts.outbound.notices.post(GAP, "@echo listen", room.id, room.members)
        await rig.clock.let_work()

    assert await rig.store.open_turns() == []


ROUTER = Path(__file__).parents[3] / "bridge" / "router"
TOLD_TO_MODELS = {"handing_over.py"}  # descriptions of tools, which nobody is shown
CODE = re.compile(r"`[^`\s][^`]*`")


def shown_texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a module that people may read: no docstrings, no errors of programming."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Raise(exc=ast.Call(func=ast.Name(id="TypeError"))):
                continue
            case ast.JoinedStr():
                yield ast.unparse(node)
            case ast.Constant(value=str(text)):
                yield text
            case _:
                yield from shown_texts(node)


def test_the_bridges_own_words_have_no_backticks_for_plain_text_shows_them() -> None:
    found = [
        f"{path.name}: {text}"
        for path in sorted(ROUTER.glob("*.py"))
        if path.name not in TOLD_TO_MODELS
        for text in shown_texts(ast.parse(path.read_text("utf-8")))
        if CODE.search(text)
    ]

    assert found == []
