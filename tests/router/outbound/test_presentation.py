"""The steps that dress a delivery; files and payloads as the options of a channel want them."""

from __future__ import annotations

from bridge.content.cards.rendering import public_url
from bridge.content.cards.tree import Asset
from bridge.content.messages.metadata import BridgeMetadata, PartDetails, with_bridge_metadata
from bridge.content.text.patterns import Replacement, pattern_of
from bridge.model import (
    AccountId,
    Byline,
    ChannelRef,
    Delivery,
    Loss,
    MessageId,
    OperationId,
    PostMessage,
    RoomId,
)
from bridge.router.outbound.presentation import Dressed, PresentationContext, as_shown, present
from bridge.router.outbound.references import References
from bridge.router.outbound.translations import Translations
from bridge.router.rooms.options import MemberOptions
from bridge.router.rooms.rooms import Rooms
from bridge.store import SqliteStore
from bridge.uacs import (
    Actor,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
)
from tests.router.fake_clock import FakeClock

PICTURE = ImagePart(media_type="image/png", source=MediaSource(file_id="blob:sha256-00"))
REPORT = FilePart(media_type="text/csv", source=MediaSource(url="https://a.example/report.csv"))


def delivery(*parts: ContentPart, additions: BridgeMetadata | None = None) -> Delivery:
    message = Message(
        message_id="m", timestamp="2026-11-01T10:00:00Z", actor=Actor(id="a:b:c", role="human"),
        content=parts,
    )  # fmt: skip
    return Delivery(
        operation=PostMessage(
            id=OperationId("o"), account=AccountId("x"), room=RoomId("r"), message=MessageId("m"),
            channel=ChannelRef(platform="fake", workspace="w", channel="c"),
            byline=Byline(name="Ann"),
        ),
        message=with_bridge_metadata(message, additions or BridgeMetadata()),
    )  # fmt: skip


def context() -> PresentationContext:
    clock, rooms = FakeClock(), Rooms([])
    store = SqliteStore.in_memory(clock)
    references = References(store, {}, rooms, {})
    return PresentationContext(
        store, {}, rooms, references, clock, public_url, Translations(store, {}, clock)
    )


def texts(dressed: Delivery) -> list[str]:
    return [part.text for part in dressed.message.content if isinstance(part, TextPart)]


async def test_each_step_dresses_what_the_one_before_it_returned_and_no_loss_is_dropped() -> None:
    async def add(delivery: Delivery, word: str) -> Dressed:
        text = TextPart(text=f"{texts(delivery)[0]} {word}")
        message = delivery.message.model_copy(update={"content": (text,)})
        loss = Loss(path="", kind=word, what=word, shown_as="")
        return Dressed(delivery.model_copy(update={"message": message}), (loss,))

    async def first(delivery: Delivery, _: PresentationContext) -> Dressed:
        return await add(delivery, "first")

    async def second(delivery: Delivery, _: PresentationContext) -> Dressed:
        return await add(delivery, "second")

    dressed = await present(delivery(TextPart(text="words")), context(), (first, second))

    assert texts(dressed.delivery) == ["words first second"]
    assert [loss.kind for loss in dressed.losses] == ["first", "second"]


async def test_a_message_that_no_step_concerns_is_the_same_object_after_all_of_them() -> None:
    plain = delivery(TextPart(text="words"))

    dressed = await present(plain, context())

    assert dressed.delivery is plain
    assert dressed.losses == ()


def test_files_as_links_lead_to_where_anybody_may_fetch_them() -> None:
    details = BridgeMetadata(parts={"1": PartDetails(name="cat.png")})

    dressed, losses = as_shown(
        delivery(TextPart(text="look"), PICTURE, REPORT, additions=details),
        MemberOptions(files="link"), now=0.0,
        url_of=lambda asset: f"https://b.example/{asset.name}" if isinstance(asset, Asset) else "",
    )  # fmt: skip

    assert texts(dressed) == [
        "look",
        r"[\[image: cat.png\]](https://b.example/cat.png)",
        r"[\[file: text/csv\]](https://a.example/report.csv)",
    ]
    assert len(dressed.message.content) == 3
    assert [(loss.path, loss.shown_as) for loss in losses] == [
        ("/content/1", "a link"), ("/content/2", "a link"),
    ]  # fmt: skip


def test_a_kept_file_that_nobody_can_fetch_is_named() -> None:
    dressed, _ = as_shown(delivery(PICTURE), MemberOptions(files="link"), now=0.0)

    assert texts(dressed) == [r"\[image: image/png\]"]


def test_without_files_nothing_of_them_is_told_but_their_kind() -> None:
    details = BridgeMetadata(parts={"0": PartDetails(name="secret.csv")})

    dressed, losses = as_shown(
        delivery(REPORT, additions=details), MemberOptions(files="off"), now=0.0
    )

    assert texts(dressed) == [r"\[file\]"]
    assert [loss.kind for loss in losses] == ["files_option"]


def test_a_payload_that_holds_replaced_words_is_shown_as_its_words() -> None:
    card = StructuredDataPart(schema_id="application/x", data={"text": "falcon"})
    additions = BridgeMetadata(fallbacks={"0": (1,)})
    options = MemberOptions(replace=(Replacement(pattern_of("falcon"), "project"),))

    dressed, _ = as_shown(
        delivery(card, TextPart(text="falcon"), additions=additions), options, now=0.0
    )
    other, _ = as_shown(delivery(card, TextPart(text="owl"), additions=additions), options, now=0.0)

    assert [part.type for part in dressed.message.content] == ["text"]
    assert texts(dressed) == ["project"]
    assert [part.type for part in other.message.content] == ["structured_data", "text"]


def test_the_time_of_a_late_message_stands_before_its_parts_and_moves_what_names_them() -> None:
    card = StructuredDataPart(schema_id="application/x", data={})
    additions = BridgeMetadata(fallbacks={"0": (1,)})

    dressed, _ = as_shown(
        delivery(card, TextPart(text="words"), additions=additions),
        MemberOptions(max_delay=60), now=2e9,
    )  # fmt: skip

    assert [part.type for part in dressed.message.content] == ["text", "structured_data", "text"]
    assert dressed.message.metadata is not None
    noted = dressed.message.metadata["uacs_bridge"]
    assert isinstance(noted, dict)
    assert noted["fallbacks"] == {"1": [2]}
