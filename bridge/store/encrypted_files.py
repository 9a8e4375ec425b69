"""Stored files at rest: chunks of AES-256-GCM, so that a part can be read without the rest.

`magic, salt, chunk, chunk, ...`: each file has a key of its own, derived from the salt; a chunk's
nonce is its number and whether it is the last, so that no chunk can be moved, doubled or cut off.
"""

from __future__ import annotations

import io
import os
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bridge.errors import FileDamaged, StoreError

MAGIC = b"UACSENC1"
_SALT = 16
HEAD = len(MAGIC) + _SALT
_CHUNK = 65_536  # plain bytes of a chunk; the last may be shorter
_TAG = 16


class Encryptor:
    """Encrypts the bytes of one file, piece by piece."""

    def __init__(self, key: bytes) -> None:
        salt = os.urandom(_SALT)
        self.head = MAGIC + salt
        self._cipher = _cipher_of(key, salt)
        self._held = b""
        self._number = 0

    def update(self, piece: bytes) -> bytes:
        """Return what can be written so far; a last chunk is held back."""
        self._held += piece
        written: list[bytes] = []
        while len(self._held) > _CHUNK:
            written.append(self._sealed(self._held[:_CHUNK], last=False))
            self._held = self._held[_CHUNK:]
        return b"".join(written)

    def finish(self) -> bytes:
        """Return the last chunk, which an empty file has, too."""
        return self._sealed(self._held, last=True)

    def _sealed(self, plain: bytes, *, last: bool) -> bytes:
        sealed = self._cipher.encrypt(_nonce(self._number, last=last), plain, None)
        self._number += 1
        return sealed


class DecryptedFile(io.RawIOBase):
    """An encrypted file as its plain bytes; it can be read from any place.

    Raises FileDamaged from `read`.
    """

    def __init__(self, file: BinaryIO, key: bytes, name: str) -> None:
        super().__init__()
        self._file = file
        self._name = name
        file.seek(0, os.SEEK_END)
        self._stored = file.tell()
        self.size = plain_size(self._stored)
        file.seek(len(MAGIC))
        self._cipher = _cipher_of(key, file.read(_SALT))
        self._at = 0
        self._chunk: tuple[int, bytes] = (-1, b"")

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the plain bytes."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def tell(self) -> int:
        """The place in the plain bytes."""
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        end = self.size if size is None or size < 0 else min(self._at + size, self.size)
        pieces: list[bytes] = []
        while self._at < end:
            number, offset = divmod(self._at, _CHUNK)
            plain = self._plain(number)[offset : offset + end - self._at]
            if not plain:
                raise _damaged(self._name)
            pieces.append(plain)
            self._at += len(plain)
        if not self.size:
            self._plain(0)
        return b"".join(pieces)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _plain(self, number: int) -> bytes:
        if self._chunk[0] != number:
            begin = HEAD + number * (_CHUNK + _TAG)
            self._file.seek(begin)
            sealed = self._file.read(_CHUNK + _TAG)
            last = begin + len(sealed) == self._stored
            self._chunk = (number, _opened(self._cipher, number, sealed, self._name, last=last))
        return self._chunk[1]


class Decryptor:
    """Decrypts the bytes of one encrypted file, piece by piece, from the chunk `number` on.

    `head` is how the file begins, `stored` the number of its bytes. Raises FileDamaged.
    """

    def __init__(self, key: bytes, head: bytes, stored: int, name: str, number: int = 0) -> None:
        self._cipher = _cipher_of(key, head[len(MAGIC) : HEAD])
        self._last = _chunks(stored) - 1
        self._number = number
        self._name = name
        self._held = b""

    def update(self, piece: bytes) -> bytes:
        """Return the plain bytes of the chunks that are complete; the last one comes from
        `finish`."""
        self._held += piece
        size = _CHUNK + _TAG
        at = 0
        plain: list[bytes] = []
        while self._number < self._last and len(self._held) - at >= size:
            plain.append(self._next(self._held[at : at + size]))
            at += size
        self._held = self._held[at:]
        return b"".join(plain)

    def finish(self) -> bytes:
        """Return the plain bytes of the last chunk."""
        if self._number != self._last:
            raise _damaged(self._name)
        return self._next(self._held)

    def _next(self, sealed: bytes) -> bytes:
        last = self._number == self._last
        plain = _opened(self._cipher, self._number, sealed, self._name, last=last)
        self._number += 1
        return plain


def plain_size(stored: int) -> int:
    """Return the plain bytes of an encrypted file with so many bytes."""
    return max(stored - HEAD - _chunks(stored) * _TAG, 0)


def encrypted_size(plain: int) -> int:
    """Return the bytes of an encrypted file with so many plain bytes."""
    return HEAD + plain + max(-(-plain // _CHUNK), 1) * _TAG


def chunk_range(start: int, end: int) -> tuple[int, int, int, int]:
    """Return where the plain bytes from `start` to before `end` are: the number of their first
    chunk, the bytes of it before `start`, and from where to before where the encrypted file has
    the chunks."""
    number, skipped = divmod(start, _CHUNK)
    beyond = -(-end // _CHUNK)
    return number, skipped, HEAD + number * (_CHUNK + _TAG), HEAD + beyond * (_CHUNK + _TAG)


def is_encrypted(file: BinaryIO) -> bool:
    """Tell whether an open file is encrypted; goes back to its beginning."""
    file.seek(0)
    head = file.read(len(MAGIC))
    file.seek(0)
    return head == MAGIC


def plain(file: BinaryIO, key: bytes | None, name: str) -> BinaryIO:
    """Return a stored file as its plain bytes, whether it is encrypted or not.

    Raises:
        StoreError: it is encrypted, and there is no key.
    """
    if not is_encrypted(file):
        return file
    if key is None:
        file.close()
        raise StoreError(f"The file {name!r} is encrypted, and its store is not")
    return DecryptedFile(file, key, name)  # pyright: ignore[reportReturnType] - all that is used


def _chunks(stored: int) -> int:
    return max(-(-(stored - HEAD) // (_CHUNK + _TAG)), 1)


def _opened(cipher: AESGCM, number: int, sealed: bytes, name: str, *, last: bool) -> bytes:
    try:
        return cipher.decrypt(_nonce(number, last=last), sealed, None)
    except (InvalidTag, ValueError):
        raise _damaged(name) from None


def _damaged(name: str) -> FileDamaged:
    return FileDamaged(
        f"The file {name!r} is damaged, or the store has another key; restore it from a "
        "backup, or remove it"
    )


def _cipher_of(key: bytes, salt: bytes) -> AESGCM:
    return AESGCM(HKDF(SHA256(), 32, salt=salt, info=b"uacs-bridge file 1").derive(key))


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\1" if last else b"\0")
