"""The log calls of the code, read once from its sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
ERRORS = {"error", "exception", "critical"}
_METHODS = {"debug", "info", "warning", *ERRORS}


@dataclass(frozen=True)
class LogCall:
    """A call of `log.METHOD(event, key=...)`; `place` is its file and line."""

    place: str
    event: str
    method: str
    keys: set[str]


@cache
def log_calls() -> Sequence[LogCall]:
    """All log calls of `bridge` and `connectors`."""
    paths = sorted([*ROOT.glob("bridge/**/*.py"), *ROOT.glob("connectors/**/*.py")])
    return [call for path in paths for call in _calls_in(path)]


def _calls_in(path: Path) -> Iterator[LogCall]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("log"), attr=method),
                args=[ast.Constant(str() as event), *_],
            ) if method in _METHODS:
                keys = {keyword.arg for keyword in node.keywords if keyword.arg}
                keys |= {"exc_info"} if method == "exception" else set()
                yield LogCall(f"{path.relative_to(ROOT)}:{node.lineno}", event, method, keys)
            case _:
                pass
