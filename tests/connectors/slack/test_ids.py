"""Ids survive making and splitting without loss."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.slack import ids

_TIMES = st.tuples(st.integers(1, 99_999_999_999), st.integers(0, 999_999))


def _ts(parts: tuple[int, int]) -> str:
    return f"{parts[0]}.{parts[1]:06d}"


@given(_TIMES, _TIMES)
def test_order_keys_sort_as_text_like_their_times(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    keys = ids.order_key(_ts(first)), ids.order_key(_ts(second))

    assert (keys[0] < keys[1]) == (first < second)


@given(_TIMES)
def test_a_ts_survives_its_order_key(parts: tuple[int, int]) -> None:
    assert ids.ts_of(ids.order_key(_ts(parts))) == _ts(parts)


def test_the_lowest_order_key_is_a_valid_ts() -> None:
    assert ids.ts_of(ids.order_key_at(0)) == "0.000000"


def test_a_ts_gives_the_time_of_its_message() -> None:
    assert ids.time_of("1700000000.000100") == datetime(
        2023, 11, 14, 22, 13, 20, 100, tzinfo=UTC
    )  # fmt: skip


@pytest.mark.parametrize(
    "ts", ["", "now", "1", "1.", ".1", "1.2.3", "-1.0", "1e9.0", "١.٢", "9" * 99]
)
def test_an_invalid_ts_is_refused(ts: str) -> None:
    with pytest.raises(ValueError, match="no Slack timestamp"):
        ids.time_of(ts)


def test_an_actor_id_is_split_into_its_parts() -> None:
    borrowed = ids.borrowed_name("B1", "Ann @home: 100%")

    assert ids.split_actor(ids.actor_id("T1", "U1")) == ("T1", "U1", None)
    assert ids.split_actor(ids.actor_id("T1", borrowed)) == ("T1", "B1", "Ann @home: 100%")
    assert ids.split_actor(ids.actor_id("T1", "U1").replace("slack", "irc")) is None  # type: ignore[arg-type]
