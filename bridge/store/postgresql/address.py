"""The address of a PostgreSQL store: how it is opened, and how it is shown without its password."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bridge.errors import ConfigError
from bridge.store.postgresql.connection import PostgresConnection

_CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Address:
    """postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE, and the password unless the environment
    has it (PGPASSWORD, a password file)."""

    url: str
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Without user, password and options, as errors and `status` show it."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path}"


def connect(address: Address) -> PostgresConnection:
    """Open a connection.

    Raises:
        ConfigError: the address cannot be parsed.
        psycopg.OperationalError: the server cannot be reached, or refuses.
    """
    try:
        options = conninfo_to_dict(address.url)
    except psycopg.ProgrammingError:
        raise ConfigError(
            "store.url is no address of a PostgreSQL database; write "
            "postgresql://USER@HOST:PORT/DATABASE"
        ) from None
    if address.password is not None:
        options["password"] = address.password
    options.setdefault("connect_timeout", _CONNECT_SECONDS)
    options.setdefault("application_name", "uacs-bridge")
    options.setdefault("client_encoding", "UTF8")
    # A server that is gone without a word is noticed after 20 s.
    options.setdefault("keepalives_idle", 10)
    options.setdefault("keepalives_interval", 5)
    options.setdefault("keepalives_count", 2)
    return PostgresConnection(psycopg.connect(make_conninfo("", **options), autocommit=True))
