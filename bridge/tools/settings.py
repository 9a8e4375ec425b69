"""Settings of a tool server."""

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

    command: str | None = Field(default=None, min_length=1, description="the program to start")
    args: tuple[str, ...] = Field(
        default=(),
        description="its arguments; everybody on this machine can read them, so no secrets",
    )
    env: dict[str, SecretRef] = Field(
        default={},
        description="its environment variables, each with the secret that holds its value; from "
        "the bridge's own "
        "it has only PATH, HOME and the like",
    )
    folder: Path | None = Field(default=None, description="its working directory")
    stderr: Path | None = Field(
        default=None,
        description="a file for its standard error; without it that is discarded",
    )
    url: str | None = Field(
        default=None, description="the address of a server over Streamable HTTP"
    )
    bearer: SecretRef | None = Field(
        default=None, description="the secret with its token (Authorization: Bearer ...)"
    )
    headers: dict[str, SecretRef] = Field(
        default={},
        description="further headers of each request, each with the secret that holds its value",
    )
    allow: Globs = Field(default=("*",), description="globs of tool names: only these are offered")
    deny: Globs = Field(default=(), description="globs of tool names: these are never offered")
    timeout: float = Field(
        default=60.0, gt=0, le=3600, description="seconds that one call may take"
    )
    result_kb: int = Field(
        default=64, ge=1, le=4096, description="text of one result that a model receives, in KB"
    )
    approve: Literal["hints", "always", "never"] | tuple[Glob, ...] = Field(
        default="hints",
        description="the calls that need an approval: hints: those of tools that are not marked "
        "as read-only or as not destructive; always; never; or globs of names",
    )
    approvers: Globs = Field(
        default=("asker", "admins"),
        min_length=1,
        description="who may approve a call: asker, admins, ids of actors or people, globs of ids",
    )
    quorum: int = Field(default=1, ge=1, le=10, description="how many people must approve a call")
    approval_minutes: float = Field(
        default=10.0,
        gt=0,
        le=10_080,
        description="minutes after which a call without a decision is refused",
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
                raise ValueError(f"env: {name!r} is not a variable name")
        for name in self.headers:
            if not _HEADER.match(name):
                raise ValueError(f"headers: {name!r} is not a header name")
        return self


def _check_url(url: str, *, secret: bool) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("url must be an address such as https://tools.example.org/mcp")
    if parts.username or parts.password:
        raise ValueError("url must contain no user and password; use bearer or headers")
    if parts.scheme == "http" and secret and host not in _LOCAL:
        raise ValueError("a secret goes to https addresses only; plain http is for this machine")
