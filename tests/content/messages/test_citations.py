"""Sources that an answer cites: their numbers in its words, and what stands below."""

from __future__ import annotations

from typing import Any

from bridge.content.messages.agent_parts import CITATIONS
from bridge.content.messages.citations import with_source_list, with_source_numbers
from bridge.content.messages.parts import message_text
from bridge.model.operations import Source
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart

LAW = {"title": "The law", "url": "https://law.example/7", "quote": "Nobody may."}
NEWS = {"title": "", "url": "https://news.example/"}
BOOK = {"title": "A book"}


def cites(*sources: Any) -> StructuredDataPart:
    return StructuredDataPart(schema_id=CITATIONS, data={"citations": list(sources)})


def answer(*parts: Any) -> Message:
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return Message(
        message_id="agent:bot:1", timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="agent:bot", role="assistant", name="bot"), content=content,
    )  # fmt: skip


def text_and_sources(message: Message) -> tuple[str, tuple[Source, ...]]:
    plain, sources, _ = with_source_numbers(message, "<{}>".format)
    return message_text(plain)[0], sources


def test_a_source_has_one_number_wherever_it_is_cited() -> None:
    text, sources = text_and_sources(
        answer("It is forbidden.", cites(LAW, NEWS), "So they say.", cites(NEWS, BOOK))
    )

    assert text == "It is forbidden. <1><2>\n\nSo they say. <2><3>"
    assert sources == (
        Source(1, "The law", "https://law.example/7", "Nobody may."),
        Source(2, "", "https://news.example/"),
        Source(3, "A book", ""),
    )


def test_source_numbers_stay_out_of_code_and_tables() -> None:
    for block in ("```\ncode\n```", "```\nopen", "|a|\n|-|\n|b|", "    code"):
        text, _ = text_and_sources(answer(block, cites(BOOK)))

        assert text.endswith("\n\n<1>"), block


def test_a_citation_without_text_before_it_is_its_own_part() -> None:
    assert text_and_sources(answer(cites(BOOK)))[0] == "<1>"
    assert text_and_sources(answer("Words.", cites({"url": "javascript:alert(1)"}, 7))) == (
        "Words.",
        (),
    )


def test_the_source_list_has_numbered_links_and_a_loss_for_omitted_quotes() -> None:
    plain, sources, _ = with_source_numbers(
        answer("It is forbidden.", cites(LAW, NEWS, BOOK)), "<{}>".format
    )

    listed, losses = with_source_list(plain, sources)

    assert message_text(listed)[0].partition("\n\n")[2].split("\n") == [
        "1. [The law](https://law.example/7)", "2. https://news.example/",
        "3. A book",
    ]  # fmt: skip
    assert [loss.kind for loss in losses] == ["citation_quote"]


def test_a_second_quote_of_a_source_is_a_loss() -> None:
    again = {**LAW, "quote": "Nobody at all."}

    _, (source,), losses = with_source_numbers(
        answer("A.", cites(LAW), "B.", cites(again)), "<{}>".format
    )

    assert source.quote == "Nobody may."
    assert [loss.path for loss in losses] == ["/content/3"]
