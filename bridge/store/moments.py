"""The order of messages by time: a number for each message that no other message has."""

from __future__ import annotations

from bridge.store.connection import Connection, Rows

PER_SECOND = 1024  # numbers of one second; what is more goes into the second behind it
_NEAR = 4  # numbers that are tried first
_TAKEN = "SELECT moment FROM messages WHERE moment >= ? AND moment < ?"
_LAST = "SELECT max(moment) FROM messages WHERE moment >= ? AND moment < ?"


class Moments:
    """Gives numbers within one transaction of one connection."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._given: set[int] = set()
        self._next: dict[int, int] = {}  # by second, from where on its numbers are free

    def asked(self, time: float) -> Rows:
        """Ask which numbers near this time other messages have, to be read with `take`."""
        wanted = _number_at(time)
        return self._db.execute(_TAKEN, (wanted, wanted + _NEAR))

    def take(self, time: float, near: Rows | None = None) -> int:
        """Return a number for a message of this time (seconds since 1970): that of its 1024th of a
        second; if other messages have it, the next ones, or one behind all of that second.
        `near`: of `asked` at the same time."""
        wanted = _number_at(time)
        taken = {number for (number,) in (near or self.asked(time)).fetchall()}
        free = (n for n in range(wanted, wanted + _NEAR) if n not in taken and n not in self._given)
        moment = next(free, None)
        if moment is None or moment >= (int(time // 1) + 1) * PER_SECOND:
            moment = self._behind(int(time // 1), wanted)
        self._given.add(moment)
        return moment

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


def _number_at(time: float) -> int:
    """The number that a message of this time has if no other has it."""
    return int(time * PER_SECOND // 1)


def moment_at(time: float) -> int:
    """Return the first number of a time: messages from then on have this or a higher one."""
    return int(time // 1) * PER_SECOND
