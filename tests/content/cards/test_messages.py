"""Cards in messages, and messages as cards: nothing is lost on either way."""

from __future__ import annotations

from typing import Any

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.messages import Content, card_of, content_of, unknown_parts
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Asset, Card, File, Image, Player, Prose
from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    select_parts,
    with_bridge_metadata,
)
from bridge.content.messages.parts import message_text
from bridge.content.text.tree import Break, CodeBlock, Paragraph, Text
from bridge.errors import CodecError
from bridge.model import Loss
from bridge.uacs import (
    Actor,
    AudioPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
    VideoPart,
)

KNOWN = "application/vnd.known+json"
URL = "https://f.example/a.png"


def prose(words: str, at: str = "") -> Prose:
    return Prose((Paragraph((Text(words),)),), at=at)


def read(payload: Payload) -> Card:
    """A codec whose payloads are `{"says": words}`."""
    match payload.data:
        case {"says": str() as words}:
            return Card((prose(words, payload.at),), summary=f"summary of {words}")
        case _:
            raise CodecError(f"{payload.at}/says", "is missing")


def message(*content: Any, **additions: Any) -> Message:
    return Message(
        message_id="m",
        timestamp="2026-11-21T12:00:00Z",
        actor=Actor(id="a", role="human"),
        content=content,
        metadata={"uacs_bridge": additions} if additions else None,
    )


def card(*content: Any, **additions: Any) -> tuple[Card, tuple[Loss, ...]]:
    return card_of(message(*content, **additions), {KNOWN: read})


# --- cards -> content -----------------------------------------------------------------------


def test_each_payload_is_followed_by_its_fallback() -> None:
    picture = Card((prose("hi"), Image(Asset(url=URL, alt="a cat"))))

    content = content_of(
        [
            (Payload("", "*hi*", "/text"), Card((prose("hi"),))),
            (Payload(KNOWN, {"says": "hi"}, "/rich/0"), picture),
        ]
    )

    assert content == Content(
        (
            TextPart(text="hi"),
            StructuredDataPart(schema_id=KNOWN, data={"says": "hi"}),
            TextPart(text="hi"),
            ImagePart(source=MediaSource(url=URL), media_type="image/png"),
            TextPart(text=r"\[image: a cat\]"),
        ),
        BridgeMetadata(
            fallbacks={"1": (2, 3, 4)},
            parts={
                "1": PartDetails(path="/rich/0"),
                "3": PartDetails(alt="a cat"),
                "4": PartDetails(repeats_alt=True),
            },
        ),
    )


def test_the_fallback_of_an_empty_payload_is_its_summary() -> None:
    content = content_of([(Payload(KNOWN, {}), Card((), summary="An empty card"))])

    assert content.parts[1:] == (TextPart(text="An empty card"),)


def test_a_payload_too_deep_for_uacs_becomes_its_fallback_and_a_loss() -> None:
    data: Any = {}
    for _ in range(500):
        data = {"a": data}

    content = content_of([(Payload(KNOWN, data, "/rich"), Card((prose("hi"),)))])

    assert content == Content(
        (TextPart(text="hi"),),
        BridgeMetadata(),
        (
            Loss(
                path="/rich",
                kind="payload_as_fallback",
                what=f"{KNOWN}: must be nested at most 128 levels deep",
                shown_as="parts that say the same",
            ),
        ),
    )


# --- a message -> one card ------------------------------------------------------------------


def test_a_text_part_becomes_prose() -> None:
    plain = TextPart(text="2 * 3\n\n# no", format="plain")

    assert card(TextPart(text="hello"), plain) == (
        Card(
            (
                prose("hello"),
                Prose((Paragraph((Text("2 * 3"), Break(), Break(), Text("# no"))),)),
            )
        ),
        (),
    )


def test_media_parts_become_nodes_with_their_details() -> None:
    stored = MediaSource(file_id="blob:sha256-1")
    content = (
        ImagePart(source=MediaSource(url=URL), media_type="image/png"),
        VideoPart(source=stored, media_type="video/mp4"),
        AudioPart(source=MediaSource(base64="AA=="), media_type="audio/ogg"),
        FilePart(source=stored, media_type="text/plain"),
    )
    parts = {
        "0": {"alt": "a cat", "name": "cat.png", "size": 5},
        "1": {"duration_s": 1.5, "spoiler": True},
    }

    assert card(*content, parts=parts) == (
        Card(
            (
                Image(Asset(url=URL, media_type="image/png", alt="a cat", name="cat.png", size=5)),
                Player(
                    "video",
                    Asset(
                        file_id="blob:sha256-1", media_type="video/mp4", seconds=1.5, spoiler=True
                    ),
                ),
                Player("audio", Asset(url="data:audio/ogg;base64,AA==", media_type="audio/ogg")),
                File(Asset(file_id="blob:sha256-1", media_type="text/plain")),
            )
        ),
        (),
    )


def test_a_payload_with_a_reader_replaces_its_fallback() -> None:
    read, losses = card(
        StructuredDataPart(schema_id=KNOWN, data={"says": "rich"}),
        TextPart(text="plain"),
        fallbacks={"0": [1]},
    )

    assert (read, losses) == (Card((prose("rich"),), summary="summary of rich"), ())
    assert [node.at for node in read.nodes] == ["/content/0/data"]


def test_a_card_of_the_bridges_own_schema_is_read() -> None:
    data: Any = {"type": "card", "nodes": ["hello"], "summary": "hi"}
    read, losses = card(StructuredDataPart(schema_id=SCHEMA_ID, data=data))

    assert (read, losses) == (Card((prose("hello"),), summary="hi"), ())
    assert [node.at for node in read.nodes] == ["/content/0/data/nodes/0"]


def test_an_unknown_payload_becomes_its_fallback() -> None:
    unknown = StructuredDataPart(schema_id="application/vnd.other+json", data={"a": 1})

    assert card(unknown, TextPart(text="plain"), fallbacks={"0": [1]}) == (
        Card((prose("plain"),)),
        (),
    )


def test_an_unreadable_payload_becomes_its_fallback_and_a_loss() -> None:
    broken = StructuredDataPart(schema_id=KNOWN, data={})

    assert card(broken, TextPart(text="plain"), fallbacks={"0": [1]}) == (
        Card((prose("plain"),)),
        (
            Loss(
                path="/content/0/data/says",
                kind="payload_unreadable",
                what=f"{KNOWN}: is missing",
                shown_as="its fallback",
            ),
        ),
    )


def test_a_part_without_text_is_shown_as_named_json() -> None:
    call = ToolCallPart(id="1", name="search", arguments={"q": "x"})
    body = (
        '{\n  "type": "tool_call",\n  "id": "1",\n  "name": "search",\n'
        '  "arguments": {\n    "q": "x"\n  }\n}'
    )

    assert card(call) == (
        Card((Prose((Paragraph((Text("[search]"),)), CodeBlock(body, "json"))),)),
        (Loss(path="/content/0", kind="part_as_json", what="search", shown_as="JSON"),),
    )


def test_an_unknown_part_with_stored_json_is_shown_as_a_file() -> None:
    stored = {"file_id": "blob:sha256-1", "media_type": "application/json", "size": 9}
    unknown = StructuredDataPart(schema_id="application/vnd.acme.invoice+json", data={"a": 1})
    other = UnknownPart(type="x/hologram")

    assert card(unknown, other, kept={"/content/0": stored, "/content/1": stored}) == (
        Card(
            tuple(
                File(
                    Asset(file_id="blob:sha256-1", media_type="application/json", name=name, size=9)
                )
                for name in ("vnd.acme.invoice.json", "hologram.json")
            )
        ),
        (
            Loss(
                path="/content/0",
                kind="part_as_file",
                what="application/vnd.acme.invoice+json",
                shown_as="vnd.acme.invoice.json",
            ),
            Loss(
                path="/content/1",
                kind="part_as_file",
                what="x/hologram",
                shown_as="hologram.json",
            ),
        ),
    )


def test_unknown_parts_are_those_without_reader_and_fallback() -> None:
    unknown = StructuredDataPart(schema_id="application/vnd.other+json", data={"a": 1})
    read_part = StructuredDataPart(schema_id=KNOWN, data={})
    own_card = StructuredDataPart(schema_id=SCHEMA_ID, data={})
    call = ToolCallPart(id="1", name="search", arguments={})
    hologram = UnknownPart(type="hologram")
    said_twice = message(
        *(unknown, TextPart(text="plain"), read_part, own_card, call, hologram, unknown),
        fallbacks={"0": [1]},
    )

    assert list(unknown_parts(said_twice, {KNOWN})) == [
        ("/content/5", hologram),
        ("/content/6", unknown),
    ]


def test_parts_for_models_only_are_not_shown() -> None:
    format_part = RequestedResponseFormatPart(schema={"type": "object"})

    assert card(format_part, TextPart(text="hi")) == (Card((prose("hi"),)), ())


def test_a_part_of_an_unknown_type_is_named() -> None:
    read, losses = card(UnknownPart(type="reasoning", text="hm"))  # pyright: ignore[reportCallIssue]

    assert [loss.what for loss in losses] == ["reasoning"]
    assert len(read.nodes) == 1


def test_a_card_written_as_content_is_read_back_unchanged() -> None:
    content = content_of([(Payload(KNOWN, {"says": "hi"}), Card((prose("hi"),)))])
    additions = content.additions.model_dump(mode="json", exclude_unset=True)

    assert card(*content.parts, **additions)[0] == Card((prose("hi"),), summary="summary of hi")


def test_alt_texts_repeated_in_a_fallback_are_shown_once_by_the_bridge() -> None:
    picture = Asset(url="https://x.example/a.png", alt="A *red* boat")
    silent = Asset(url="https://x.example/b.png")
    card = Card((Prose((Paragraph((Text("Look:"),)),)), Image(picture), Image(silent)))
    content = content_of([(Payload(SCHEMA_ID, card_to_json(card)), card)])
    message = with_bridge_metadata(
        Message(
            message_id="m",
            timestamp="2026-11-21T12:00:00Z",
            actor=Actor(id="a", role="assistant"),
            content=content.parts,
        ),
        content.additions,
    )

    raw = [part.text for part in message.content if isinstance(part, TextPart)]
    shown, _ = message_text(message)

    assert raw == ["Look:", r"\[image: A \*red\* boat\]"]
    assert content.additions.fallbacks == {"0": (1, 2, 3, 4)}
    assert shown.count("red") == 1
    assert [part.type for _, part in select_parts(message, ())] == ["text", "image", "image"]


def test_repeats_alt_hides_no_text_outside_of_a_fallback() -> None:
    message = Message(
        message_id="m",
        timestamp="2026-11-21T12:00:00Z",
        actor=Actor(id="a", role="human"),
        content=(TextPart(text="not hidden"),),
        metadata={"uacs_bridge": {"version": 1, "parts": {"0": {"repeats_alt": True}}}},
    )

    assert message_text(message)[0] == "not hidden"
