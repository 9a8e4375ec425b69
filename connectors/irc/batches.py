"""Lines that belong together: BATCH with all that is in it, nested ones included. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from connectors.irc.wire import Line

_MAX_OPEN = 64
_MAX_LINES = 20_000  # in all open batches together; a server that sends more is broken
CONCAT = "draft/multiline-concat"


@dataclass
class Batch:
    """One batch; `items` are its lines and the batches within it, in order."""

    kind: str
    params: tuple[str, ...]
    start: Line
    items: list[Line | Batch] = field(default_factory=list["Line | Batch"])

    def lines(self) -> Iterator[Line]:
        """All lines in order; multiline messages as one line each."""
        for item in self.items:
            if isinstance(item, Line):
                yield item
            elif item.kind == "draft/multiline":
                merged = item.merged()
                yield from (merged,) if merged else ()
            else:
                yield from item.lines()

    def merged(self) -> Line | None:
        """The message that a multiline batch is; tags and source are those of its start."""
        lines = [item for item in self.items if isinstance(item, Line) and len(item.params) > 1]
        if not lines:
            return None
        text = lines[0].last
        for line in lines[1:]:
            text += line.last if CONCAT in line.tags else f"\n{line.last}"
        source = self.start.source or lines[0].source
        tags = {**lines[0].tags, **self.start.tags}
        tags.pop("batch", None)
        target = self.params[0] if self.params else lines[0].param(0)
        return Line(lines[0].command, (target, text), source, tags)


class Batches:
    """Collects the batches of one connection."""

    def __init__(self) -> None:
        self._open: dict[str, Batch] = {}
        self._inner: dict[str, str] = {}  # reference of a nested batch -> that of the outer one
        self._count = 0

    def feed(self, line: Line) -> Line | Batch | None:
        """Return a line that is in no batch, or an outermost batch when it is complete."""
        if line.command == "BATCH" and line.params:
            return self._batch(line)
        reference = line.tags.get("batch", "")
        batch = self._open.get(reference)
        if batch is None:
            return line
        self._count += 1
        if self._count <= _MAX_LINES:
            batch.items.append(line)
        return None

    def _batch(self, line: Line) -> Batch | None:
        sign, reference = line.params[0][:1], line.params[0][1:]
        if sign == "+":
            if len(self._open) < _MAX_OPEN:
                self._open[reference] = Batch(line.param(1).lower(), line.params[2:], line)
                self._inner[reference] = line.tags.get("batch", "")
            return None
        batch = self._open.pop(reference, None)
        outer = self._open.get(self._inner.pop(reference, ""))
        if batch is not None and outer is not None:
            outer.items.append(batch)
            return None
        if not self._open:
            self._count = 0
        return batch
