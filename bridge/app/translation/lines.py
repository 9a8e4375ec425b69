"""JSON lines of messages to translate -> JSON lines of translations, one for each, in order.

In: `{"id", "from", "to", "payload"}`, and `"copy": true` for a copy in another channel. Out:
`{"id", "messages", "losses"}`, or `{"id", "error": {"type", "pointer", "message"}}`. An error in
    one
line does not affect the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pydantic import JsonValue

from bridge.app.translation.json_text import read_json, write_json
from bridge.app.translation.translate import Translation, translate
from bridge.errors import BridgeError, CodecError

MOST_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024


def translate_lines(source: BinaryIO) -> Iterator[bytes]:
    """Yield a line of output, without a line break, for each line that is not empty."""
    for line in _lines(source):
        if line is None:
            yield _error_line(None, CodecError("", f"is a line of more than {MOST_BYTES} bytes"))
        elif line.strip():
            yield translate_line(line)


def translate_line(line: bytes) -> bytes:
    """The output for one line; errors are in it, so this never raises."""
    name: JsonValue = None
    try:
        job = read_json(line)
        if not isinstance(job, dict):
            raise CodecError("", "must be an object with id, from, to and payload")  # noqa: TRY301
        name = job.get("id")
        return write_json({"id": name, **as_json(_translation_of(job))})
    except Exception as error:  # noqa: BLE001  # a fault of ours in one line must not stop the rest
        return _error_line(name, error)


def _translation_of(job: dict[str, JsonValue]) -> Translation:
    if "payload" not in job:
        raise CodecError("/payload", "is missing")
    source, target = _format(job, "from"), _format(job, "to")
    copy = job.get("copy", False)
    if not isinstance(copy, bool):
        raise CodecError("/copy", "must be true or false")
    return translate(job["payload"], source=source, target=target, copy=copy)


def _format(job: dict[str, JsonValue], key: str) -> str:
    match job.get(key):
        case str() as name:
            return name
        case _:
            raise CodecError(f"/{key}", "must name a format")


def as_json(done: Translation) -> dict[str, JsonValue]:
    """The translation as `{"messages": [...], "losses": [...]}`."""
    losses: list[JsonValue] = [loss.model_dump() for loss in done.losses]
    return {"messages": list(done.messages), "losses": losses}


def _error_line(name: JsonValue, error: Exception) -> bytes:
    failure: dict[str, JsonValue] = {"type": type(error).__name__, "pointer": "", "message": ""}
    match error:
        case CodecError(pointer=pointer, reason=reason):
            failure |= {"pointer": pointer, "message": reason}
        case BridgeError():
            failure["message"] = str(error)
        case _:
            failure["message"] = f"the bridge failed, please report it: {error}"
    return write_json({"id": name, "error": failure})


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None for a line that is too long, which is skipped to its end."""
    while line := source.readline(MOST_BYTES + 1):
        if len(line) <= MOST_BYTES:
            yield line
            continue
        while not line.endswith(b"\n") and (line := source.readline(_CHUNK)):
            pass
        yield None
