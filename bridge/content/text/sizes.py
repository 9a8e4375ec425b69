"""A number of bytes -> a short text. Pure."""

from __future__ import annotations

_MAX_BYTES = 10**18  # no file is larger, so a larger number is wrong
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def readable_size(size: int | None) -> str:
    """Returns `123 bytes`, `4.5 KB` or `120 MB`; empty for an unknown, zero or impossible size."""
    if size is None or not 0 < size < _MAX_BYTES:
        return ""
    unit = min(max(len(str(size)) - 1, 0) // 3, len(_UNITS) - 1)
    in_unit = size / 1000**unit
    return (
        f"{in_unit:.0f} {_UNITS[unit]}"
        if unit == 0 or in_unit >= 10
        else f"{in_unit:.1f} {_UNITS[unit]}"
    )
