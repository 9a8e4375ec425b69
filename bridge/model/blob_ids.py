"""The hash of a file <-> the id of its stored bytes, and keys of values about a file. Pure."""

from __future__ import annotations

import re

_PREFIX = "blob:sha256-"

DERIVED = "derived:"
"""Begins the keys of values that tell something of a file's content; such a key ends with `:` and
the file's hash (`sha256_of_key`), and the erasure of the file removes the value."""

_FILE_ID = re.compile(rf"{_PREFIX}([0-9a-f]{{64}})")


def file_id_of(sha256: str) -> str:
    """Returns the id of the file with this hash (64 lower-case hexadecimal digits)."""
    return f"{_PREFIX}{sha256}"


def sha256_of(file_id: str) -> str | None:
    """Returns the hash of a file id; None for any other id, such as a platform's own."""
    match = _FILE_ID.fullmatch(file_id)
    return match.group(1) if match else None


def sha256_of_key(key: str) -> str:
    """Returns the hash of the file that the value under this key is about: `KIND:MORE:HASH`."""
    return key.rpartition(":")[2]
