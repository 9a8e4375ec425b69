"""`uacs-bridge approvals`: tool calls that needed an approval, and the decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import nothing, print_json, printable, table, when

if TYPE_CHECKING:
    from bridge.model.turn_records import Approval


@click.command("approvals")
@click.option("--open", "open_only", is_flag=True, help="Only undecided ones.")
@click.option(
    "--limit",
    default=50,
    type=click.IntRange(1),
    show_default=True,
    help="The number of calls, the newest first.",
)
@config_option
@json_option
def command(open_only: bool, limit: int, config: Path, as_json: bool) -> None:
    """List the tool calls that needed an approval, and who decided.

    \b
    Examples:
      uacs-bridge approvals -c bridge.yaml
      uacs-bridge approvals --open --json
    """
    approvals = asyncio.run(_approvals(config, open_only, limit))
    if as_json:
        print_json([asdict(approval) for approval in approvals])
        return
    rows = [
        (approval.id[:12], approval.state, when(approval.created), approval.room, approval.agent,
         printable(approval.tool), approval.asker, _decided(approval))
        for approval in approvals
    ]  # fmt: skip
    heads = ("approval", "state", "asked", "room", "agent", "tool", "for", "decided")
    absent = "approvals are open" if open_only else "approvals yet"
    todo = "Calls of tools that somebody must allow (`tools.NAME.approve`) appear here."
    click.echo(table(heads, rows, indent="", empty=nothing(absent, todo)))


def _decided(approval: Approval) -> str:
    texts = [
        f"{'allowed' if by.allowed else 'refused'} by {by.actor} {when(by.at)}"
        for by in approval.decisions
    ]
    return ", ".join(texts) or "-"


async def _approvals(config: Path, open_only: bool, limit: int) -> Sequence[Approval]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        return await store.approvals(newest=limit, open_only=open_only)
