"""The command line: names of commands in, one module of `bridge.app.cli.commands` imported and run.

Exit codes: 0 done; 1 it could not be done, or `check` found an error; 2 the command line or the
configuration is wrong, and nothing was started.
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

# What ends with the process need not be looked for: else Python takes 0.3 s for that (CPython
# 3.11, 2026-11), while whoever pressed Ctrl-C waits.
atexit.register(gc.freeze)

# Each command's own help begins with the same sentence (a test holds them together): `--help`
# imports no command, for some of them take a second.
COMMANDS = {
    "demo": "Show the bridge at work: local platforms, an agent, and one page to write on.",
    "sandbox": "Serve local platforms to try things out with: those of the installed connectors.",
    "init": "Write a first configuration: a short file that `check` and `run` take.",
    "setup": "Say step by step how to install the bridge on a platform.",
    "check": "Find what is wrong before the start, and say what to do about it.",
    "run": "Run the bridge until it is stopped.",
    "reload": "Have the running bridge read its configuration again.",
    "status": "Show accounts, queues and what waits longest.",
    "account": "Send again through an account that was stopped.",
    "rooms": "List the rooms with their channels and agents.",
    "explain": "Follow one message through the bridge, step by step.",
    "translate": "Translate a rich message between platforms, UACS, the neutral card and agent "
    "APIs.",
    "archive": "Read what was said.",
    "people": "Manage which accounts belong to one person, and who is banned.",
    "pair": "Let people reach agents in direct messages, by a code.",
    "quota": "Show what agents cost, and reset quotas.",
    "dead-letters": "Look after what could not be delivered.",
    "approvals": "List the calls of tools that somebody had to allow, and who decided.",
    "secrets": "Keep tokens sealed in the bridge's own store.",
    "tokens": "Make and revoke tokens: programs read rooms and speak in them with one.",
    "mcp": "Serve rooms to a program that speaks the Model Context Protocol.",
    "db": "Migrate, back up and restore the store, or begin a new one.",
    "schema": "Print the JSON Schema of UACS, or of the card.",
}


# Names of the version before; they work until the next version.
RENAMED = {"budget": "quota"}


class Commands(RenamedCommands):
    """Imports a command when it is called; turns the bridge's errors into texts and exit codes."""

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
    """Join Slack, Discord, Microsoft Teams and AI agents in shared rooms.

    \b
    First steps:
      uacs-bridge demo                      see it work, with nothing to set up
      uacs-bridge init                      write a first configuration
      uacs-bridge setup slack               install it in a workspace of yours
      uacs-bridge check -c bridge.yaml      is everything right?
      uacs-bridge run -c bridge.yaml        go
    """
