"""A message of any parts as one text: nothing is left out, and what became less is named."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.markdown import markdown_to_text
from bridge.content.messages.parts import message_text, plain_to_markdown
from bridge.content.text.tree import Break, Paragraph, Text
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
    ToolResultPart,
    UnknownPart,
    VideoPart,
)

URL = MediaSource(url="https://f.example/a")
STORED = MediaSource(file_id="blob:sha256-1")
VIDEO = VideoPart(source=STORED, media_type="video/mp4")
AUDIO = AudioPart(source=STORED, media_type="audio/ogg")
BLOCKS = StructuredDataPart(schema_id="application/vnd.x+json", data={"a": [1]})


def message(*content: Any, **additions: Any) -> Message:
    return Message(
        message_id="m",
        timestamp="2026-11-21T12:00:00Z",
        actor=Actor(id="a", role="human"),
        content=content,
        metadata={"uacs_bridge": additions} if additions else None,
    )


def media(text: str, kind: str) -> tuple[str, tuple[Loss, ...]]:
    return text, (Loss(path="/content/0", kind="media_as_text", what=kind, shown_as=text),)


def test_markdown_text_is_unchanged() -> None:
    assert message_text(message(TextPart(text="**a**"), TextPart(text="b"))) == ("**a**\n\nb", ())


def test_plain_text_is_escaped() -> None:
    part = TextPart(text="2 * 3 * 4\n# no\n\n<b>", format="plain")

    assert message_text(message(part)) == ("2 \\* 3 \\* 4\n\\# no\n\n\\<b>", ())


@pytest.mark.parametrize(
    ("part", "details", "text"),
    [
        (
            ImagePart(source=URL, media_type="image/png"),
            {},
            "[\\[image: image/png\\]](https://f.example/a)",
        ),
        (
            ImagePart(source=URL, media_type="image/png"),
            {"name": "a.png", "alt": "a  cat\n*", "size": 1234567},
            "[\\[image: a cat \\*, 1.2 MB\\]](https://f.example/a)",
        ),
        (
            FilePart(source=STORED, media_type="application/pdf"),
            {"name": "a_b.pdf", "alt": "x", "size": 999},
            "\\[file: a_b.pdf, 999 bytes\\]",
        ),
        (VIDEO, {"spoiler": True}, "||\\[video: video/mp4\\]||"),
        (AUDIO, {"size": 10**400}, "\\[audio: audio/ogg\\]"),
        (
            FilePart(source=MediaSource(url="data:text/plain,x"), media_type="text/plain"),
            {"name": " "},
            "\\[file: text/plain\\]",
        ),
    ],
)  # fmt: skip
def test_media_become_a_link_or_a_name(part: Any, details: dict[str, Any], text: str) -> None:
    result = message_text(message(part, parts={"0": details}))

    assert result == media(text, part.type)


@pytest.mark.parametrize(
    ("part", "name", "body"),
    [
        (BLOCKS, "application/vnd.x+json", '"data": {\n    "a": [\n      1\n    ]\n  }'),
        (ToolCallPart(id="1", name="look_up", arguments={"q": "é```"}), "look_up", '"q": "é```"'),
        (ToolResultPart(tool_call_id="1", content="ok"), "tool_result", '"content": "ok"'),
        (
            UnknownPart.model_validate({"type": "x.poll", "n": 10**30}),
            "x.poll",
            f'"n": {10**30}',
        ),
    ],
)
def test_other_parts_become_named_json(part: Any, name: str, body: str) -> None:
    text, losses = message_text(message(part))

    paragraph, code = markdown_to_text(text)
    assert paragraph == Paragraph((Text(f"[{name}]"),))
    assert body in getattr(code, "value", "")
    assert losses == (Loss(path="/content/0", kind="part_as_json", what=name, shown_as="JSON"),)


def test_a_requested_response_format_is_not_shown() -> None:
    format_part = RequestedResponseFormatPart(schema={"type": "object"})

    assert message_text(message(format_part, TextPart(text="a"))) == ("a", ())


def test_a_payload_is_shown_as_its_fallback_without_a_loss() -> None:
    sent = message(BLOCKS, TextPart(text="one"), TextPart(text="two"), fallbacks={"0": [1, 2]})

    assert message_text(sent) == ("one\n\ntwo", ())


def test_media_in_a_fallback_are_a_loss_too() -> None:
    image = ImagePart(source=URL, media_type="image/png")
    sent = message(BLOCKS, TextPart(text="one"), image, fallbacks={"0": [1, 2]})

    link = "[\\[image: image/png\\]](https://f.example/a)"
    loss = Loss(path="/content/2", kind="media_as_text", what="image", shown_as=link)
    assert message_text(sent) == (f"one\n\n{link}", (loss,))


def test_an_unclosed_code_fence_does_not_swallow_the_next_part() -> None:
    sent = message(TextPart(text="```py\nx = 1\n"), TextPart(text="next"))

    assert message_text(sent) == ("```py\nx = 1\n```\n\nnext", ())


def test_plain_text_keeps_its_lines_and_indents() -> None:
    assert markdown_to_text(plain_to_markdown("a\r\n  b\n\n\nc ")) == (
        Paragraph((Text("a"), Break(), Text("  b"))),
        Paragraph((Text("c"),)),
    )
