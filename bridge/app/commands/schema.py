"""`uacs-bridge schema`: the JSON Schema of UACS, as docs/uacs.schema.json holds it."""

from __future__ import annotations

from pathlib import Path

import click
import orjson


@click.command("schema")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False),
              help="Write it into this file instead.")  # fmt: skip
def command(write: Path | None) -> None:
    """Print the JSON Schema of UACS.

    \b
    Examples:
      uacs-bridge schema | jq .definitions.Message
      uacs-bridge schema --write docs/uacs.schema.json
    """
    from bridge.uacs.json_schema import uacs_json_schema

    text = orjson.dumps(uacs_json_schema(), option=orjson.OPT_INDENT_2).decode() + "\n"
    if write is None:
        click.echo(text, nl=False)
    else:
        write.write_text(text, "utf-8")
        click.echo(f"Written: {write}")
