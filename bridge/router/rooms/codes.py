"""Codes that people carry from one place to another: how they are made, typed and kept."""

from __future__ import annotations

import hashlib
import secrets

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none is taken for another
_ALIKE = str.maketrans("OIL", "011")
_LENGTH = 8


def new_code() -> str:
    """`7F3K-9QXM`: 40 bits, which nobody guesses in the few tries that there are."""
    code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    return f"{code[:4]}-{code[4:]}"


def digest_of(code: str) -> str:
    """The same for a code however it is typed; what is kept of it."""
    letters = "".join(one for one in code.upper() if one.isalnum()).translate(_ALIKE)
    return hashlib.sha256(letters.encode()).hexdigest()
