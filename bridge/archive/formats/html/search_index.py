"""The search index of the site: shards of words and of messages, as scripts that pages load when
somebody searches.

A page from the disk may not fetch files, but it may load scripts. Words and messages are gathered
in a database beside the site, so that memory stays flat; messages are numbered by their time, so
that the newest come first without sorting.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import orjson

_PER_SHARD = 250  # messages in one script
_LONGEST = 2000  # characters of a message that results show
_LONGEST_WORD = 40
_MOST_WORDS = 2000  # of one message
_BATCH = 20_000  # rows that are written at once
# Scripts without spaces between words: each character is a word.
_IDEOGRAPHS = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]")
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> set[str]:
    """Return the words of a text without case and accents, as the page's script finds them."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    letters = unicodedata.normalize("NFC", letters)
    spaced = _IDEOGRAPHS.sub(lambda found: f" {found.group()} ", letters)
    return {word[:_LONGEST_WORD] for word in _WORD.findall(spaced)[:_MOST_WORDS]}


def shard_of(word: str) -> str:
    """Return the name of the script with a word: its first two letters, or a number for words of
    other scripts."""
    first = word.removeprefix("@")
    mark = "at-" if word.startswith("@") else ""
    if first[:1].isascii() and first[1:2].isascii():
        return f"{mark}{(first[:2] + '_')[:2]}"
    return f"{mark}u{ord(first[0]) % 128}" if first else "none"


class SearchIndex:
    """Gathers messages, and writes the scripts in the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / ".search.sqlite3"
        self._db = sqlite3.connect(self._path, isolation_level=None)
        self._db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;"
            "CREATE TABLE docs (id INTEGER PRIMARY KEY, time REAL, data BLOB);"
            "CREATE TABLE words (word TEXT, doc INTEGER);"
        )
        self._docs: list[tuple[int, float, bytes]] = []
        self._words: list[tuple[str, int]] = []
        self._count = 0

    def add(self, address: str, channel: int, author: str, time: float, text: str) -> None:
        """Add a message: the address of its place in the site, and the number of its channel."""
        self._count += 1
        shown = orjson.dumps([address, channel, author, int(time), text[:_LONGEST]])
        self._docs.append((self._count, time, shown))
        self._words += ((word, self._count) for word in words_of(text))
        self._words += ((f"@{word}", self._count) for word in words_of(author))
        if len(self._words) > _BATCH:
            self._flush()

    def finish(self) -> None:
        """Write all scripts, and remove the database."""
        self._flush()
        self._number_by_time()
        (self._folder / "search").mkdir()
        self._write_docs()
        self._write_words()
        self.close()

    def close(self) -> None:
        """Remove the database; a second call does nothing."""
        self._db.close()
        self._path.unlink(missing_ok=True)

    def _flush(self) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO docs VALUES (?, ?, ?)", self._docs)
        self._db.executemany("INSERT INTO words VALUES (?, ?)", self._words)
        self._db.execute("COMMIT")
        self._docs.clear()
        self._words.clear()

    def _number_by_time(self) -> None:
        self._db.executescript(
            "CREATE TABLE numbers (doc INTEGER PRIMARY KEY, number INTEGER);"
            "INSERT INTO numbers SELECT id, row_number() OVER (ORDER BY time, id) - 1 FROM docs;"
        )

    def _write_docs(self) -> None:
        rows = self._db.execute(
            "SELECT number, data FROM docs JOIN numbers ON doc = id ORDER BY number"
        )
        shard: list[bytes] = []
        for number, data in rows:
            shard.append(data)
            if len(shard) == _PER_SHARD:
                self._write_doc_shard(number // _PER_SHARD, shard)
                shard = []
        if shard:
            self._write_doc_shard((self._count - 1) // _PER_SHARD, shard)

    def _write_doc_shard(self, number: int, shard: list[bytes]) -> None:
        items = b",\n".join(shard)
        self._write(f"d{number}.js", b"A.docs(%d,[%b])" % (number, items))

    def _write_words(self) -> None:
        self._db.create_function("shard_of", 1, shard_of, deterministic=True)
        rows = self._db.execute(
            "SELECT shard_of(word) AS shard, word, number"
            " FROM words JOIN numbers ON numbers.doc = words.doc ORDER BY shard, word, number"
        )
        shard, lists = "", dict[str, list[int]]()
        for name, word, number in rows:
            if name != shard:
                self._write_word_shard(shard, lists)
                shard, lists = name, {}
            lists.setdefault(word, []).append(number)
        self._write_word_shard(shard, lists)
        names = self._db.execute("SELECT DISTINCT shard_of(word) FROM words ORDER BY 1")
        listed = orjson.dumps([name for (name,) in names])
        self._write("index.js", b"A.index(%d,%d,%b)" % (self._count, _PER_SHARD, listed))

    def _write_word_shard(self, name: str, lists: dict[str, list[int]]) -> None:
        """Numbers as the differences from one to the next, which are short."""
        if not name:
            return
        differences = {word: list(_differences(numbers)) for word, numbers in lists.items()}
        script = b"A.words(%b,%b)" % (orjson.dumps(name), orjson.dumps(differences))
        self._write(f"w-{name}.js", script)

    def _write(self, name: str, script: bytes) -> None:
        # JSON may contain these as they are, scripts of older browsers may not.
        safe = script.replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")
        safe = safe.replace(b"</", b"<\\/")  # so that no copy in a page could end its script
        (self._folder / "search" / name).write_bytes(safe + b"\n")


def _differences(numbers: Iterable[int]) -> Iterable[int]:
    before = 0
    for number in numbers:
        yield number - before
        before = number
