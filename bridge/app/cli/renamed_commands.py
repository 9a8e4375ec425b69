"""Commands under their names of the version before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click


class RenamedCommands(click.Group):
    """A group of commands of which some had other names in the version before.

    `renamed` maps each old name to the new one. `--help` does not list old names; a command that is
    called by one runs, after a warning on stderr that names the new one.
    """

    def __init__(self, *args: Any, renamed: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.renamed = dict(renamed or {})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names, by its old or its new name."""
        new_name = self.renamed.get(args[0]) if args else None
        if new_name is None:
            return super().resolve_command(ctx, args)
        click.echo(
            f"uacs-bridge: warning: `{ctx.command_path} {args[0]}` is now called "
            f"`{ctx.command_path} {new_name}`; the old name works until the next version",
            err=True,
        )
        return super().resolve_command(ctx, [new_name, *args[1:]])
