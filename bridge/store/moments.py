"""The order of messages by time: a number for each message that no other message has."""

from __future__ import annotations

import sqlite3

PER_SECOND = 1024  # numbers of one second; what is more goes into the second behind it
_LAST = "SELECT max(moment) FROM messages WHERE moment >= ? AND moment < ?"


class Moments:
    """Gives numbers within one transaction of one connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._next: dict[int, int] = {}

    def take(self, time: float) -> int:
        """Return a number for a message of this time (seconds since 1970), behind those of the same
        second that were given before."""
        second = int(time // 1)
        while True:
            moment = self._next.get(second) or self._after_last(second)
            if moment < (second + 1) * PER_SECOND:
                self._next[second] = moment + 1
                return moment
            self._next[second] = moment
            second += 1

    def _after_last(self, second: int) -> int:
        begin = second * PER_SECOND
        ((last,),) = self._db.execute(_LAST, (begin, begin + PER_SECOND)).fetchall()
        return begin if last is None else last + 1


def moment_at(time: float) -> int:
    """Return the first number of a time: messages from then on have this or a higher one."""
    return int(time // 1) * PER_SECOND
