"""Figures of the archive for the terminal and as one HTML page that loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import click

from bridge.app.printing import heading, printable
from bridge.model.statistics_records import Statistics
from bridge.model.times import datetime_of

_WIDTH = 40  # characters of the longest bar
_SPARKS = "▁▂▃▄▅▆▇█"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_STYLE = """
:root{color-scheme:light dark;--ground:#fbfbfc;--text:#1c1e24;--soft:#5d6270;--line:#dfe1e7;
--bar:#2257c9;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
@media(prefers-color-scheme:dark){:root{--ground:#17181c;--text:#e6e7ea;--soft:#a4a9b6;
--line:#34373f;--bar:#8db4ff}}
body{margin:0 auto;max-width:60rem;padding:1.5rem;background:var(--ground);color:var(--text)}
h1{font-size:1.5rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}
p{color:var(--soft);margin:.25rem 0}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:1rem;margin:1rem 0}
dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}
svg{width:100%;display:block}rect{fill:var(--bar)}
text{fill:var(--soft);font-size:11px}
table{border-collapse:collapse;width:100%}td,th{padding:.2rem .5rem .2rem 0;text-align:left;
border-bottom:1px solid var(--line);font-weight:400;overflow-wrap:anywhere}
td.n{text-align:right;font-variant-numeric:tabular-nums;width:6rem}td.b{width:45%}
progress{width:100%;height:.6rem;accent-color:var(--bar)}
"""


def stats_text(found: Statistics) -> str:
    """Return the figures for a terminal: totals, a line for the months, bars."""
    if not found.messages:
        return "The archive has no messages of this time"
    lines = [heading("Archive"), *(f"  {name:<22}{value}" for name, value in _totals(found))]
    months = [count for _, count in found.by_month]
    first, last = found.by_month[0][0], found.by_month[-1][0]
    lines += ["", heading("Messages by month"), f"  {first} {sparkline(months)} {last}"]
    lines += ["", heading("Hours of the day (UTC)"), f"  00 {sparkline(found.by_hour)} 23"]
    for title, rows in _lists(found):
        if rows:
            lines += ["", heading(title), *_bars(rows)]
    return "\n".join(lines)


def sparkline(counts: Sequence[int]) -> str:
    """Return one block for each number; the largest is full, zero is a space."""
    largest = max(counts, default=0)
    return "".join(
        _SPARKS[min(count * len(_SPARKS) // (largest + 1), len(_SPARKS) - 1)] if count else " "
        for count in counts
    )


def stats_html(found: Statistics) -> str:
    """Return the figures as an HTML page."""
    totals = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in _totals(found)
    )
    months = _columns("Messages by month", found.by_month)
    hours = _columns(
        "Hours of the day (UTC)", [(f"{n:02}", c) for n, c in enumerate(found.by_hour)]
    )
    days = _columns("Days of the week", list(zip(_DAYS, found.by_weekday, strict=True)))
    tables = "".join(_table(title, rows) for title, rows in _lists(found) if rows)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Archive statistics</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>Archive statistics</h1><p>{escape(_span(found))}</p><dl>{totals}</dl>"
        f"{months}{hours}{days}{tables}</main></body></html>\n"
    )


def _totals(found: Statistics) -> list[tuple[str, str]]:
    numbers = (
        ("messages", found.messages), ("people", found.people), ("in threads", found.in_threads),
        ("by bots and agents", found.by_agents), ("reactions", found.reactions),
        ("edited", found.edited), ("deleted", found.deleted), ("private", found.whispers),
    )  # fmt: skip
    return [(name, f"{number:,}") for name, number in numbers if number or name == "messages"]


def _lists(found: Statistics) -> list[tuple[str, list[tuple[str, int]]]]:
    bots = {True: " (bot)", False: ""}
    return [
        ("Platforms", [(name or "agents and programs", n) for name, n in found.by_platform]),
        ("Channels", list(found.by_channel)),
        ("People and agents", [(f"{s.name}{bots[s.bot]}", s.messages) for s in found.speakers]),
        ("What copies could not show", [
            (kind.replace("_", " "), n) for kind, n in (found.losses or {}).items()
        ]),
    ]  # fmt: skip


def _span(found: Statistics) -> str:
    if found.first is None or found.last is None:
        return "no messages"
    first, last = (datetime_of(time).strftime("%Y-%m-%d") for time in (found.first, found.last))
    return f"{first} to {last}"


def _bars(rows: Sequence[tuple[str, int]]) -> Iterable[str]:
    largest = max(count for _, count in rows)
    for name, count in rows:
        bar = "█" * max(round(count * _WIDTH / largest), 1)
        yield f"  {printable(name[:28]):<28} {click.style(bar, fg='blue')} {count:,}"


def _columns(title: str, rows: Sequence[tuple[str, int]]) -> str:
    """Columns as SVG, with their numbers as text for those who cannot see them."""
    largest = max((count for _, count in rows), default=0) or 1
    width = 1000 / max(len(rows), 1)
    every = max(1, len(rows) // 12)
    shapes = "".join(
        f'<rect x="{number * width:.1f}" y="{110 - 105 * count / largest:.1f}" '
        f'width="{max(width - 2, 1):.1f}" height="{105 * count / largest:.1f}">'
        f"<title>{escape(name)}: {count:,}</title></rect>"
        + (
            f'<text x="{number * width:.1f}" y="126">{escape(name)}</text>'
            if number % every == 0
            else ""
        )
        for number, (name, count) in enumerate(rows)
    )
    told = ", ".join(f"{name}: {count:,}" for name, count in rows)
    return (
        f'<h2>{escape(title)}</h2><svg viewBox="0 0 1000 130" role="img" '
        f'aria-label="{escape(told)}">{shapes}</svg>'
    )


def _table(title: str, rows: Sequence[tuple[str, int]]) -> str:
    largest = max(count for _, count in rows)
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class=b>'
        f'<progress aria-label="{escape(name)}" max="{largest}" value="{count}"></progress></td>'
        f"<td class=n>{count:,}</td></tr>"
        for name, count in rows
    )
    return f"<h2>{escape(title)}</h2><table>{lines}</table>"
