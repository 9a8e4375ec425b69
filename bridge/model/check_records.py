"""The result of an examination of a whole store."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_FAULTS = 100  # that one part lists


@dataclass(frozen=True)
class CheckFault:
    """One thing that is wrong.

    - `value`: which row, message, file or secret.
    - `what`: what is wrong with it, and `todo` what helps, for people.
    """

    value: str
    what: str
    todo: str


@dataclass
class CheckedPart:
    """One part of the examination.

    - `examined`: how many things were compared.
    - `faults`: the first ones found; `fault_count`: how many there are.
    - `note`: what could not be compared, and why; no damage.
    """

    name: str
    examined: int = 0
    fault_count: int = 0
    faults: list[CheckFault] = field(default_factory=list[CheckFault])
    note: str = ""

    def add(self, value: str, what: str, todo: str) -> None:
        """Note a fault."""
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(CheckFault(value, what, todo))


@dataclass(frozen=True)
class UnnamedFiles:
    """Stored files that nothing in the store names: the first ids, and all their number and bytes.
    They are no damage: a sweep removes them in its time."""

    count: int
    size: int
    ids: tuple[str, ...]


@dataclass
class StoreCheck:
    """The result for one store; `unnamed` is None where no files were examined."""

    path: str
    schema: int
    encrypted: bool
    parts: list[CheckedPart] = field(default_factory=list[CheckedPart])
    unnamed: UnnamedFiles | None = None

    @property
    def fault_count(self) -> int:
        """How many things are wrong."""
        return sum(part.fault_count for part in self.parts)
