"""Settings of a server of tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bridge.content.text.globs import Glob
from bridge.model.secret_refs import SecretRef

_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")
_HEADER = re.compile(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
_LOCAL = ("localhost", "127.0.0.1", "::1")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Globs = Annotated[tuple[Glob, ...], BeforeValidator(_as_list)]


class ToolServerSettings(BaseModel):
    """A server of the Model Context Protocol: a program (`command`) or an address (`url`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = Field(
        default=None, min_length=1, description="the program that is started"
    )
    args: tuple[str, ...] = Field(
        default=(), description="its arguments; they can be read by all on this machine: no secrets"
    )
    env: dict[str, SecretRef] = Field(
        default={},
        description="variables of its environment: where the value of each is found; of ours it "
        "sees PATH, HOME and the like alone",
    )
    folder: Path | None = Field(default=None, description="the folder that it is started in")
    stderr: Path | None = Field(
        default=None,
        description="a file for what it writes on its standard error; else that is dropped",
    )
    url: str | None = Field(
        default=None, description="the address of a server over Streamable HTTP"
    )
    bearer: SecretRef | None = Field(
        default=None, description="where its token is found (Authorization: Bearer ...)"
    )
    headers: dict[str, SecretRef] = Field(
        default={}, description="more headers of each request: where the value of each is found"
    )
    allow: Globs = Field(
        default=("*",), description="globs of its tools' names: only these are offered"
    )
    deny: Globs = Field(
        default=(), description="globs of its tools' names: these are never offered"
    )
    timeout: float = Field(
        default=60.0, gt=0, le=3600, description="seconds that one call may take"
    )
    result_kb: int = Field(
        default=64, ge=1, le=4096, description="text of one result that a model is given, in KB"
    )
    approve: Literal["hints", "always", "never"] | tuple[Glob, ...] = Field(
        default="hints",
        description="which calls somebody must allow: hints: those of tools that are not marked "
        "as reading only, or as not destructive; always; never; or globs of names",
    )
    approvers: Globs = Field(
        default=("asker", "admins"),
        min_length=1,
        description="who may allow a call: asker, admins, ids of actors or people, globs of ids",
    )
    quorum: int = Field(default=1, ge=1, le=10, description="how many people must allow it")
    approval_minutes: float = Field(
        default=10.0,
        gt=0,
        le=10_080,
        description="minutes after which it is refused, if nobody decides",
    )

    @model_validator(mode="after")
    def _one_way(self) -> ToolServerSettings:
        if (self.command is None) == (self.url is None):
            raise ValueError("give one of command (a program) and url (an address)")
        if self.url is not None and (self.args or self.env or self.folder or self.stderr):
            raise ValueError("args, env, folder and stderr belong to a command, not to a url")
        if self.command is not None and (self.headers or self.bearer):
            raise ValueError("headers and bearer belong to a url, not to a command")
        if self.url is not None:
            _check_url(self.url, secret=bool(self.headers or self.bearer))
        for name in self.env:
            if not _VARIABLE.match(name):
                raise ValueError(f"env: {name!r} is no name of a variable")
        for name in self.headers:
            if not _HEADER.match(name):
                raise ValueError(f"headers: {name!r} is no name of a header")
        return self


def _check_url(url: str, *, secret: bool) -> None:
    try:
        found = urlsplit(url)
        host = found.hostname
    except ValueError:
        found, host = urlsplit(""), None
    if found.scheme not in ("http", "https") or not host:
        raise ValueError("url must be an address such as https://tools.example.org/mcp")
    if found.username or found.password:
        raise ValueError("url must hold no user and password; use bearer or headers")
    if found.scheme == "http" and secret and host not in _LOCAL:
        raise ValueError("a secret goes to https addresses only; plain http is for this machine")
