"""Stored seconds -> datetimes. Pure."""

from __future__ import annotations

from datetime import UTC, datetime


def datetime_of(seconds: float) -> datetime:
    """Returns seconds since 1970 as an aware UTC datetime."""
    return datetime.fromtimestamp(seconds, UTC)
