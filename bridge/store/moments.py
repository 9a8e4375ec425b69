"""The order of messages by time: a number for each message that no other message has."""

from __future__ import annotations

from bridge.store.connection import Connection

PER_SECOND = 1024  # numbers of one second; what is more goes into the second behind it
_NEAR = 4  # numbers that are tried one by one
_IS_TAKEN = "SELECT 1 FROM messages WHERE moment = ?"
_LAST = "SELECT max(moment) FROM messages WHERE moment >= ? AND moment < ?"


class Moments:
    """Gives numbers within one transaction of one connection."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._given: set[int] = set()
        self._next: dict[int, int] = {}  # by second, from where on its numbers are free

    def take(self, time: float) -> int:
        """Return a number for a message of this time (seconds since 1970): that of its 1024th of a
        second; if other messages have it, the next ones, or one behind all of that second."""
        wanted = int(time * PER_SECOND // 1)
        moment = next((n for n in range(wanted, wanted + _NEAR) if self._is_free(n)), None)
        if moment is None or moment >= (int(time // 1) + 1) * PER_SECOND:
            moment = self._behind(int(time // 1), wanted)
        self._given.add(moment)
        return moment

    def _is_free(self, moment: int) -> bool:
        if moment in self._given:
            return False
        return self._db.execute(_IS_TAKEN, (moment,)).fetchone() is None

    def _behind(self, second: int, moment: int) -> int:
        while True:
            free = max(self._next.get(second) or self._after_last(second), moment)
            while free in self._given:
                free += 1
            if free < (second + 1) * PER_SECOND:
                self._next[second] = free + 1
                return free
            self._next[second] = free
            second += 1

    def _after_last(self, second: int) -> int:
        begin = second * PER_SECOND
        ((last,),) = self._db.execute(_LAST, (begin, begin + PER_SECOND)).fetchall()
        return begin if last is None else last + 1


def moment_at(time: float) -> int:
    """Return the first number of a time: messages from then on have this or a higher one."""
    return int(time // 1) * PER_SECOND
