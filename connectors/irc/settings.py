"""What a person writes in the configuration for one connection to an IRC network."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bridge.model.secret_refs import SecretRef

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]{0,49}")
_ONE_WORD = re.compile(r"[^\s\0:,!@][^\s\0,!@]{0,99}")


class IrcSettings(BaseModel):
    """One bot on one network."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(description="The server's host name, e.g. irc.libera.chat.")
    port: int = Field(default=6697, ge=1, le=65535, description="The server's port.")
    tls: bool = Field(
        default=True,
        description="Whether the connection is encrypted; false is taken for this machine alone.",
    )
    ca_file: str | None = Field(
        default=None, description="A PEM file of authorities to trust instead of the system's."
    )
    client_certificate: str | None = Field(
        default=None,
        description="A PEM file with certificate and key, for SASL EXTERNAL and CertFP.",
    )
    network: str | None = Field(
        default=None,
        description="A short name of the network, part of all ids; left out: the host. Two "
        "servers of one network need the same name.",
    )
    nick: str = Field(description="The bot's nick.")
    alternative_nicks: tuple[str, ...] = Field(
        default=(), description="Nicks to take while `nick` is in use; left out: with _ behind it."
    )
    username: str = Field(default="bridge", description="The user name (ident) of the bot.")
    realname: str = Field(
        default="Bridge bot",
        description="The real name: say who runs the bot and how to reach you.",
    )
    server_password: SecretRef | None = Field(
        default=None, description="Where the server's own password is found, if it has one."
    )
    sasl: Literal["plain", "external", "none"] = Field(
        default="none",
        description="How the bot logs in: `plain` with account and password, `external` with its "
        "client certificate. If that fails, the bot does not join.",
    )
    account: str | None = Field(
        default=None, description="The bot's services account; left out: `nick`."
    )
    password: SecretRef | None = Field(
        default=None,
        description="Where the account's password is found: for SASL PLAIN, or for NickServ where "
        "`sasl` is none.",
    )
    nickserv: str = Field(
        default="NickServ", description="The service that identifies nicks where there is no SASL."
    )
    channels: tuple[str, ...] = Field(
        default=(),
        description="Channels to join beside those of the rooms.",
    )
    channel_keys: dict[str, SecretRef] = Field(
        default={}, description="Where the keys of channels with mode +k are found, by channel."
    )
    max_lines: int = Field(
        default=8,
        ge=2,
        le=100,
        description="The most lines that one message may take; a longer one ends with a link to "
        "its text, if web.public_url is set.",
    )
    quiet_names: bool = Field(
        default=True,
        description="Whether names in front of messages get an invisible character, so that they "
        "ring for nobody.",
    )
    burst: int = Field(
        default=4,
        ge=1,
        le=1000,
        description="Lines that may be sent at once; see lines_per_second.",
    )
    lines_per_second: float = Field(
        default=1.0, gt=0, le=1000, description="Lines that may be sent in a second, on average."
    )
    puppets: bool = Field(
        default=False,
        description="Whether each author speaks through a connection of their own. Ask the "
        "network's staff first.",
    )
    max_puppets: int = Field(
        default=10, ge=1, le=200, description="The most connections of authors at a time."
    )
    puppet_suffix: str = Field(
        default="[b]", max_length=10, description="What stands behind the nicks of authors."
    )
    puppet_idle_minutes: float = Field(
        default=60.0,
        gt=0,
        description="How long an author's connection stays when they are silent.",
    )

    @property
    def network_name(self) -> str:
        return self.network or self.host.lower()

    @property
    def account_name(self) -> str:
        return self.account or self.nick

    @field_validator("nick", "alternative_nicks")
    @classmethod
    def _is_nick(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for nick in (value,) if isinstance(value, str) else value:
            if not _NICK.fullmatch(nick):
                raise ValueError(
                    f"{nick!r} is no nick; it begins with a letter and has letters, digits and "
                    "[]\\`_^{|}- alone"
                )
        return value

    @field_validator("username", "network", "nickserv")
    @classmethod
    def _is_one_word(cls, value: str | None) -> str | None:
        if value is not None and not _ONE_WORD.fullmatch(value):
            raise ValueError(f"{value!r} must be one word without : , ! and @")
        return value

    @model_validator(mode="after")
    def _can_log_in(self) -> IrcSettings:
        if not self.tls and self.host not in LOOPBACK:
            raise ValueError(
                "tls: false would send everything unencrypted; only this machine is taken so"
            )
        if self.sasl == "plain" and self.password is None:
            raise ValueError("sasl: plain needs `password`: say where it is found")
        if self.sasl == "external" and self.client_certificate is None:
            raise ValueError("sasl: external needs `client_certificate`, a PEM file")
        return self
