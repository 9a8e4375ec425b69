"""Codes that people copy from one place to another: how they are made, typed and stored."""

from __future__ import annotations

import hashlib
import re
import secrets

from bridge.uacs import Message, TextPart

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none is taken for another
_ALIKE = str.maketrans("OIL", "011")
_LENGTH = 8
_PAIRING = re.compile(r"\s*(?:pair\s+)?([0-9a-z]{4}-[0-9a-z]{4})\s*", re.IGNORECASE)


def new_code() -> str:
    """Returns a new code, as `7F3K-9QXM`: 40 bits, too many to guess in the few allowed tries."""
    code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    return f"{code[:4]}-{code[4:]}"


def digest_of(code: str) -> str:
    """Returns the digest that the store holds, the same however the code is typed."""
    letters = "".join(sign for sign in code.upper() if sign.isalnum()).translate(_ALIKE)
    return hashlib.sha256(letters.encode()).hexdigest()


def pairing_code_in(message: Message) -> str | None:
    """Returns the code that is the whole text of the message, with or without "pair" before it;
    None for any other message."""
    first = message.content[0]
    if len(message.content) > 1 or not isinstance(first, TextPart):
        return None
    match = _PAIRING.fullmatch(first.text)
    return match and match[1]
