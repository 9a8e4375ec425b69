"""The help of the command line, and its errors."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import click
import pytest

from bridge.app.cli import COMMANDS, main
from bridge.ports.connector import HasSetupOptions
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of
from tests.app.running import cli, write


def _all(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return [(name, command)]
    inner = [_all(subcommand, f"{name} {key}") for key, subcommand in command.commands.items()]
    return [(name, command), *(pair for pairs in inner for pair in pairs)]


def _command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_first_sentence_of_each_help(name: str) -> None:
    assert (_command(name).help or "").startswith(COMMANDS[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_one_sentence_then_examples(name: str) -> None:
    for path, command in _all(_command(name), name):
        text = (command.help or "").split("\n\n")
        assert text[0].endswith("."), path
        assert ". " not in text[0].replace("\n", " "), path
        if not isinstance(command, click.Group):
            assert f"uacs-bridge {path}" in (command.help or ""), path
            assert all(isinstance(p, click.Argument) or getattr(p, "help", None)
                       for p in command.params), path  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [(("budget", "show"), ("quota", "show")), (("budget", "reset"), ("quota", "reset")),
     (("people", "block"), ("people", "ban")), (("people", "unblock"), ("people", "unban"))],
)  # fmt: skip
def test_an_old_name_of_a_command_works_and_names_the_new_one(
    old: tuple[str, str], new: tuple[str, str]
) -> None:
    before, after = cli(*old, "--help"), cli(*new, "--help")

    assert (before.exit_code, before.stdout) == (0, after.stdout)
    changed = 0 if old[0] != new[0] else 1
    path = " ".join(("uacs-bridge", *old[:changed]))
    assert before.stderr == (
        f"uacs-bridge: warning: `{path} {old[changed]}` is now called `{path} {new[changed]}`; "
        "the old name works until the next version\n"
    )
    assert after.stderr == ""


def test_help_does_not_list_old_names_of_commands() -> None:
    assert "\n  budget" not in cli("--help").output
    assert "block" not in cli("people", "--help").output


def test_help_lists_every_command() -> None:
    result = cli("--help")

    assert result.exit_code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in result.output] == []


@pytest.mark.process
def test_help_is_printed_quickly() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "bridge", "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    # 110 ms of CPU were measured on 2 cores; far above it something heavy is imported.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


@pytest.mark.process
def test_help_and_setup_import_no_sdk() -> None:
    code = (
        "import sys; from bridge.app.cli import main\n"
        "for args in (['--help'], ['setup', 'slack'], ['setup', 'teams']):\n"
        "    main(args, standalone_mode=False)\n"
        "heavy = {'slack_bolt', 'slack_sdk', 'discord', 'botbuilder', 'aiohttp', 'uvicorn'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_command_names_the_nearest() -> None:
    result = cli("stauts")

    assert (result.exit_code, "did you mean 'status'?" in result.stderr) == (2, True)


def test_a_wrong_configuration_ends_with_2_and_no_traceback(tmp_path: Path) -> None:
    config = write(tmp_path / "bridge.yaml", "acounts: {}\n")

    result = cli("run", "-c", str(config))

    assert result.exit_code == 2
    assert result.stderr == (
        f"uacs-bridge: {config} is not valid:\n- acounts: unknown key; did you mean 'accounts'?\n"
    )


def test_a_missing_configuration_says_where_to_start(tmp_path: Path) -> None:
    result = cli("run", "-c", str(tmp_path / "nothing.yaml"))

    assert result.exit_code == 2
    assert "uacs-bridge init" in result.stderr


def test_an_environment_file_sets_only_unset_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UACS_TEST_SET", "stays")
    monkeypatch.delenv("UACS_TEST_NEW", raising=False)
    text = "# secrets\nexport UACS_TEST_NEW='a b'\nUACS_TEST_SET=lost\n\n"
    config = write(tmp_path / "bridge.yaml", "nothing: 1\n")

    cli("run", "-c", str(config), "--env-file", str(write(tmp_path / "env", text)))

    assert (os.environ["UACS_TEST_NEW"], os.environ["UACS_TEST_SET"]) == ("a b", "stays")
    monkeypatch.delenv("UACS_TEST_NEW")


def test_a_bad_environment_file_names_the_line_and_not_its_secret(tmp_path: Path) -> None:
    env = write(tmp_path / "env", "A=1\nxoxb-secret\n")

    result = cli("run", "-c", "x.yaml", "--env-file", str(env))

    assert (result.exit_code, "line 2" in result.stderr, "xoxb" in result.stderr) == (
        2,
        True,
        False,
    )


@pytest.mark.parametrize("platform", ["slack", "discord", "teams", "irc"])
def test_setup_prints_numbered_steps_and_writes_files(platform: str, tmp_path: Path) -> None:
    result = cli(
        "setup", platform, "--out", str(tmp_path), "--public-url", "https://bridge.example.org"
    )

    assert result.exit_code == 0
    assert result.output.startswith("1. ")
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {
        "slack": {"slack-app-manifest.json"}, "discord": set(), "irc": set(),
        "teams": {"uacs-bridge-teams.zip"},
    }[platform]  # fmt: skip


def test_setup_of_an_unknown_platform_names_the_installed_ones() -> None:
    result = cli("setup", "zulip")

    assert (result.exit_code, result.stderr) == (
        2, "uacs-bridge: Unknown platform 'zulip'; installed are: discord, irc, slack, teams\n"
    )  # fmt: skip


def test_setup_names_the_installed_platforms_and_has_the_options_of_all() -> None:
    help_text = cli("setup", "--help").stdout

    assert "[OPTIONS] " + "|".join(names_of(CONNECTORS)) in help_text
    for name in names_of(CONNECTORS):
        kind = connector_type(name)
        options = kind.setup_options() if isinstance(kind, HasSetupOptions) else ()
        for option in options:
            assert all(flag in help_text for flag in option.flags)
            assert option.help.partition(" ")[0] in help_text
