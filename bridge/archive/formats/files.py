"""What the formats share about files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_fingerprint(path: Path) -> str:
    """Return a digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]
