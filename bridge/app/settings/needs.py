"""What a configuration needs before a bridge can run with it: `check` reports it, `run` and
`reload` refuse without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from bridge.app.settings.references import secrets_of
from bridge.app.settings.sections import Settings
from bridge.errors import BridgeError, ConfigError
from bridge.model.secret_refs import SecretRef
from bridge.ports.secrets import SecretSource
from bridge.runtime.extras import has_module, how_to_install

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Need:
    """A need of the part at this place (`accounts.acme`); `todo` solves the problem."""

    part: str
    problem: str
    todo: str

    def __str__(self) -> str:
        return f"{self.part}{'.' if self.part else ''}{self.problem}; {self.todo}"


def check_purpose(settings: Settings) -> None:
    """Raises ConfigError for a configuration without accounts or rooms."""
    _refuse(list(nothing_to_do(settings)))


async def check_needs(settings: Settings, secrets: SecretSource) -> None:
    """Raises ConfigError that names every missing secret and key."""
    _refuse(await unmet(settings, secrets))


def _refuse(needs: Sequence[Need]) -> None:
    if needs:
        lines = "\n".join(f"- {need}" for need in needs)
        raise ConfigError(f"The bridge cannot run with this configuration:\n{lines}")


def nothing_to_do(settings: Settings) -> Iterator[Need]:
    """The needs of a configuration with which the bridge would receive nothing."""
    todo = "`uacs-bridge init` writes a configuration, `uacs-bridge setup PLATFORM` says how to"
    if settings.installs.apps:
        if wrong := wrong_public_url(settings.web.public_url or ""):
            todo = "people and platforms come back to it: set web.public_url"
            yield Need("installs", f"apps: {wrong}", todo)
        return
    if not settings.accounts:
        yield Need("", "there is no account under `accounts`", f"{todo} get an account")
    elif not settings.rooms and not settings.direct:
        todo = "add a room, or `direct` for agents that people write to directly"
        yield Need("", "there is no room under `rooms`: nothing would be relayed", todo)


async def unmet(settings: Settings, secrets: SecretSource) -> list[Need]:
    """Missing secrets, agents without the key that their API needs, and a missing extra."""
    needs: list[Need] = []
    for part, key, ref in named_secrets(settings):
        if (problem := await missing(ref, secrets)) is not None:
            problem_text, todo = problem
            needs.append(Need(part, f"{key}: {problem_text}", todo))
    return [*needs, *_without_key(settings), *_without_extra(settings)]


def _without_extra(settings: Settings) -> Iterator[Need]:
    installed = has_module("opentelemetry") and has_module("opentelemetry.sdk")
    if settings.traces.endpoint is not None and not installed:
        problem = "endpoint: the package opentelemetry-sdk is missing"
        yield Need("traces", problem, how_to_install("otel"))


def named_secrets(settings: Settings) -> Iterator[tuple[str, str, SecretRef]]:
    """Part, key and reference of every secret in the configuration."""
    parts = [
        *((f"accounts.{name}", entry.options) for name, entry in settings.accounts.items()),
        *((f"agents.{name}", entry.options) for name, entry in settings.agents.items()),
        *((f"tools.{name}", entry) for name, entry in settings.tools.items()),
        *((f"installs.apps.{name}", app) for name, app in settings.installs.apps.items()),
    ]
    if settings.store.blobs is not None:
        parts.append(("store.blobs", settings.store.blobs))
    for part, options in parts:
        yield from ((part, key, ref) for key, ref in secrets_of(options))


async def missing(ref: SecretRef, secrets: SecretSource) -> tuple[str, str] | None:
    """What is wrong with a secret and how to solve it; None if it is set."""
    try:
        await secrets.secret(ref)
    except BridgeError as error:
        problem, _, todo = str(error).partition("; ")
        return problem, todo
    return None


def _without_key(settings: Settings) -> Iterator[Need]:
    """Agents at vendors' own addresses without a key; other servers may need none."""
    for name, entry in settings.agents.items():
        options = entry.options
        if getattr(options, "api_key", "none is asked for") is not None:
            continue
        field = type(options).model_fields.get("base_url")
        if field is not None and not field.is_required() and options.base_url == field.default:
            problem = f"api_key: {options.base_url} requires a key"
            variable = f"{name.upper().replace('-', '_')}_API_KEY"
            todo = f"say where it is found: api_key: {{env: {variable}}}"
            yield Need(f"agents.{name}", problem, todo)


def wrong_public_url(url: str) -> str:
    """Why platforms cannot call this address; empty if they can. Plain http is for the sandbox."""
    try:
        parts = urlsplit(url)
    except ValueError:  # http://[
        return f"public_url {url!r} is no https address"
    local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if local or (parts.scheme == "https" and parts.hostname and not parts.query + parts.fragment):
        return ""
    return f"public_url {url!r} is no https address"
