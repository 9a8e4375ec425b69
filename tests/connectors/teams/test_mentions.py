"""A linked person is mentioned by a tag and an entity with the same text; other people are not."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.reader import Cards
from bridge.model import Counterparts, Person, Receipt
from bridge.uacs import ImagePart, MediaSource
from connectors.teams import ids
from connectors.teams.encode import encode
from connectors.teams.links import address_of, message_at
from connectors.teams.text import escape_text
from tests.connectors.teams.payloads import APP_ID, TENANT
from tests.connectors.teams.test_encode import CHANNEL_REF, delivery

ANN = Person(id=ids.actor_id(TENANT, "29:ann"), name="Ann <Lee> & *Co*")
TEXT = (
    "[@Ann](uacs:actor/slack:T:U1) **[@Ann](uacs:actor/slack:T:U1)** [@Bob](uacs:actor/slack:T:U2)"
)
COUNTERPARTS = Counterparts.model_validate({"people": {"slack:T:U1": ANN}})
TAG = "<at>Ann Lee Co</at>"
ENTITY = {"type": "mention", "text": TAG, "mentioned": {"id": "29:ann", "name": "Ann Lee Co"}}


def body(text: str, counterparts: Counterparts, *more: Any) -> dict[str, Any]:
    post = delivery(text).model_copy(update={"counterparts": counterparts})
    if more:
        content = (*post.message.content, *more)
        message = post.message.model_copy(update={"content": content})
        post = post.model_copy(update={"message": message})
    (call,) = encode(post, APP_ID, Cards.over((), b"key")).calls
    return dict(call.body)


def test_only_mentions_with_a_counterpart_notify() -> None:
    sent = body(TEXT, COUNTERPARTS)

    assert sent["text"].endswith(f"{TAG} <b>{TAG}</b> @Bob") or sent["text"].endswith(
        f"{TAG} **{TAG}** @Bob"
    )
    assert sent["entities"] == [ENTITY]


def test_without_counterparts_there_are_no_entities() -> None:
    sent = body(TEXT, Counterparts())

    assert "entities" not in sent
    assert "<at>" not in sent["text"]


def test_a_typed_mention_tag_is_text() -> None:
    sent = body(escape_text(TAG), COUNTERPARTS)

    assert "entities" not in sent
    assert "<at>" not in sent["text"]


def test_a_card_with_a_mention_has_an_entity() -> None:
    picture = ImagePart(media_type="image/png", source=MediaSource(url="https://p.test/a.png"))
    sent = body(TEXT.replace("**", ""), COUNTERPARTS, picture)

    card = sent["attachments"][0]["content"]
    texts = [element.get("text", "") for element in card["body"]]
    assert card["msteams"]["entities"] == [ENTITY]
    assert any(TAG in text and "@Bob" in text for text in texts)


def test_a_message_url_is_resolved_to_its_message() -> None:
    address = address_of(
        CHANNEL_REF, Receipt(slot=0, native_id="1700000000000", thread="1600000000000")
    )

    assert message_at(address) == (CHANNEL_REF, "1700000000000")
    assert message_at(address.replace("tenantId", "x")) is None


@pytest.mark.parametrize("url", ["https://[teams.microsoft.com/l/message/", "teams", ""])
def test_an_invalid_message_url_is_not_resolved(url: str) -> None:
    assert message_at(url) is None
