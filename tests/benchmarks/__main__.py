"""All benchmarks: `python -m tests.benchmarks [--json FILE] [--quick] [--only PART ...]`."""

from __future__ import annotations

import argparse
import asyncio
import platform
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks import (
    cards,
    deltas,
    dialects,
    files,
    links,
    many_rooms,
    relay,
    streams,
    uacs_codec,
)

PARTS = (
    "codec", "cards", "dialects", "links", "links_postgresql", "starts", "files", "cpu", "pace",
    "limits", "streams", "deltas", "rooms",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--quick", action="store_true", help="fewer runs: about a minute")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    size = relay.QUICK if options.quick else relay.FULL
    results: dict[str, Any] = {"python": platform.python_version(), "machine": platform.platform()}
    for part in options.only:
        results[part] = _measure(part, size, quick=options.quick)
        print(_table(part, results[part]), flush=True)
    if options.json:
        options.json.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2))


def _measure(part: str, size: relay.Size, *, quick: bool) -> Any:
    match part:
        case "codec":
            return uacs_codec.measure(3 if quick else uacs_codec.RUNS)
        case "cards":
            return cards.measure(3 if quick else cards.PAIRS)
        case "dialects":
            return dialects.measure(3 if quick else dialects.PAIRS)
        case "links" | "links_postgresql":
            engine = "sqlite" if part == "links" else "postgresql"
            return asyncio.run(links.measure(links.QUICK_SIZES if quick else links.SIZES, engine))
        case "starts":
            return asyncio.run(
                links.starts(links.QUICK_STARTS if quick else links.STARTS, 1 if quick else 5)
            )
        case "files":
            return asyncio.run(files.measure(runs=1 if quick else 3))
        case "cpu":
            return asyncio.run(relay.cpu_ratios(size))
        case "pace":
            return asyncio.run(relay.pace(size))
        case "deltas":
            return asyncio.run(deltas.measure(1 if quick else 5))
        case "rooms":
            many = many_rooms.Size(200, 20) if quick else many_rooms.Size()
            return asyncio.run(many_rooms.measure(many))
        case "streams":
            sizes = [streams.QUICK] if quick else [streams.FULL, streams.ONE_WORKSPACE]
            return [asyncio.run(streams.measure(size)) for size in sizes]
        case _:
            return asyncio.run(relay.within_limits(size))


def _table(part: str, results: Any) -> str:
    match part:
        case "codec":
            return "\nUACS round trip\n" + uacs_codec.table(results)
        case "cards":
            return "\nCards\n" + cards.table(results)
        case "dialects":
            return "\nDialects\n" + dialects.table(results)
        case "links" | "links_postgresql":
            return f"\n{part.capitalize()}\n" + links.table(results)
        case "starts":
            return "\nThe bridge's start\n" + links.starts_table(results)
        case "files":
            return "\nA large file\n" + files.table(results)
        case "cpu":
            return _cpu_table(results)
        case "rooms":
            return "\nMany rooms\n" + many_rooms.table(results)
        case "streams":
            return "\nAnswers that grow\n" + "\n".join(map(str, results))
        case "deltas":
            return f"\nCPU of the bridge alone, a delta shown on three platforms\n{results}"
        case "pace":
            return _pace_table(results)
        case _:
            refused = results["refused"] or 0
            return f"\nWith limits on, {results['posts']} posts: {refused} refused with 429"


def _cpu_table(results: dict[str, Any]) -> str:
    lines = [
        f"{row['from']:<8} {row['baseline_us']:>11} {row['bridge_us']:>9} {row['ratio']:>6} "
        f"({row['ratio_min']}-{row['ratio_max']})  <= {results['bar']}"
        for row in results["directions"]
    ]
    head = (
        f"\nCPU per message, one in and two out, {results['pairs']} pairs of {results['messages']} "
        f"messages at {results['rate']:g}/s\nfrom     baseline us bridge us  ratio (min-max)    bar"
    )
    return "\n".join([head, *lines])


def _pace_table(results: dict[str, Any]) -> str:
    lines = [
        f"{row['rate']:>6} {row['posts']:>6} {row['p50_ms']:>7} {row['p95_ms']:>7} "
        f"{row['p99_ms']:>7} {row['max_ms']:>7}"
        for row in results["latency"]
    ]
    sustained = ", ".join(f"{name} {rate}" for name, rate in results["sustained_per_s"].items())
    return "\n".join(
        [
            "\nFrom a person's post to our request at the platform, in ms",
            " msg/s  posts     p50     p95     p99     max",
            *lines,
            f"sustained posts/s (two copies each): from {sustained}",
            f"RSS: {results['rss_start_mb']} MB at the start, "
            f"{results['rss_end_mb']} MB at the end",
        ]
    )


if __name__ == "__main__":
    main()
