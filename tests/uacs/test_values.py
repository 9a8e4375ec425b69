"""Timestamps keep their text and give their moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.errors import InvalidUacs
from bridge.uacs import to_datetime, to_timestamp
from tests.examples import examples
from tests.uacs import strategies


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21T12:00:00Z", datetime(2026, 11, 21, 12, tzinfo=UTC)),
        ("2026-11-21t12:00:00.5z", datetime(2026, 11, 21, 12, 0, 0, 500_000, UTC)),
        ("2026-11-21T12:00:00.1234567Z", datetime(2026, 11, 21, 12, 0, 0, 123_456, UTC)),
        (
            "2026-11-21T12:00:00-05:30",
            datetime(2026, 11, 21, 12, tzinfo=timezone(-timedelta(hours=5, minutes=30))),
        ),
        ("1998-12-31T23:59:60.9Z", datetime(1999, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_parsed(text: str, moment: datetime) -> None:
    assert to_datetime(text) == moment


@pytest.mark.parametrize(
    "text", ["", "2026-11-21", "2026-11-21T12:00:00", "9999-12-31T23:59:60Z", "x" * 30]
)
def test_an_invalid_timestamp_is_refused(text: str) -> None:
    with pytest.raises(InvalidUacs):
        to_datetime(text)


@settings(max_examples=examples(200))
@given(strategies.timestamps)
def test_every_valid_timestamp_can_be_parsed(text: str) -> None:
    assert to_datetime(text).tzinfo is not None


@settings(max_examples=examples(200))
@given(st.datetimes(), st.integers(-1439, 1439))
def test_a_time_survives_writing_and_parsing(naive: datetime, minutes: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))

    again = to_datetime(to_timestamp(moment))

    assert (again, again.utcoffset()) == (moment, moment.utcoffset())


def test_utc_is_written_as_z_and_a_time_without_zone_is_refused() -> None:
    assert to_timestamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05Z"
    with pytest.raises(InvalidUacs, match="time zone"):
        to_timestamp(datetime(2026, 1, 2))  # noqa: DTZ001  # that is the case
