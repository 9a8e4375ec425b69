"""The command line: imports and runs one module of `bridge.app.cli.commands`.

Exit codes: 0 success; 1 failure, or `check` found an error; 2 the command line or the configuration
is not valid, and nothing was started.
"""

from __future__ import annotations

import atexit
import difflib
import gc
from importlib import import_module
from typing import Any

import click

from bridge.app.cli.renamed_commands import RenamedCommands
from bridge.errors import BridgeError, ConfigError

# No garbage collection at exit: it takes Python 0.3 s (CPython 3.11, 2026-11), for which a person
# who pressed Ctrl-C would wait.
atexit.register(gc.freeze)

# Each command's own help begins with the same sentence (a test compares them): `--help` imports no
# command, because some take a second to import.
COMMANDS = {
    "demo": "Show the bridge at work: local platforms, an agent, and one page to write on.",
    "sandbox": "Serve local platforms of the installed connectors, to try a configuration.",
    "init": "Write a first configuration: a short file that `check` and `run` accept.",
    "setup": "Print the steps to install the bridge on a platform.",
    "check": "Find problems before the start, and say how to solve them.",
    "run": "Run the bridge until it is stopped.",
    "reload": "Make the running bridge read its configuration again.",
    "status": "Show accounts, queues and the oldest waiting operations.",
    "account": "Resume sending through an account that was stopped.",
    "rooms": "List the rooms with their channels and agents.",
    "explain": "Follow one message through the bridge, step by step.",
    "translate": "Translate a rich message between platforms, UACS, the neutral card and agent "
    "APIs.",
    "archive": "Print, search, import, export and erase archived messages.",
    "people": "Manage which accounts belong to one person, and who is banned.",
    "pair": "Let people use agents in direct messages, by a code.",
    "quota": "Show what agents cost, and reset quotas.",
    "dead-letters": "List, replay and skip operations that could not be delivered.",
    "approvals": "List the tool calls that needed an approval, and who decided.",
    "report": "Tell what a room decided, and why.",
    "secrets": "Store secrets, sealed in the bridge's own store.",
    "tokens": "Create and revoke tokens that give programs access to rooms.",
    "tenants": "List, approve, suspend and erase the workspaces that installed an app.",
    "mcp": "Serve rooms to a program that speaks the Model Context Protocol.",
    "db": "Examine, migrate, back up and restore the store, or begin a new one.",
    "bench": "Measure what this machine can do: its disk, its CPU, and messages a second.",
    "schema": "Print the JSON Schema of UACS, or of the card.",
}


# Names of the version before; they work until the next version.
RENAMED = {"budget": "quota"}


class Commands(RenamedCommands):
    """Imports a command when it is called; prints the bridge's errors and sets exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return import_module(f"bridge.app.cli.commands.{cmd_name.replace('-', '_')}").command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in {*COMMANDS, *self.renamed}:
            nearest = difflib.get_close_matches(args[0], COMMANDS, n=1, cutoff=0.5)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            ctx.fail(f"There is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BridgeError as error:
            click.echo(f"uacs-bridge: {error}", err=True)
            ctx.exit(2 if isinstance(error, ConfigError) else 1)
        except BrokenPipeError:
            raise
        except OSError as error:
            click.echo(f"uacs-bridge: {error}", err=True)
            ctx.exit(1)


@click.group(
    cls=Commands,
    renamed=RENAMED,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="uacs-bridge", message="uacs-bridge %(version)s")
def main() -> None:
    """Join Slack, Discord, Microsoft Teams, IRC and AI agents in shared rooms.

    \b
    First steps:
      uacs-bridge demo                      see it work, with nothing to set up
      uacs-bridge init                      write a first configuration
      uacs-bridge setup slack               install it in a workspace of yours
      uacs-bridge check -c bridge.yaml      find problems
      uacs-bridge run -c bridge.yaml        run it
    """
