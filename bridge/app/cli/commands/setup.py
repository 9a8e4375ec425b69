"""`uacs-bridge setup`: print a connector's set-up steps, and write its files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import ConfigError
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of

if TYPE_CHECKING:
    from bridge.ports.connector import SetupOption, SetupStep


@cache
def _platform_options() -> tuple[click.Option, ...]:
    """The options of all installed connectors; options of one key are one option."""
    from bridge.ports.connector import HasSetupOptions

    options: dict[str, list[SetupOption]] = {}
    for name in names_of(CONNECTORS):
        kind = connector_type(name)
        if isinstance(kind, HasSetupOptions):
            for option in kind.setup_options():
                options.setdefault(option.key, []).append(option)
    return tuple(
        click.Option(
            [*dict.fromkeys(flag for option in same for flag in option.flags), key],
            help="; ".join(option.help for option in same) + ".",
        )
        for key, same in options.items()
    )


class _Setup(click.Command):
    """A command that lists the installed connectors and takes their options before `--out`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        own[0].metavar = "|".join(names_of(CONNECTORS))
        at = next(at for at, option in enumerate(own) if option.name == "out")
        return [*own[:at], *_platform_options(), *own[at:]]


@click.command("setup", cls=_Setup)
@click.argument("platform")
@click.option("--name", help="The name of the app or bot.")
@click.option(
    "--account", help="The account's name in the configuration; by default the platform's name."
)
@click.option(
    "--public-url",
    help="The address under which platforms reach the bridge: https://bridge.example.org.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              help="Write files (manifest, app package) into this folder.")  # fmt: skip
def command(platform: str, out: Path | None, **flags: str | None) -> None:
    """Print the steps to install the bridge on a platform.

    Prints what to paste there, such as an app manifest or an invite link, or writes the files to
    upload. It sends nothing, and can be run again at any time.

    \b
    Examples:
      uacs-bridge setup slack --name "House Bridge"
      uacs-bridge setup discord --client-id 1323802873036800042
      uacs-bridge setup teams --app-id 00000000-0000-0000-0000-000000000000 \\
          --public-url https://bridge.example.org --out teams-app
    """
    values = {key: value for key, value in flags.items() if value}
    _check(values)
    steps = connector_type(platform).setup(values)
    click.echo("\n".join(_lines(steps, out)))


def _check(values: Mapping[str, str]) -> None:
    """Check the options that every platform shares. Raises ConfigError."""
    from bridge.app.settings.needs import wrong_public_url
    from bridge.app.settings.references import name_problem

    account, url = values.get("account", ""), values.get("public_url", "")
    if account and (problem := name_problem("accounts", account)):
        raise ConfigError(f"--account {account!r}: {problem}")
    if url and (problem := wrong_public_url(url)):
        raise ConfigError(f"--{problem.replace('_', '-')}; write https://HOST")


def _lines(steps: Sequence[SetupStep], out: Path | None) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        yield click.style(f"{number}. {step.title}", bold=True)
        for paragraph in step.text.strip().split("\n"):
            yield textwrap.fill(
                paragraph, 96, initial_indent="   ", subsequent_indent="   ",
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
        if step.artifact is not None:
            yield from _artifact(step, step.artifact, out)
        yield ""


def _artifact(step: SetupStep, artifact: str | bytes, out: Path | None) -> Iterator[str]:
    if step.filename is not None and out is not None:
        out.mkdir(parents=True, exist_ok=True)
        path = out / step.filename
        path.write_bytes(artifact.encode() if isinstance(artifact, str) else artifact)
        yield f"   Written: {path}"
    elif isinstance(artifact, bytes):
        yield f"   {step.filename}: {len(artifact):,} bytes; add --out FOLDER to write it"
    else:
        yield ""
        yield textwrap.indent(artifact.strip("\n"), "       ")
