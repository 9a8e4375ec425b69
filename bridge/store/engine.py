"""Which SQLite opens a store: Python's own, or SQLCipher for an encrypted one.

Both have the same interface, but error classes of their own, as has PostgreSQL's driver: `errors()`
has those that may occur.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any, Literal, cast

from bridge.errors import StoreError
from bridge.runtime.extras import how_to_install
from bridge.store.vault import DataKey

_MODULE = "sqlcipher3.dbapi2"


def connect(
    path: Path, mode: Literal["rw", "ro"], key: DataKey | None, *, cached_statements: int = 256
) -> sqlite3.Connection:
    """Open an existing file; with a key, one that is encrypted with it.

    Raises:
        StoreError: SQLCipher is not installed.
    """
    sqlite: Any = sqlite3 if key is None else _sqlcipher()
    db = sqlite.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=cached_statements,
    )
    if key is not None:
        db.execute(
            "PRAGMA cipher_log_level = NONE"
        )  # it would write to stderr; its errors are raised
        db.execute(f"PRAGMA key = \"x'{key.database}'\"")
    return cast("sqlite3.Connection", db)


def copy(source: Path, key: DataKey | None, target: Path, target_key: DataKey | None) -> None:
    """Copy a database that nobody writes into an empty file, with another key or none.

    Raises:
        StoreError: SQLCipher is not installed.
    """
    sqlcipher = _sqlcipher()
    db = sqlcipher.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        db.execute("PRAGMA cipher_log_level = NONE")
        if key is not None:
            db.execute(f"PRAGMA key = \"x'{key.database}'\"")
        secret = "" if target_key is None else f"x'{target_key.database}'"
        address = f"{target.absolute().as_uri()}?mode=rw"
        db.execute("ATTACH DATABASE ? AS target KEY ?", (address, secret))
        db.execute("SELECT sqlcipher_export('target')").fetchall()
        for pragma in ("user_version", "application_id"):
            ((value,),) = db.execute(f"PRAGMA {pragma}").fetchall()
            db.execute(f"PRAGMA target.{pragma} = {value}")
        db.execute("DETACH DATABASE target")
    finally:
        db.close()


def errors() -> tuple[type[Exception], ...]:
    """Return the base classes of the errors of all engines in use."""
    return _classes("Error")


def integrity_errors() -> tuple[type[Exception], ...]:
    """Return the classes of errors that a constraint raises."""
    return _classes("IntegrityError")


def _classes(name: str) -> tuple[type[Exception], ...]:
    modules: list[Any] = [sqlite3]
    modules += [sys.modules[name] for name in (_MODULE, "psycopg") if name in sys.modules]
    return tuple(getattr(module, name) for module in modules)


def _sqlcipher() -> Any:
    try:
        from sqlcipher3 import dbapi2
    except ImportError:
        raise StoreError(
            f"The store is encrypted, and the package sqlcipher3 is missing: "
            f"{how_to_install('encryption')}"
        ) from None
    return dbapi2
