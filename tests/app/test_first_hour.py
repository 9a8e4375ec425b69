"""The first hour: the file of `init` and the examples work, and commands report errors alike."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from bridge.app.cli import main
from bridge.app.printing import table
from bridge.app.settings.file import read_settings
from tests.app.running import cli

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "config").glob("*.example.yaml"))
GUID = "00000000-0000-0000-0000-000000000000"
TEAMS = [
    "--platform", "teams", "--channel", "teams=19:abc@thread.tacv2",
    "--set", f"teams.app_id={GUID}", "--set", f"teams.tenant_id={GUID}",
    "--public-url", "https://bridge.example.org",
]  # fmt: skip
SLACK = ["--platform", "slack", "--channel", "slack=#general"]
DISCORD = ["--platform", "discord", "--channel", "discord=123456789012345678"]
CLAUDE = ["--agent", "anthropic", "--set", "agent.model=claude-sonnet-4-5"]


def errors_of(config: Path) -> list[str]:
    """The errors of `check` for a copy with a free port, which `check` binds for a moment."""
    settings = yaml.safe_load(config.read_text())
    copy = config.with_name("on-a-free-port.yaml")
    copy.write_text(yaml.safe_dump({**settings, "web": {**settings.get("web", {}), "port": 0}}))
    result = cli("check", "--offline", "--json", "-c", str(copy))
    found = json.loads(result.stdout)["findings"]
    return [finding["what"] for finding in found if finding["level"] == "error"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_a_copied_example_lacks_nothing_but_its_secrets(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text(example.read_text())
    variables = set(re.findall(r"env: ([A-Z_]+)", config.read_text()))
    for name in variables:
        monkeypatch.delenv(name, raising=False)

    without = errors_of(config)
    for name in variables:
        monkeypatch.setenv(name, "given")

    assert without
    assert [error for error in without if "is empty or not set" not in error] == []
    assert errors_of(config) == []


def test_the_short_examples_are_short() -> None:
    lengths = {example.name: len(example.read_text().splitlines()) for example in EXAMPLES}

    assert {name for name, length in lengths.items() if length > 25} == {"bridge.example.yaml"}
    assert len(lengths) == 4


def test_in_an_example_without_mirroring_no_room_has_two_channels() -> None:
    rooms = read_settings(ROOT / "config" / "agent.example.yaml").rooms

    assert [len(room.members) for room in rooms.values()] == [1, 1]
    assert all(room.agents for room in rooms.values())


@pytest.mark.parametrize(
    "args",
    [
        ["--use", "agent", *SLACK, *DISCORD, *CLAUDE],
        ["--use", "mirror", *SLACK, *DISCORD, *TEAMS, *CLAUDE],
        ["--use", "mirror", *SLACK, *TEAMS, "--agent", "none"],
        ["--use", "archive", "--platform", "slack"],
        ["--use", "agent", *SLACK, "--agent", "acp", "--set", "agent.base_url=https://a.test",
         "--set", "agent.agent_name=helper"],
    ],
)  # fmt: skip
def test_init_writes_a_short_file_that_lacks_only_its_secrets(
    args: list[str], tmp_path: Path
) -> None:
    config = tmp_path / "new" / "bridge.yaml"

    done = cli("init", "-c", str(config), *args)

    assert done.exit_code == 0, done.output
    assert len(config.read_text().splitlines()) <= 25
    assert [error for error in errors_of(config) if "is empty or not set" not in error] == []
    for name in re.findall(r"env: ([A-Z_]+)", config.read_text()):
        assert f"export {name}=..." in done.stdout
    assert f"uacs-bridge check -c {config}" in done.stdout


def test_the_tutorial_shows_the_file_that_its_init_writes(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorials" / "agent.md").read_text("utf-8")
    command = re.search(r"^\.venv/bin/uacs-bridge (init (?:.*\\\n)*.*)$", page, re.MULTILINE)
    block = re.search(r"<!-- configuration -->\n```yaml\n(.*?)```", page, re.DOTALL)
    assert command
    assert block
    config = tmp_path / "bridge.yaml"

    done = cli(*shlex.split(command[1].replace("\\\n", "")), "-c", str(config))

    assert done.exit_code == 0, done.output
    assert config.read_text() == block[1]


@pytest.mark.parametrize("use", ["agent", "mirror", "archive"])
def test_the_readme_begins_each_use_with_init(use: str) -> None:
    page = (ROOT / "docs" / "tutorials" / f"{use}.md").read_text("utf-8")

    assert f"uacs-bridge init --use {use}" in page


def test_init_asks_for_missing_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.app.cli.commands.init.on_terminal", lambda: True)
    config = tmp_path / "bridge.yaml"
    answers = "agent\nslack, discord\n#help\nhelp\nopenai-chat\ngpt-5-mini\n"

    done = CliRunner().invoke(main, ["init", "-c", str(config)], input=answers)

    assert done.exit_code == 0, done.output
    written = yaml.safe_load(config.read_text())
    assert list(written["accounts"]) == ["slack", "discord"]
    assert written["agents"]["helper"]["model"] == "gpt-5-mini"
    assert list(written["rooms"]) == ["slack-help", "discord-help"]


def test_init_asks_again_after_an_invalid_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.app.cli.commands.init.on_terminal", lambda: True)
    config = tmp_path / "bridge.yaml"
    answers = [
        ("bot", "'bot' is no use"),
        ("mirror", ""),
        (",", "name at least one"),
        ("zulip", "Unknown platform 'zulip'"),
        ("teams", ""),
        ("abc", "must be a GUID; copy it from the Azure portal (is 'abc')"),
        (GUID, ""),
        ("x", "must be a GUID; copy it from the Azure portal (is 'x')"),
        (GUID, ""),
        (" ", "nothing was answered"),
        ("19:a@thread.tacv2", ""),
        ("19:a@thread.tacv2", "'19:a@thread.tacv2' is in the mirror already"),
        ("19:b@thread.tacv2", ""),
        ("clode", "Unknown agent kind 'clode'"),
        ("none", ""),
        ("foo", "public_url 'foo' is no https address"),
        ("https://bridge.example.org", ""),
    ]

    done = CliRunner().invoke(
        main, ["init", "-c", str(config)], input="".join(f"{answer}\n" for answer, _ in answers)
    )

    assert done.exit_code == 0, done.output
    printed_errors = [
        line.removeprefix("Error: ") for line in done.output.splitlines() if "Error: " in line
    ]
    expected = [problem for _, problem in answers if problem]
    assert len(printed_errors) == len(expected)
    for line, problem in zip(printed_errors, expected, strict=True):
        assert line.startswith(problem)
    assert [error for error in errors_of(config) if "is empty or not set" not in error] == []


def test_init_asks_again_for_an_agent_where_the_use_needs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.app.cli.commands.init.on_terminal", lambda: True)
    config = tmp_path / "bridge.yaml"
    arguments = ["init", "-c", str(config), "--use", "agent", *SLACK]

    done = CliRunner().invoke(main, arguments, input="none\necho\n")

    assert done.exit_code == 0, done.output
    assert "there is nothing to do without an agent" in done.output
    assert yaml.safe_load(config.read_text())["agents"] == {"helper": {"kind": "echo"}}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("app_id", "abc", "accounts.teams.app_id: must be a GUID"),
        ("tenant_id", "contoso", "accounts.teams.tenant_id: must be a GUID"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_ids_that_init_refuses_are_refused_by_check_and_run_too(
    command: str, key: str, value: str, expected: str, tmp_path: Path
) -> None:
    config = tmp_path / "bridge.yaml"
    assert cli("init", "-c", str(config), "--use", "archive", *TEAMS).exit_code == 0
    written = yaml.safe_load(config.read_text())
    written["accounts"]["teams"][key] = value
    config.write_text(yaml.safe_dump(written))

    refused = cli(command, "-c", str(config))

    assert refused.exit_code != 0
    assert expected in refused.output


def test_init_overwrites_a_file_only_with_force(tmp_path: Path) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text("# mine\n")
    arguments = ["init", "-c", str(config), "--use", "archive", "--platform", "slack"]

    refused = cli(*arguments)
    unchanged = config.read_text()
    forced = cli(*arguments, "--force")

    assert (refused.exit_code, unchanged) == (2, "# mine\n")
    assert "--force" in refused.stderr
    assert forced.exit_code == 0
    assert "archive:" in config.read_text()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], "--use is needed"),
        (["--use", "agent", *SLACK], "--agent is needed"),
        (["--use", "agent", *SLACK, "--agent", "none"], "nothing to do without an agent"),
        (["--use", "mirror", "--platform", "slak"], "Unknown platform 'slak'"),
        (["--use", "mirror", *SLACK, *DISCORD, "--set", "slak.token=x"], "there is no such part"),
        (["--use", "mirror", *SLACK, "--set", "agent"], "is not NAME=VALUE"),
        (["--use", "agent", *SLACK, *CLAUDE, "--set", "agent.modl=x"], "did you mean 'model'"),
        (["--use", "mirror", *SLACK], "a mirror joins two or more"),
        (["--use", "mirror", *SLACK, "--channel", "slack=general"], "a mirror joins two or more"),
        (["--use", "mirror", *SLACK, "--agent", "bot"], "Unknown agent kind 'bot'"),
        (["--use", "archive", *TEAMS, "--set", "teams.app_id=abc"], "must be a GUID"),
        (["--use", "archive", *TEAMS, "--set", "teams.tenant_id=x"], "must be a GUID"),
        (["--use", "archive", *TEAMS, "--public-url", "foo"], "'foo' is no https address"),
        (["--use", "archive", *TEAMS, "--public-url", "http://["], "is no https address"),
        (["--use", "archive", *TEAMS, "--public-url", ""], "--public-url is needed"),
    ],
)
def test_init_reports_missing_and_invalid_answers_and_writes_nothing(
    args: list[str], expected: str, tmp_path: Path
) -> None:
    config = tmp_path / "bridge.yaml"

    done = cli("init", "-c", str(config), *args)

    assert done.exit_code == 2
    assert expected in done.stderr
    assert not config.exists()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["teams", "--app-id", "abc"], "--app-id 'abc' is not a GUID"),
        (["teams", "--tenant-id", "contoso"], "--tenant-id 'contoso' is not a GUID"),
        (["discord", "--client-id", "bot"], "--client-id 'bot' is not an Application ID"),
        (["slack", "--tenant-id", GUID], "Slack has no --tenant-id"),
        (["slack", "--public-url", "ftp://x"], "--public-url 'ftp://x' is no https address"),
        (["slack", "--receive", "http"], "--public-url"),
        (["slack", "--account", "My Slack"], "a name is lower-case letters"),
        (["slack", "--account", "admin"], "an address of the bridge's own"),
    ],
)
def test_setup_refuses_invalid_ids_and_addresses(args: list[str], expected: str) -> None:
    done = cli("setup", *args)

    assert done.exit_code == 2
    assert expected in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["approvals", "--limit", "0"],
        ["quota", "show", "--hours", "-1"],
        ["tokens", "add", "helper", "--room", "x", "--per-minute", "0"],
        ["sandbox", "--port", "70000"],
    ],
)
def test_numbers_out_of_range_are_refused_on_the_command_line(args: list[str]) -> None:
    done = cli(*args)

    assert done.exit_code == 2
    assert "is not in the range" in done.stderr


@pytest.mark.parametrize("command", ["setup", "init"])
def test_the_examples_of_the_help_work(command: str, tmp_path: Path) -> None:
    help_text = cli(command, "--help").stdout
    section = help_text.partition("Examples:")[2].partition("Options:")[0]
    lines = section.replace("\\\n", " ").splitlines()
    examples = [shlex.split(line) for line in lines if line.strip().startswith("uacs-bridge")]

    for number, (_, *args) in enumerate(examples):
        if args == ["init"]:
            continue  # asks, on a terminal
        more = ["-c", str(tmp_path / f"{number}.yaml")] if command == "init" else []
        args = [str(tmp_path / "out") if arg == "teams-app" else arg for arg in args]

        assert cli(*args, *more).exit_code == 0, args


def test_setup_advises_only_flags_that_it_has() -> None:
    flags = set(re.findall(r"--[a-z-]+", cli("setup", "--help").stdout))
    for platform in ("slack", "discord", "teams"):
        advised = set(re.findall(r"(?<![\w-])--[a-z-]+", cli("setup", platform).stdout))

        assert advised <= flags


@pytest.mark.parametrize(
    ("command", "begins"),
    [
        (["approvals"], "No approvals yet. "),
        (["approvals", "--open"], "No approvals are open. "),
        (["quota", "show"], "No usage in the last 24 hours. "),
        (["people", "list"], "No linked accounts yet. "),
        (["people", "show", "slack:T01:U01"], "No other accounts of 'slack:T01:U01' are known. "),
        (["pair", "list"], "No pairings yet. "),
        (["tokens", "list"], "No tokens yet. "),
        (["secrets", "list"], "No secrets yet. "),
        (["dead-letters", "list"], "No dead letters. "),
        (["rooms"], "No rooms yet. "),
    ],
)
def test_all_empty_lists_have_the_same_form(
    command: list[str], begins: str, tmp_path: Path
) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text("store: {path: bridge.sqlite3}\n")
    cli("pair", "new", "-c", str(config))  # makes the store

    result = cli(*command, "-c", str(config))

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(begins)


def test_rows_of_approvals_are_not_indented_by_a_sentence() -> None:
    text = click.unstyle(table(("a",), [("x",)], indent="", empty="Nothing."))

    assert text.splitlines() == ["a", "x"]
