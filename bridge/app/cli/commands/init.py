"""`uacs-bridge init`: a first configuration, from answers or flags."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel

_USES = {
    "agent": "an agent in channels, which are not joined with one another",
    "mirror": "messages of one channel appear in the others",
    "archive": "messages are stored, and nothing is posted",
}
_Problem = Callable[[str], str]
"""Why a value cannot be; empty where it can."""
_PAIR = re.compile(r"([A-Za-z0-9_.-]+)=(.+)")


@click.command("init")
@click.option("--use", type=click.Choice(list(_USES)), help="The use of the bridge.")
@click.option("--platform", "platforms", multiple=True, help="A platform; repeat it for more.")
@click.option(
    "--channel", "channels", multiple=True, metavar="PLATFORM=CHANNEL",
    help="A channel, by its name or id; repeat it for more.",
)  # fmt: skip
@click.option("--agent", "kind", help="An agent's kind: anthropic, openai-chat ...; `none`.")
@click.option(
    "--set", "set_options", multiple=True, metavar="NAME.KEY=VALUE",
    help="A setting of an account or of the agent: ACCOUNT.app_id=..., agent.model=...",
)  # fmt: skip
@click.option(
    "--public-url",
    help="The address under which platforms reach the bridge: https://bridge.example.org.",
)
@click.option(
    "-c", "--config", type=click.Path(path_type=Path, dir_okay=False),
    default="config/bridge.yaml", show_default=True, envvar="UACS_BRIDGE_CONFIG", show_envvar=True,
    help="The file to write.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(
    use: str | None, platforms: tuple[str, ...], channels: tuple[str, ...], kind: str | None,
    set_options: tuple[str, ...], public_url: str | None, config: Path, force: bool,
) -> None:  # fmt: skip
    """Write a first configuration: a short file that `check` and `run` accept.

    On a terminal it asks for what no flag gives, and asks again after an impossible answer;
    elsewhere the flags must give everything. It never asks for secrets: the file names environment
    variables, which are printed at the end.

    \b
    Examples:
      uacs-bridge init
      uacs-bridge init --use agent --platform slack --channel slack=#help \\
          --agent anthropic --set agent.model=claude-sonnet-4-5
      uacs-bridge init --use mirror --platform slack --platform discord \\
          --channel slack=#general --channel discord=general --agent none
    """
    if config.exists() and not force:
        raise ConfigError(f"{config} is there already; give another file with -c, or --force")
    asking = _Asking(_pairs(set_options, "--set"), on_terminal())
    draft = _draft(asking, use, platforms, _pairs(channels, "--channel"), kind, public_url)
    text = draft.text()
    _check(text)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text, "utf-8")
    click.echo("\n".join(_next_steps(config, draft)))


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()


@dataclass
class _Asking:
    """Answers by `NAME.KEY`, and whether a person can be asked for others."""

    answers: dict[str, list[str]]
    terminal: bool

    def value(self, flag: str, question: str, check: _Problem, default: str = "") -> str:
        """An answer that `check` accepts; asks until there is one."""
        if self.terminal:
            return str(
                click.prompt(question, default=default or None, value_proc=_click_validator(check))
            )
        if default:
            return default
        raise ConfigError(f"{flag} is needed: {question}")

    def setting(self, name: str, key: str, model: type[BaseModel]) -> str:
        from bridge.app.settings.problems import value_problem

        def check(value: str) -> str:
            return value_problem(model, key, value)

        if values := self.answers.pop(f"{name}.{key}", None):
            return _checked(f"--set {name}.{key}: ", values[-1], check)
        question = f"{name}: {key} ({model.model_fields[key].description or key})"
        return self.value(f"--set {name}.{key}=VALUE", question, check)


def _click_validator(check: _Problem) -> Callable[[str], str]:
    """A validator for `click.prompt`, which prints a UsageError and asks again."""

    def convert(answer: str) -> str:
        value = answer.strip()
        if problem := check(value) if value else "nothing was answered":
            raise click.UsageError(problem)
        return value

    return convert


def _checked(where: str, value: str, check: _Problem) -> str:
    """The value of a flag. Raises ConfigError."""
    if problem := check(value):
        raise ConfigError(f"{where}{problem}")
    return value


@dataclass
class _Draft:
    """The parts of the file: accounts and the agent, each as YAML in one line."""

    use: str
    accounts: dict[str, str]
    agent: tuple[str, str] | None
    members: list[tuple[str, str]]
    public_url: str
    variables: list[str]

    def text(self) -> str:
        lines = [f"# {_USES[self.use]}; all settings: docs/configuration.md", "accounts:"]
        lines += [f"  {name}: {body}" for name, body in self.accounts.items()]
        if self.agent is not None:
            lines += ["agents:", f"  {self.agent[0]}: {self.agent[1]}"]
        lines += ["rooms:", *self._rooms()]
        if self.public_url:
            lines += ["web:", f"  public_url: {_quoted(self.public_url)}"]
        return "\n".join(lines) + "\n"

    def _rooms(self) -> list[str]:
        """One room for all channels, or one for each channel if they are not joined."""
        flow = ", flow: in" if self.use == "archive" else ""
        members = [
            f"{{account: {account}, channel: {_quoted(channel)}{flow}}}"
            for account, channel in self.members
        ]
        memberships = [f"    agents: [{{agent: {self.agent[0]}}}]"] if self.agent else []
        if self.use != "agent":
            name = "archive" if self.use == "archive" else _slug(self.members[0][1])
            return [
                f"  {name}:",
                "    members:",
                *(f"      - {line}" for line in members),
                *memberships,
            ]
        lines: list[str] = []
        names: list[str] = []
        for (account, channel), member in zip(self.members, members, strict=True):
            name = _unique(f"{account}-{_slug(channel)}", names)
            lines += [f"  {name}:", f"    members: [{member}]", *memberships]
        return lines


def _draft(
    asking: _Asking,
    use: str | None,
    platforms: Sequence[str],
    channels: dict[str, list[str]],
    kind: str | None,
    public_url: str | None,
) -> _Draft:
    _check_flags(platforms, channels, kind, public_url)
    use = use or _ask_use(asking)
    accounts: dict[str, str] = {}
    members: list[tuple[str, str]] = []
    variables: list[str] = []
    called = False
    for name in dict.fromkeys(platforms or tuple(channels) or _ask_platforms(asking)):
        starter = _known_platform(name).starter
        accounts[name] = _account(name, asking, variables)
        called = called or starter.called
        usual = "*" if use == "archive" and starter.lists else starter.channel
        question = f"{name}: a channel's name or id"
        account_channels = channels.get(name) or [
            asking.value(f"--channel {name}=CHANNEL", question, _channel_problem, usual)
        ]
        members += [(name, channel) for channel in account_channels]
    if use == "mirror":
        members += _second_channel(asking, members)
    agent = None if use == "archive" else _agent(asking, kind, variables, needed=use == "agent")
    if called and not public_url:
        question = "the address by which platforms reach the bridge, https://..."
        public_url = asking.value("--public-url", question, _url_problem)
    if asking.answers:
        names = f"NAME is one of {', '.join(accounts)}" + (" or agent" if agent else "")
        raise ConfigError(f"--set {next(iter(asking.answers))}: there is no such part; {names}")
    return _Draft(use, accounts, agent, members, public_url or "", variables)


def _check_flags(
    platforms: Sequence[str], channels: Mapping[str, Sequence[str]], kind: str | None,
    public_url: str | None,
) -> None:  # fmt: skip
    """Check flags before the first question, so that no answers are lost. Raises ConfigError."""
    for name in platforms or channels:
        _known_platform(name)
    if stray := [name for name in channels if platforms and name not in platforms]:
        raise ConfigError(f"--channel: {', '.join(stray)} is not among the platforms")
    for name, account_channels in channels.items():
        for channel in account_channels:
            _checked(f"--channel {name}={channel}: ", channel, _channel_problem)
    if kind is not None:
        _checked("--agent: ", kind, _kind_problem)
    if public_url:
        _checked("--public-url: ", public_url, _url_problem)


def _ask_use(asking: _Asking) -> str:
    if asking.terminal:
        for name, description in _USES.items():
            click.echo(f"  {name:8} {description}")

    def check(use: str) -> str:
        return "" if use in _USES else f"{use!r} is no use; choose one of {', '.join(_USES)}"

    return asking.value("--use", "What is it for", check)


def _ask_platforms(asking: _Asking) -> Sequence[str]:
    from bridge.runtime.discovery import CONNECTORS, names_of

    def check(answer: str) -> str:
        names = _names_in(answer)
        problems = filter(None, map(_platform_problem, names))
        return next(problems, "") if names else "name at least one"

    installed = ", ".join(names_of(CONNECTORS))
    question = f"Which platforms, with commas between them ({installed})"
    return _names_in(asking.value("--platform", question, check))


def _names_in(answer: str) -> list[str]:
    return [name for name in re.split(r"[,\s]+", answer.lower()) if name]


def _second_channel(
    asking: _Asking, members: Sequence[tuple[str, str]]
) -> Sequence[tuple[str, str]]:
    """The second channel of a mirror. Raises ConfigError if nobody can be asked for it."""
    from bridge.content.text.globs import is_glob

    name, first = members[0]
    taken = {(account, channel.removeprefix("#").casefold()) for account, channel in members}
    if len(taken) > 1 or is_glob(first):
        return ()

    def check(channel: str) -> str:
        if (name, channel.removeprefix("#").casefold()) in taken:
            return f"{channel!r} is in the mirror already"
        return _channel_problem(channel)

    question = f"{name}: another channel, for a mirror joins two or more"
    return [(name, asking.value(f"--channel {name}=CHANNEL", question, check))]


def _platform_problem(name: str) -> str:
    try:
        _known_platform(name)
    except ConfigError as error:
        return str(error)
    return ""


def _kind_problem(kind: str) -> str:
    from bridge.runtime.discovery import agent_type

    try:
        if kind != "none":
            agent_type(kind)
    except ConfigError as error:
        return str(error)
    return ""


def _channel_problem(channel: str) -> str:
    from bridge.app.settings.problems import value_problem
    from bridge.app.settings.rooms import MemberSettings

    return value_problem(MemberSettings, "channel", channel)


def _url_problem(url: str) -> str:
    from bridge.app.settings.needs import wrong_public_url

    problem = wrong_public_url(url)
    return f"{problem}; write https://HOST" if problem else ""


def _known_platform(name: str) -> Any:
    from bridge.runtime.discovery import connector_type

    return connector_type(name)


def _account(name: str, asking: _Asking, variables: list[str]) -> str:
    kind = _known_platform(name)
    keys = {"platform": name}
    for key in kind.starter.keys:
        keys[key] = _value(name, key, kind.settings, asking, variables, name.upper())
    return _flow(keys)


def _agent(
    asking: _Asking, kind: str | None, variables: list[str], *, needed: bool
) -> tuple[str, str] | None:
    from bridge.runtime.discovery import AGENTS, agent_type, names_of

    def check(answer: str) -> str:
        if answer == "none" and needed:
            return "there is nothing to do without an agent; name a kind"
        return _kind_problem(answer)

    if kind is None:
        usual = "" if needed else "none"
        kinds = ", ".join([*names_of(AGENTS), *([] if needed else ["none"])])
        kind = asking.value("--agent", f"Which kind of agent ({kinds})", check, usual)
    if _checked("--agent none: ", kind, check) == "none":
        return None
    model = agent_type(kind).settings
    keys = {"kind": kind}
    for key, field in model.model_fields.items():
        if field.is_required():
            keys[key] = _value("agent", key, model, asking, variables, "AGENT")
    if "api_key" in model.model_fields and not model.model_fields["base_url"].is_required():
        vendor = kind.partition("-")[0].upper()
        keys["api_key"] = _secret(f"{vendor}_API_KEY", variables)
    for key in [key for key in asking.answers if key.startswith("agent.")]:
        keys[key.partition(".")[2]] = _quoted(asking.answers.pop(key)[-1])
    return "helper", _flow(keys)


def _value(
    name: str, key: str, model: type[BaseModel], asking: _Asking, variables: list[str], prefix: str
) -> str:
    from bridge.model.secret_refs import SecretRef

    field = model.model_fields[key]
    if SecretRef in (field.annotation, *getattr(field.annotation, "__args__", ())):
        return _secret(f"{re.sub('[^A-Z0-9]', '_', prefix)}_{key.upper()}", variables)
    return _quoted(asking.setting(name, key, model))


def _secret(variable: str, variables: list[str]) -> str:
    variables.append(variable)
    return f"{{env: {variable}}}"


def _pairs(options: Sequence[str], flag: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in options:
        if (parts := _PAIR.fullmatch(pair)) is None:
            raise ConfigError(f"{flag} {pair!r} is not NAME=VALUE")
        values.setdefault(parts[1], []).append(parts[2])
    return values


def _flow(keys: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def _quoted(text: str) -> str:
    """The text in quotes, so that YAML reads it as text."""
    import json

    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*", text)
    reserved = text.casefold() in ("on", "off", "yes", "no", "true", "false", "null", "y", "n")
    return text if plain and not reserved else json.dumps(text, ensure_ascii=False)


def _slug(channel: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", channel.casefold()).strip("-")[:40] or "room"


def _unique(name: str, taken: list[str]) -> str:
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}-{number}", number + 1
    taken.append(unique)
    return unique


def _check(text: str) -> None:
    """Raises ConfigError if the answers do not make a valid configuration."""
    import yaml

    from bridge.app.settings.file import settings_of

    settings_of(yaml.safe_load(text), "What you answered")


def _next_steps(config: Path, draft: _Draft) -> list[str]:
    path = shlex.quote(str(config))
    variables = [f"  export {name}=..." for name in dict.fromkeys(draft.variables)]
    return [
        f"Written: {path}",
        *(["", "Set these variables:", *variables] if variables else []),
        "",
        "How to get them, and what to do on each platform:",
        *(f"  uacs-bridge setup {name}" for name in draft.accounts),
        "",
        "Then:",
        f"  uacs-bridge check -c {path}",
        f"  uacs-bridge run -c {path}",
    ]
