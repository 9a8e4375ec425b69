"""Translates PostgreSQL's errors to the errors of the bridge, in one place."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from bridge.errors import StoreCorrupt, StoreError, StoreFull

TAKEN_OVER = "UA001"  # raised by the function `fence`

_REFUSED = (
    errors.InvalidPassword,
    errors.InvalidAuthorizationSpecification,
    errors.InsufficientPrivilege,
    errors.InvalidCatalogName,
)


def is_lost(error: BaseException) -> bool:
    """Whether the connection ended, or cannot be made now: the same may succeed a moment later."""
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return True  # this process was stopped in the middle of a transaction
    return (
        isinstance(error, psycopg.OperationalError)
        and not isinstance(error, (*_REFUSED, errors.DiskFull, errors.PipelineAborted))
        and (error.sqlstate is None or error.sqlstate.startswith(("08", "57P")))
    )


def store_error(error: BaseException, name: str) -> StoreError:
    """Translate an error of the server or of the connection to a StoreError that says what to do.
    `name`: the address of the store, without its password."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, errors.DiskFull):
        return StoreFull(
            f"No room left for the store {name!r}; make room on the disk of its server: the bridge "
            "goes on by itself, platforms hand over again what was not kept"
        )
    if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
        return StoreCorrupt(
            f"The store {name!r} is damaged ({_text(error)}); stop the bridge and restore a backup"
        )
    if isinstance(error, psycopg.Error) and error.sqlstate == TAKEN_OVER:
        return taken_over(name)
    if isinstance(error, _REFUSED) or _is_refusal(error):
        return StoreError(
            f"The server of the store {name!r} refuses: {_text(error)}; check the user, the "
            "password and the database in store.url"
        )
    if is_lost(error):
        return StoreError(
            f"The server of the store {name!r} cannot be reached ({_text(error)}); check that it "
            "runs, and the host and port in store.url"
        )
    return StoreError(f"The store {name!r} failed: {_text(error)} ({type(error).__name__})")


def taken_over(name: str) -> StoreError:
    """Tell that the lease of a store has passed to another process."""
    return StoreError(
        f"Another process has taken over the store {name!r}, because this one did not answer "
        "for too long; start this one again"
    )


def _is_refusal(error: BaseException) -> bool:
    """A refusal while connecting has no SQLSTATE, only its text."""
    text = str(error)
    return isinstance(error, psycopg.OperationalError) and any(
        part in text
        for part in ("authentication failed", "no password supplied", "does not exist", "pg_hba")
    )


def _text(error: BaseException) -> str:
    """The first line: the others quote statements and values."""
    return str(error).strip().split("\n", 1)[0]


@contextmanager
def translated(name: str) -> Generator[None]:
    """Raise StoreError for errors of the server and of the connection."""
    try:
        yield
    except (psycopg.Error, OverflowError) as error:
        raise store_error(error, name) from error
