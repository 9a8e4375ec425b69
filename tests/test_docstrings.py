"""Public functions say in their docstrings what they do and what they raise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTED = ("uacs", "model", "content", "policies", "ports", "testing")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """A public function or class, and where it is."""

    place: str
    node: Function | ast.ClassDef

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.node) or ""


def definitions() -> Iterator[Definition]:
    for package in DOCUMENTED:
        for path in sorted((ROOT / "bridge" / package).rglob("*.py")):
            module = ast.parse(path.read_text("utf-8"))
            yield from _public(module, str(path.relative_to(ROOT)))


def _public(parent: ast.Module | ast.ClassDef, place: str) -> Iterator[Definition]:
    for node in parent.body:
        if not isinstance(node, Function | ast.ClassDef) or node.name.startswith(("_", "test_")):
            continue
        yield Definition(f"{place}: {node.name}", node)
        if isinstance(node, ast.ClassDef):
            yield from _public(node, f"{place}: {node.name}")


def _raises(function: Function) -> bool:
    """Whether the function itself raises, apart from functions that it defines or calls."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def test_every_public_function_and_class_has_a_docstring() -> None:
    missing = [definition.place for definition in definitions() if not definition.docstring]

    assert missing == []


def test_every_public_function_that_raises_documents_its_errors() -> None:
    undocumented = [
        definition.place
        for definition in definitions()
        if isinstance(definition.node, Function)
        and _raises(definition.node)
        and "Raises:\n" not in f"{definition.docstring}\n"
    ]

    assert undocumented == []
