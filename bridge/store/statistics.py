"""Counts messages, authors, reactions and losses for `archive stats`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from bridge.model.statistics_records import RefusedEvent, Speaker, Statistics
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("statistics")
_FIRST, _END = -1e15, 1e15
_MOST_MONTHS = 1200  # shown without gaps; one message with an absurd time must not make millions


def statistics(db: Connection, since: float | None, until: float | None, most: int) -> Statistics:
    span = (_FIRST if since is None else since, _END if until is None else until)
    totals = db.execute(SQL["totals"], span).fetchone()
    messages, people, edited, deleted, whispers, in_threads, by_agents, first, last = totals
    (reactions,) = db.execute(SQL["reactions"], span).fetchone()
    return Statistics(
        messages, people, edited, deleted, whispers, in_threads, by_agents, reactions, first, last,
        by_month=tuple(_without_gaps(db.execute(SQL["by_month"], span).fetchall())),
        by_hour=_dense(db.execute(SQL["by_hour"], span), 24),
        by_weekday=_dense(db.execute(SQL["by_weekday"], span), 7),
        by_platform=tuple(db.execute(SQL["by_platform"], span).fetchall()),
        by_channel=tuple(db.execute(SQL["by_channel"], (*span, most)).fetchall()),
        speakers=tuple(
            Speaker(own_id, name, bool(bot), count)
            for own_id, name, bot, count in db.execute(SQL["speakers"], (*span, most))
        ),
        losses=dict(db.execute(SQL["losses"], span).fetchall()),
    )  # fmt: skip


def refused(
    db: Connection, channels: Sequence[str], since: float, limit: int
) -> Sequence[RefusedEvent]:
    rows = db.execute(SQL["refused"], (since, json.dumps(channels), limit)).fetchall()
    return [RefusedEvent(*columns) for columns in reversed(rows)]


def _dense(rows: Iterable[tuple[int | None, int]], size: int) -> tuple[int, ...]:
    counts = dict(rows)
    return tuple(counts.get(number, 0) for number in range(size))


def _without_gaps(rows: Sequence[tuple[str | None, int]]) -> list[tuple[str, int]]:
    """Months in which nobody wrote are shown, too."""
    counts = {month: count for month, count in rows if month is not None}
    if not counts:
        return []
    (year, month), last = map(int, min(counts).split("-")), max(counts)
    found: list[tuple[str, int]] = []
    while len(found) < _MOST_MONTHS:
        name = f"{year:04}-{month:02}"
        found.append((name, counts.get(name, 0)))
        if name >= last:
            return found
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return sorted(counts.items())
