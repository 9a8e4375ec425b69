"""How fast a connection speaks, and what becomes of it when a server finds that too fast."""

from __future__ import annotations

from connectors.irc.bylines import GAP
from connectors.irc.capabilities import LINES, capabilities_of
from connectors.irc.flood import TokenBucket
from tests.connectors.irc.conftest import CHANNEL, Local, local_network
from tests.connectors.irc.sending import post


def test_after_the_burst_one_line_a_second_is_allowed() -> None:
    bucket, now, sent = TokenBucket(4, 1.0, 0.0), 0.0, []

    for _ in range(8):
        now += bucket.wait(now)
        bucket.take(now)
        sent.append(now)

    assert sent == [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_an_urgent_line_goes_at_once_and_delays_the_next() -> None:
    bucket = TokenBucket(1, 1.0, 0.0)
    bucket.take(0.0)
    bucket.take(0.0)  # an answer to PING

    assert bucket.wait(0.0) == 2.0


def test_after_a_flood_the_pace_is_half() -> None:
    bucket = TokenBucket(4, 1.0, 0.0)
    bucket.slow_down()

    for _ in range(2):
        assert bucket.wait(0.0) == 0.0
        bucket.take(0.0)
    assert bucket.wait(0.0) == 2.0


def test_the_lanes_keep_the_same_pace() -> None:
    (rate,) = capabilities_of(4, 0.5).rate_limits[LINES]

    assert (rate.count, rate.seconds) == (4, 8.0)


async def test_two_hundred_lines_at_the_configured_pace_are_no_flood() -> None:
    async with local_network() as local:
        local.irc.flood = (5, 100.0)  # its proportions: 5 at once, and twenty more may wait
        connector = local.connector(burst=5, lines_per_second=100.0)
        await local.start(connector)

        for number in range(60):
            await post(connector, local, f"line {number}")

        texts = [text.replace(GAP, "") for text in local.irc.texts(CHANNEL)]
        assert texts == [f"<Ann> line {number}" for number in range(60)]


async def test_after_excess_flood_the_bot_sends_more_slowly(local: Local) -> None:
    local.irc.flood = (1, 0.001)
    connector = local.connector()
    await local.start(connector)

    await connector.close()
    for client in list(local.irc.clients):
        client.close("Excess Flood")
        local.irc.leave(client, "Excess Flood")
    local.irc.flood = None
    await local.again()

    # The settings have 500; a private attribute, because its effect would take long to show.
    assert connector._bucket._per_second == 250.0  # pyright: ignore[reportPrivateUsage]
