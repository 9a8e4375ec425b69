"""What a copy has brought to a PostgreSQL database so far: the table `copied`, which a whole store
does not have any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.errors import StoreError
from bridge.store.postgresql.connection import PostgresConnection

NAME = "copied"
_CONDITIONS = {"meta": "key = 'key_check'"}  # versions are of each store's own
_EPOCH = "epoch"  # of the lease, in place of a piece: a bridge that uses the target raises it
_MAKE = "CREATE TABLE copied (piece text PRIMARY KEY, digest bytea NOT NULL)"
_NOTE = """
INSERT INTO copied (piece, digest) VALUES ($1, $2)
ON CONFLICT (piece) DO UPDATE SET digest = excluded.digest RETURNING 1
"""
_DIGESTS = "SELECT piece, digest FROM copied WHERE piece <> $1"
_FORGET = "DELETE FROM copied WHERE piece = $1 RETURNING 1"
_LEASE = "SELECT epoch, committed FROM leases"


@dataclass(frozen=True)
class Piece:
    """A range of numbers of a table, `width` from `first` on; or with width 0 the whole table."""

    table: str
    first: int = 0
    width: int = 0

    def __str__(self) -> str:
        return f"{self.table} {self.first} {self.width}"

    @classmethod
    def of(cls, text: str) -> Piece:
        table, first, width = text.split()
        return cls(table, int(first), int(width))

    def condition(self, column: str) -> str:
        """Whether a row is in the piece, in the SQL of both engines."""
        if self.width == 0:
            return _CONDITIONS.get(self.table, "true")
        return f'"{column}" >= {self.first} AND "{column}" < {self.first + self.width}'


def begin(db: PostgresConnection, name: str) -> None:
    """Make the table `copied` in a new target.

    Raises:
        StoreError: a bridge used the target.
    """
    epoch, committed = next(db.rows(_LEASE), (0, 0))
    ((begun,),) = db.rows("SELECT to_regclass('copied') IS NOT NULL")
    if begun:
        (noted,) = next(db.rows("SELECT digest FROM copied WHERE piece = $1", (_EPOCH,)))
        last = int.from_bytes(noted)
        # A copy that was killed at its start left an epoch in which nothing was committed.
        if epoch == last or (epoch == last + 1 and committed == 0):
            return
    elif epoch == 0 and not list(db.rows("SELECT 1 FROM message_rows LIMIT 1")):
        with db.native.transaction():
            db.control(_MAKE)
            list(db.rows(_NOTE, (_EPOCH, bytes(8))))
        return
    raise StoreError(
        f"The store {name!r} is whole already or was used by a bridge, and would be overwritten; "
        "nothing was changed. To copy again, drop its database and create it anew"
    )


def digests(db: PostgresConnection) -> Mapping[Piece, bytes]:
    """Return the digests of the pieces that the target has."""
    rows = db.rows(_DIGESTS, (_EPOCH,))
    return {Piece.of(text): bytes(digest) for text, digest in rows}


def note(db: PostgresConnection, piece: Piece, digest: bytes) -> None:
    """Note that a piece is there, in the transaction that brings it."""
    list(db.rows(_NOTE, (str(piece), digest)))


def note_epoch(db: PostgresConnection, epoch: int) -> None:
    """Note in which epoch of the lease the target is written."""
    list(db.rows(_NOTE, (_EPOCH, epoch.to_bytes(8))))


def forget(db: PostgresConnection, piece: Piece) -> None:
    list(db.rows(_FORGET, (str(piece),)))


def drop(db: PostgresConnection) -> None:
    """Leave a store like any other."""
    db.control(f"DROP TABLE {NAME}")
