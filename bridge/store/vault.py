"""The key that encrypts a whole store at rest: the user's key -> the key of its data.

Beside an encrypted store is its vault, a small file with the random key of the data, encrypted with
the user's key. Another user's key needs only another vault. The user's key comes from the
environment, and never lies beside the store.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from bridge.errors import ConfigError, StoreError

VARIABLE = "UACS_BRIDGE_STORE_KEY"
NEW_VARIABLE = "UACS_BRIDGE_NEW_STORE_KEY"
SHORTEST = 16  # characters of a user's key
MAGIC = b"SQLite format 3\0"  # how a database begins that is not encrypted
_KEY = 32
_NONCE = 12
_SALT = 16
SCRYPT = {"n": 2**15, "r": 8, "p": 1}  # 0.1 s and 32 MB, RFC 7914
_WHAT = b"uacs-bridge vault 1"


@dataclass(frozen=True)
class DataKey:
    """The key of a store's data."""

    secret: bytes

    @property
    def database(self) -> str:
        """As SQLCipher takes a raw key: 64 hexadecimal digits."""
        return self._part(b"database").hex()

    @property
    def files(self) -> bytes:
        """The key of the stored files."""
        return self._part(b"files")

    def _part(self, name: bytes) -> bytes:
        return HKDF(SHA256(), _KEY, salt=None, info=_WHAT + b" " + name).derive(self.secret)


# The stores that this process has open to write, by their paths, with their keys. Their files may
# not be opened here again by other means than SQLite's: closing any handle of a file ends all locks
# that the process has on it (POSIX), and another program that looks at the store then takes itself
# for the only one, and removes the write-ahead log.
_OPEN: dict[Path, DataKey | None] = {}


def remember_open(store: Path, key: DataKey | None) -> None:
    """Note that this process has a store open; from now on its file is not looked at."""
    _OPEN[store.absolute()] = key


def forget_open(store: Path) -> None:
    """Note that it is closed."""
    _OPEN.pop(store.absolute(), None)


def is_open_here(store: Path) -> bool:
    """Tell whether this process has the store open to write."""
    return store.absolute() in _OPEN


def vault_of(store: Path) -> Path:
    """Return the path of a store's vault."""
    return store.with_name(f"{store.name}.vault")


def is_encrypted(store: Path) -> bool:
    """Tell whether a store's file is encrypted: it has a vault, and does not begin as a database
    does. What is not there or empty is not."""
    if is_open_here(store):
        return _OPEN[store.absolute()] is not None
    if not vault_of(store).exists():
        return False
    try:
        with store.open("rb") as file:
            head = file.read(len(MAGIC))
    except FileNotFoundError:
        return False
    return head not in (b"", MAGIC)


def data_key_of(store: Path) -> DataKey | None:
    """Return the key of an encrypted store; None for one that is not encrypted.

    Raises:
        StoreError: the user's key is missing or wrong, or the vault is damaged.
    """
    if is_open_here(store):
        return _OPEN[store.absolute()]
    return open_vault(store, users_key(VARIABLE, store)) if is_encrypted(store) else None


def files_key_of(store: Path) -> bytes | None:
    """Return the key of an encrypted store's files; None for a store that is not encrypted. Raises
    StoreError, as `data_key_of` does."""
    key = data_key_of(store)
    return None if key is None else key.files


def users_key(variable: str, store: Path) -> str:
    """Return the user's key, from the environment variable, or from the file that `VARIABLE_FILE`
    names.

    Raises:
        StoreError: there is none.
        ConfigError: it is too short to be a key.
    """
    text = os.environ.get(variable, "")
    if not text and (name := os.environ.get(f"{variable}_FILE")):
        try:
            text = Path(name).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"The file that {variable}_FILE names cannot be read: {error}"
            ) from None
    if not text:
        raise StoreError(
            f"The store {str(store)!r} is encrypted; set {variable} to its key, or {variable}_FILE "
            "to a file with the key"
        )
    if len(text) < SHORTEST:
        raise ConfigError(
            f"{variable} has {len(text)} characters; a key needs {SHORTEST} or more: openssl rand "
            "-base64 32"
        )
    return text


def new_vault(users_key: str, data_key: DataKey | None = None) -> bytes:
    """Return the contents of a vault, with a new key of the data if none is given."""
    secret = data_key.secret if data_key else os.urandom(_KEY)
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    wrapped = AESGCM(_derived(users_key, salt)).encrypt(nonce, secret, _WHAT)
    values = {"salt": salt, "nonce": nonce, "key": wrapped}
    fields = {name: base64.b64encode(value).decode() for name, value in values.items()}
    return json.dumps({"version": 1, **fields}).encode() + b"\n"


def open_vault(store: Path, users_key: str) -> DataKey:
    """Return the key in the vault of a store.

    Raises:
        StoreError: the key is wrong, or the vault is missing or damaged.
    """
    path = vault_of(store)
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise StoreError(f"The vault {str(path)!r} cannot be read: {error.strerror}") from None
    return _opened(contents, users_key, path)


@lru_cache(maxsize=4)  # a command opens some connections, and the derivation takes 0.1 s
def _opened(contents: bytes, users_key: str, path: Path) -> DataKey:
    try:
        fields = json.loads(contents)
        salt, nonce, wrapped = (
            base64.b64decode(fields[name], validate=True) for name in ("salt", "nonce", "key")
        )
        version = fields["version"]
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise StoreError(
            f"The vault {str(path)!r} is damaged; put its copy from a backup there"
        ) from None
    if version != 1:
        raise StoreError(f"The vault {str(path)!r} has version {version!r}, which is not known")
    try:
        return DataKey(AESGCM(_derived(users_key, salt)).decrypt(nonce, wrapped, _WHAT))
    except (InvalidTag, ValueError):
        raise StoreError(
            f"The key in {VARIABLE} does not open {str(path)!r}; give the key with which the store "
            "was encrypted, or to which it was changed last"
        ) from None


def _derived(users_key: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=_KEY, **SCRYPT).derive(users_key.encode())


def write_vault(path: Path, contents: bytes) -> None:
    """Write a vault in one step, readable by its owner alone, and wait until it is on the disk."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(contents)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
