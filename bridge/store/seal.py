"""Secrets at rest: text <-> AES-256-GCM bytes; and where the key comes from."""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bridge.errors import ConfigError, StoreError
from bridge.store.connection import Connection
from bridge.store.place import make_folder

_VERSION = b"\x01"
_NONCE = 12
_KEY = 32
KEY_CHECK = "This store"  # as errors begin: "This store does not open with this key"


class Seal:
    """Encrypts the secrets of one store.

    `what` names the purpose of a value: a value that was sealed for one purpose opens for no other.
    Without a key everything but sealed values works.
    """

    def __init__(self, key: bytes | None) -> None:
        if key is not None and len(key) != _KEY:
            raise ConfigError(f"The key of the store must be {_KEY} bytes, not {len(key)}")
        self._cipher = None if key is None else AESGCM(key)

    @property
    def has_key(self) -> bool:
        return self._cipher is not None

    def close(self, text: str, name: str) -> bytes:
        nonce = os.urandom(_NONCE)
        return _VERSION + nonce + self._with_key(name).encrypt(nonce, text.encode(), name.encode())

    def open(self, sealed: bytes, name: str) -> str:
        """Decrypt a value. Raises StoreError when another key sealed it, or when it is damaged."""
        if sealed[:1] != _VERSION:
            raise StoreError(f"{name} was sealed in a way that this version does not know")
        nonce, secret = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        try:
            return self._with_key(name).decrypt(nonce, secret, name.encode()).decode()
        except (InvalidTag, ValueError):
            raise StoreError(
                f"{name} does not open with this key; start with the key that sealed it"
            ) from None

    def _with_key(self, name: str) -> AESGCM:
        if self._cipher is None:
            raise StoreError(f"{name} is sealed; give the store its key (UACS_BRIDGE_KEY)")
        return self._cipher


def make_key() -> bytes:
    return os.urandom(_KEY)


def key_to_text(key: bytes) -> str:
    """Return the key as it stands in UACS_BRIDGE_KEY or in the key file."""
    return base64.urlsafe_b64encode(key).decode()


def text_to_key(text: str) -> bytes:
    """Parse a key. Raises ConfigError for an invalid one; never quotes the text, which may be a
    secret."""
    try:
        key = base64.b64decode(text.strip(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY:
        raise ConfigError(
            f"UACS_BRIDGE_KEY (or the key file) must be {_KEY} bytes in URL-safe base64; a key "
            "file that is not there is made anew: unset UACS_BRIDGE_KEY to have one"
        )
    return key


def load_or_make_key(path: Path) -> bytes:
    """Return the key of a file; creates one that only its owner can read when there is no file.

    Raises:
        ConfigError: the file holds no key.
    """
    make_folder(path.parent)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _key_in(path)
    key = make_key()
    with os.fdopen(file, "w", encoding="utf-8") as out:
        out.write(key_to_text(key) + "\n")
        out.flush()
        os.fsync(out.fileno())
    return key


def _key_in(path: Path) -> bytes:
    try:
        return text_to_key(path.read_text("utf-8"))
    except (ConfigError, UnicodeDecodeError):
        raise ConfigError(
            f"{str(path)!r} holds no key of a store; it was not touched. Put the store's key back, "
            "or give store.path another name if the file belongs to another program"
        ) from None


def check_key(db: Connection, seal: Seal) -> None:
    """Raise StoreError unless this key has sealed the store's values so far."""
    if not seal.has_key:
        return
    known = "SELECT value FROM meta WHERE key = 'key_check'"
    if (row := db.execute(known).fetchone()) is None:
        db.execute(  # another process may begin at the same moment
            "INSERT INTO meta (key, value) VALUES ('key_check', ?) ON CONFLICT (key) DO NOTHING",
            (seal.close("", KEY_CHECK),),
        )
        row = db.execute(known).fetchone()
    seal.open(row[0], KEY_CHECK)
