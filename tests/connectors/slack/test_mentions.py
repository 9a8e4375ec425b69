"""Linked people are mentioned in text and in blocks; nobody else is."""

from __future__ import annotations

import json

import pytest

from bridge.content.markdown import markdown_to_text
from bridge.content.safety.mentions import with_counterparts
from bridge.model import Counterparts, Person, Receipt
from connectors.slack import ids
from connectors.slack.ids import Identity
from connectors.slack.links import address_of, message_at
from connectors.slack.rich_text_writer import text_to_rich_text
from tests.connectors.slack.test_encode import CHANNEL, post

ANN = Person(id=ids.actor_id("T1", "U1"), name="Ann")
TEXT = (
    "[@Ann](uacs:actor/discord:G1:1) [@Bob](uacs:actor/discord:G1:2) "
    "[@here](uacs:broadcast/here) [@ops](uacs:group/discord:G1:9) "
    "[#all](uacs:channel/discord:G1:8) \\<@U1\\> `<@U1>`"
)
COUNTERPARTS = Counterparts.model_validate({
    "people": {"discord:G1:1": ANN},
    "groups": {"discord:G1:9": "slack:T1:S9"},
    "channels": {"discord:G1:8": "slack:T1:C8"},
    "everyone": True,
})  # fmt: skip
OWN_IDENTITY = Identity("T1", "Acme", "UBOT", "bridge", "B1", "https://acme.slack.com/")


def text_of(counterparts: Counterparts) -> str:
    (call,) = post(TEXT, counterparts=counterparts).calls
    return str(call.body["text"])


def test_only_mentions_with_a_counterpart_notify() -> None:
    written = text_of(COUNTERPARTS)

    assert written.startswith("<@U1> @Bob <!here> <!subteam^S9> <#C8> &lt;@U1&gt;")
    assert "`&lt;@U1&gt;`" in written


def test_without_counterparts_nobody_is_mentioned() -> None:
    assert text_of(Counterparts()).startswith("@Ann @Bob @here @ops #all &lt;@U1&gt;")


def test_rich_text_mentions_the_same_counterparts() -> None:
    elements = json.dumps(
        text_to_rich_text(with_counterparts(markdown_to_text(TEXT), COUNTERPARTS))
    )

    assert elements.count('"user_id": "U1"') == 1
    for element in ('"usergroup_id": "S9"', '"range": "here"', '"channel_id": "C8"'):
        assert element in elements


def test_a_message_url_is_resolved_to_its_message() -> None:
    address = address_of(CHANNEL, Receipt(slot=0, native_id="1700000000.000100"), OWN_IDENTITY)

    assert address == f"https://acme.slack.com/archives/{CHANNEL.channel}/p1700000000000100"
    threaded = "https://acme.slack.com/archives/C12/p1700000000000100?thread_ts=1.2"
    assert message_at(threaded, OWN_IDENTITY) == (ids.channel_ref("T1", "C12"), "1700000000.000100")


@pytest.mark.parametrize(
    "url",
    [
        "https://other.slack.com/archives/C12/p1700000000000100",
        "https://slack.com/app_redirect?team=T2&channel=C1&message_ts=1700000000.000100",
        "https://acme.slack.com/archives/C12",
        "https://[acme.slack.com/archives/",
    ],
)
def test_urls_of_other_pages_are_not_resolved(url: str) -> None:
    assert message_at(url, OWN_IDENTITY) is None
