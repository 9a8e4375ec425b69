"""`uacs-bridge schema`: the JSON Schemas of UACS and of the card, as in docs/*.schema.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson


@click.command("schema")
@click.argument("name", type=click.Choice(["uacs", "card"]), default="uacs")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False),
              help="Write it into this file instead.")  # fmt: skip
def command(name: str, write: Path | None) -> None:
    """Print the JSON Schema of UACS, or of the card.

    \b
    Examples:
      uacs-bridge schema | jq .definitions.Message
      uacs-bridge schema --write docs/uacs.schema.json
      uacs-bridge schema card --write docs/card.schema.json
    """
    text = orjson.dumps(_schema(name), option=orjson.OPT_INDENT_2).decode() + "\n"
    if write is None:
        click.echo(text, nl=False)
    else:
        write.write_text(text, "utf-8")
        click.echo(f"Written: {write}")


def _schema(name: str) -> dict[str, Any]:
    if name == "card":
        from bridge.content.cards.json import card_schema

        return card_schema()
    from bridge.uacs.json_schema import uacs_json_schema

    return uacs_json_schema()
