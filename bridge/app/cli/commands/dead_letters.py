"""`uacs-bridge dead-letters`: operations that were given up or are held up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import many, nothing, print_json, printable, table, when
from bridge.errors import StoreError

if TYPE_CHECKING:
    from bridge.model import OperationId
    from bridge.model.outbox_records import DeadLetter
    from bridge.ports.store.whole import Store

HELD_UP = ("waiting", "sending")


@click.group("dead-letters")
def command() -> None:
    """List, replay and skip operations that could not be delivered.

    The platform refused a `dead` operation, or the bridge gave it up or skipped it. An `unproved`
    operation may have arrived: look in its channel before you replay it. The list marks messages
    that were edited or deleted since; their copies, if they exist, are not updated. A deleted
    message is not posted any more. A `waiting` operation failed and is retried; the outcome of a
    `sending` one is not known yet.
    """


@command.command("list")
@config_option
@json_option
def list_(config: Path, as_json: bool) -> None:
    """List operations that were given up, are unproved or are held up.

    \b
    Examples:
      uacs-bridge dead-letters list -c bridge.yaml
    """
    letters = asyncio.run(_letters(config))
    if as_json:
        print_json([_facts(letter) for letter in letters])
        return
    rows = [
        (o.id, letter.state, when(letter.time), o.channel.key, letter.error, _message_in(letter))
        for letter in letters
        for o in [letter.operation]
    ]
    heads = ("operation", "state", "when", "channel", "error", "message")
    empty = nothing("dead letters", "What cannot be delivered appears here.")
    click.echo(table(heads, rows, indent="", empty=empty))


@command.command("show")
@click.argument("operation")
@config_option
@json_option
def show(operation: str, config: Path, as_json: bool) -> None:
    """Show all details of an operation.

    OPERATION is its id, or the beginning of it if no other id begins so.

    \b
    Examples:
      uacs-bridge dead-letters show 3f2a
    """
    letter = _dead_letter(asyncio.run(_letters(config)), operation)
    if as_json:
        print_json(_facts(letter))
        return
    for key, value in _facts(letter).items():
        click.echo(f"{key:10} {printable(str(value))}")
    click.echo(f"\nEvery step of its message: uacs-bridge explain {letter.operation.message}")


@command.command("replay")
@click.argument("operations", metavar="[OPERATION]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All dead ones; name unproved ones.")
@config_option
def replay(operations: tuple[str, ...], everything: bool, config: Path) -> None:
    """Queue dead letters again, at the end of their lanes.

    Works while the bridge runs, which then sends them at once; otherwise they are sent at its next
    start. `--all` omits unproved ones: they may have arrived, and would appear twice.

    \b
    Examples:
      uacs-bridge dead-letters replay 3f2a
      uacs-bridge dead-letters replay --all
    """
    if bool(operations) == everything:
        raise click.UsageError("name operations, or use --all")
    letters = asyncio.run(_letters(config))
    chosen = [_dead_letter(letters, operation) for operation in operations]
    if everything:
        chosen = [letter for letter in letters if letter.state == "dead"]
    ids = list(dict.fromkeys(letter.operation.id for letter in chosen))
    when = "and sent now" if ids and asyncio.run(_replay(config, ids)) else "for the next start"
    click.echo(f"{len(ids)} set waiting again, {when}" if ids else "There is nothing to replay")


@command.command("retry")
@click.argument("operations", metavar="OPERATION...", nargs=-1, required=True)
@config_option
def retry(operations: tuple[str, ...], config: Path) -> None:
    """Try operations now: waiting ones in their place, dead letters at the end of their lanes.

    Works while the bridge runs; otherwise they are sent at its next start.

    \b
    Examples:
      uacs-bridge dead-letters retry 3f2a
    """
    letters = [_dead_letter(asyncio.run(_letters(config)), operation) for operation in operations]
    held_up = _ids(letter for letter in letters if letter.state in HELD_UP)
    given_up = _ids(letter for letter in letters if letter.state not in HELD_UP)
    now = asyncio.run(_do(config, "/admin/retry", held_up, _hasten))
    now = asyncio.run(_replay(config, given_up)) and now
    count = len(held_up) + len(given_up)
    click.echo(f"{many(count, 'operation')} tried {'now' if now else 'at the next start'}")


@command.command("skip")
@click.argument("operations", metavar="OPERATION...", nargs=-1, required=True)
@config_option
def skip(operations: tuple[str, ...], config: Path) -> None:
    """Give up operations that are held up, so that their channels continue.

    They become dead letters, which can be replayed. Works while the bridge runs, too.

    \b
    Examples:
      uacs-bridge dead-letters skip 3f2a
    """
    letters = [_dead_letter(asyncio.run(_letters(config)), operation) for operation in operations]
    for letter in letters:
        if letter.state not in HELD_UP:
            raise StoreError(
                f"Operation {letter.operation.id!r} is {letter.state} already; nothing waits for it"
            )
    asyncio.run(_do(config, "/admin/skip", _ids(letters), _skip))
    click.echo(f"{many(len(letters), 'operation')} skipped")


@command.command("retry-events")
@config_option
def retry_events(config: Path) -> None:
    """Queue events again that no decoder understood.

    For after an upgrade with better decoders. Stop the bridge first: its next start processes them
    in the order in which they arrived.

    \b
    Examples:
      uacs-bridge dead-letters retry-events -c bridge.yaml
    """
    count = asyncio.run(_retry_events(config))
    click.echo(f"{many(count, 'event')} set waiting again, for the next start")


async def _retry_events(config: Path) -> int:
    from bridge.app.cli.commands.stores import reading, writing

    settings = settings_from(config)
    async with reading(settings.store):  # a command that mends something makes no new store
        pass
    async with writing(settings.store) as store:
        return await store.retry_failed_rows()


async def _letters(config: Path) -> Sequence[DeadLetter]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        return [*await store.held_up(), *await store.dead_letters()]


def _dead_letter(letters: Sequence[DeadLetter], prefix: str) -> DeadLetter:
    matching = [letter for letter in letters if letter.operation.id.startswith(prefix)]
    exact = [letter for letter in matching if letter.operation.id == prefix]
    if len(exact or matching) == 1:
        return (exact or matching)[0]
    if matching:
        raise StoreError(
            f"{prefix!r} begins the ids of {len(matching)} operations; write more of it"
        )
    raise StoreError(f"There is no operation {prefix!r} here; see `uacs-bridge dead-letters list`")


async def _replay(config: Path, operations: Sequence[str]) -> bool:
    """Whether a running bridge did it."""

    async def wait_again(store: Store, operation: OperationId) -> None:
        await store.replay(operation)

    return await _do(config, "/admin/replay", operations, wait_again)


async def _hasten(store: Store, operation: OperationId) -> None:
    await store.hasten(operation)


async def _skip(store: Store, operation: OperationId) -> None:
    from bridge.router.outbound.outcomes import skipped

    letters = {letter.operation.id: letter for letter in await store.held_up()}
    await store.settle(skipped(letters[operation]))


async def _do(
    config: Path,
    path: str,
    operations: Sequence[str],
    work: Callable[[Store, OperationId], Awaitable[None]],
) -> bool:
    """Whether the running bridge did it; otherwise this process did."""
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge
    from bridge.model import OperationId

    settings = settings_from(config)
    if running := running_bridge(settings.store.path):
        if operations:
            running.ask(path, {"operations": list(operations)})
        return True
    async with writing(settings.store) as store:
        for operation in operations:
            await work(store, OperationId(operation))
    return False


def _ids(letters: Iterable[DeadLetter]) -> list[str]:
    return list(dict.fromkeys(letter.operation.id for letter in letters))


def _facts(letter: DeadLetter) -> dict[str, Any]:
    operation = letter.operation
    return {
        "operation": operation.id,
        "type": operation.type,
        "state": letter.state,
        "error": letter.error,
        "attempts": letter.attempts,
        "when": when(letter.time),
        "account": operation.account,
        "channel": operation.channel.key,
        "room": operation.room,
        "message": operation.message,
        "excerpt": letter.excerpt,
        "message_state": letter.message_state,
    }


def _message_in(letter: DeadLetter) -> str:
    """The message's text and later changes; an existing copy does not show the changes."""
    since = letter.message_state
    return f"({since}) {letter.excerpt}" if since in ("edited", "deleted") else letter.excerpt
