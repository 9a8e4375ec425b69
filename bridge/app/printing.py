"""Values -> texts for a terminal: aligned columns, times, durations, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import orjson

from bridge.model.times import datetime_of


def nothing(absent: str, todo: str) -> str:
    """The text of an empty list: `what` it has none of, and how to add one."""
    return f"No {absent}. {todo}"


def table(
    heads: Sequence[str], rows: Sequence[Sequence[object]], *, indent: str = "  ",
    empty: str = "none",
) -> str:  # fmt: skip
    """Rows below their heads in aligned columns; the text `empty` if there are no rows."""
    if not rows:
        return f"{indent}{empty}"
    cells = [list(heads), *([printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
    return "\n".join(
        [click.style(lines[0].rstrip(), dim=True), *(line.rstrip() for line in lines[1:])]
    )


def heading(text: str) -> str:
    return click.style(text, bold=True)


def when(seconds: float | None) -> str:
    """A time (seconds since 1970) as text, to the millisecond, in UTC."""
    if seconds is None:
        return "-"
    return datetime_of(seconds).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")


def age(seconds: float) -> str:
    """A duration in seconds as text in its two largest units: 3 d 4 h, 2 m 5 s, 4.5 s, 8 ms."""
    if seconds < 1:
        return f"{max(seconds, 0.0) * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    for unit, length, smaller, part in (
        ("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)
    ):  # fmt: skip
        if seconds >= length:
            return f"{int(seconds // length)} {unit} {int(seconds % length // part)} {smaller}"
    return f"{int(seconds)} s"


def many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def counted(counts: dict[str, int] | Any) -> str:
    """`{"waiting": 2, "done": 5}` -> `2 waiting, 5 done`."""
    return ", ".join(f"{count} {state}" for state, count in dict(counts).items() if count) or "none"


def printable(text: str) -> str:
    """The text with control characters made visible, so that it cannot control the terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def print_json(value: object) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode())


def bytes_text(size: float) -> str:
    """Return a number of bytes for people: "3.2 MB"."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
