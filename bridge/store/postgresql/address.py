"""The address of a PostgreSQL store: how it is opened, and how it is shown without its password."""

from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bridge.errors import ConfigError
from bridge.store.postgresql.connection import PostgresConnection

SCHEMES = ("postgresql", "postgres")
_CONNECT_SECONDS = 10


def shown(url: str) -> str:
    """Return the address without user, password and options, as errors and `status` show it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def connect(url: str) -> PostgresConnection:
    """Open a connection.

    Raises:
        ConfigError: the address cannot be parsed.
        psycopg.OperationalError: the server cannot be reached, or refuses.
    """
    try:
        options = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise ConfigError(
            "store.url is no address of a PostgreSQL database; write "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        ) from None
    options.setdefault("connect_timeout", _CONNECT_SECONDS)
    options.setdefault("application_name", "uacs-bridge")
    options.setdefault("client_encoding", "UTF8")
    # A server that is gone without a word is noticed after 20 s.
    options.setdefault("keepalives_idle", 10)
    options.setdefault("keepalives_interval", 5)
    options.setdefault("keepalives_count", 2)
    return PostgresConnection(psycopg.connect(make_conninfo("", **options), autocommit=True))
