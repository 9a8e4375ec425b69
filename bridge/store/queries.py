"""Named SQL: reads the statements of a file in `sql/` by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def read_queries(file: str, folder: str = "") -> Mapping[str, str]:
    """Return statements by name; `-- name: x` lines separate them. `folder`: that of an engine with
    statements of its own."""
    path = files("bridge.store").joinpath(folder, "sql", f"{file}.sql")
    _, *pieces = _NAME.split(path.read_text("utf-8"))
    return {
        name: sql.strip().rstrip(";") for name, sql in zip(pieces[::2], pieces[1::2], strict=True)
    }
