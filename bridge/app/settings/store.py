"""Settings of the store: where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from bridge.app.settings.blobs import BlobSettings
from bridge.app.settings.strict import StrictSettings
from bridge.app.settings.yaml_file import DEFAULT_STORE
from bridge.model.secret_refs import SecretRef


class StoreSettings(StrictSettings):
    """Settings of the store."""

    path: Path = Field(
        default=DEFAULT_STORE,
        description="The SQLite file; relative paths are relative to the configuration file. "
        "Stored files and the key are beside it, also with a PostgreSQL database.",
    )
    url: str | None = Field(
        default=None,
        description="A PostgreSQL database in place of the file: "
        "postgresql://USER@HOST:PORT/DATABASE, without a password.",
    )
    password: SecretRef | None = Field(
        default=None,
        description="Where the password of the database is: {env: NAME} or {file: PATH}.",
    )
    synchronous: Literal["FULL", "NORMAL"] = Field(
        default="FULL",
        description="FULL survives a power cut with every message; NORMAL is a little faster.",
    )

    blobs: BlobSettings | None = Field(
        default=None,
        description="The bucket of files; null: a folder beside the store.",
    )

    @field_validator("url")
    @classmethod
    def _database(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("postgresql", "postgres"):
            raise ValueError("this is no address of a database: postgresql://USER@HOST/DATABASE")
        if parts.password is not None:
            raise ValueError(
                "this file never contains secrets; take the password out and say where it is "
                "found: password: {env: POSTGRES_PASSWORD}"
            )
        return url

    @field_validator("password")
    @classmethod
    def _outside(cls, password: SecretRef | None) -> SecretRef | None:
        if password is not None and password.sealed is not None:
            raise ValueError("it cannot be in the store that it opens: give env or file")
        return password
