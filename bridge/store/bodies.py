"""JSON columns: bytes <-> messages, people, packed operations, receipts, losses."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from bridge.model import OPERATION, Loss, Operation, Person, Receipt
from bridge.store.packing import pack, unpack
from bridge.store.parsed import Parsed
from bridge.uacs import Message, read_message, write

MESSAGES: Parsed[Message] = Parsed(read_message, write)


def _read_operation(stored: bytes) -> Operation:
    return OPERATION.validate_json(unpack(stored))


def _write_operation(operation: Operation) -> bytes:
    return pack(OPERATION.dump_json(operation))


OPERATIONS: Parsed[Operation] = Parsed(_read_operation, _write_operation)
_PERSON: TypeAdapter[Person] = TypeAdapter(Person)
PEOPLE: Parsed[Person] = Parsed(_PERSON.validate_json, _PERSON.dump_json)
_RECEIPTS: TypeAdapter[tuple[Receipt, ...]] = TypeAdapter(tuple[Receipt, ...])
_LOSSES: TypeAdapter[tuple[Loss, ...]] = TypeAdapter(tuple[Loss, ...])
NOTHING = "[]"


def read_receipts(text: str) -> tuple[Receipt, ...]:
    return () if text == NOTHING else _RECEIPTS.validate_json(text)


def write_receipts(receipts: tuple[Receipt, ...]) -> str:
    return _RECEIPTS.dump_json(receipts, exclude_defaults=True).decode() if receipts else NOTHING


def read_losses(text: str) -> tuple[Loss, ...]:
    return () if text == NOTHING else _LOSSES.validate_json(text)


def write_losses(losses: tuple[Loss, ...]) -> str:
    return _LOSSES.dump_json(losses).decode() if losses else NOTHING


def merge_receipts(saved: tuple[Receipt, ...], added: tuple[Receipt, ...]) -> tuple[Receipt, ...]:
    """Return one receipt for each native id, by slot; an added receipt replaces the saved one."""
    merged = {receipt.native_id: receipt for receipt in (*saved, *added)}
    return tuple(sorted(merged.values(), key=lambda receipt: receipt.slot))


def new_receipts(saved: tuple[Receipt, ...], added: Sequence[Receipt]) -> tuple[Receipt, ...]:
    """Return the receipts whose slot has none yet; a deletion and a copy in a slot are two
    entries."""
    noted = {(receipt.slot, receipt.deleted) for receipt in saved}
    return tuple(receipt for receipt in added if (receipt.slot, receipt.deleted) not in noted)
