"""The location of a secret: the environment, a file, or the sealed store. Never the YAML."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator


class SecretRef(BaseModel):
    """The location of a secret: exactly one of `env`, `file` and `sealed`.

    `sealed` is the secret's name in the sealed store of `uacs-bridge`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str | None = None
    file: str | None = None
    sealed: str | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> SecretRef:
        if sum(value is not None for value in (self.env, self.file, self.sealed)) != 1:
            raise ValueError("give exactly one of env, file and sealed")
        return self

    def __str__(self) -> str:
        if self.env is not None:
            return f"environment variable {self.env}"
        return (
            f"file {str(self.file)!r}"
            if self.file is not None
            else f"sealed secret {self.sealed!r}"
        )
