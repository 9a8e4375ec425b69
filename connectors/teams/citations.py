"""Sources of an answer -> Teams' citations: `[1]` in the text links to a source. Pure.

Limits: msteams-docs, "Bot messages with AI-generated content" (2026-08): at most 20 in a message,
names of 80 and extracts of 160 characters. Cards have no citations: they get a list of links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from bridge.content.markdown import markdown_to_text
from bridge.content.messages.citations import with_source_list
from bridge.content.text.split import cut_text
from bridge.content.text.tree import List
from bridge.model import Loss
from bridge.model.operations import CITED, Source
from bridge.uacs import ContentPart, Message, TextPart
from connectors.teams.capabilities import CITATION_NAME, CITATION_QUOTE, CITATIONS
from connectors.teams.rich import Body

_MARK = re.compile(CITED.format(r"(\d{1,4})"))


def with_marks(text: str) -> str:
    """Return the text with its citation marks as `[1]`, without character references."""
    return _MARK.sub(r"[\1]", text)


def with_list_of(message: Message, sources: Sequence[Source]) -> tuple[Message, tuple[Loss, ...]]:
    """Return the message for a card, and the losses.

    Citation marks become numbers, and the sources a list of links below the content. A list of
    further sources, beyond the number that Teams cites, stays last.
    """
    if not sources:
        return message, ()
    content = [_with_numbers(part) for part in message.content]
    own_list = content[-1:] if _lists_from(content[-1], len(sources) + 1) else []
    words = content[: len(content) - len(own_list)]
    listed, losses = with_source_list(message.model_copy(update={"content": tuple(words)}), sources)
    whole = listed.model_copy(update={"content": (*listed.content, *own_list)})
    return whole, losses


def _with_numbers(part: ContentPart) -> ContentPart:
    if not isinstance(part, TextPart):
        return part
    number = r"\\[\1\\]" if part.is_markdown else r"[\1]"
    return part.model_copy(update={"text": _MARK.sub(number, part.text)})


def _lists_from(part: ContentPart, number: int) -> bool:
    if not isinstance(part, TextPart):
        return False
    match markdown_to_text(part.text):
        case (List(start=first),):
            return first == number
        case _:
            return False


def with_citations(body: Body, sources: Sequence[Source]) -> tuple[Body, tuple[Loss, ...]]:
    """Return the activity with the sources that its text cites, and the losses.

    The citations are a field of the AI label, so the activity must have one.
    """
    text = body.get("text")
    cited = set(map(int, _MARK.findall(text))) if isinstance(text, str) else set[int]()
    if not isinstance(text, str) or not cited:
        return body, ()
    cited_sources = [source for source in sources if source.number in cited][:CITATIONS]
    entities = body.get("entities")
    listed = entities if isinstance(entities, list) else []
    claims: list[JsonValue] = [_claim(source) for source in cited_sources]
    labelled: list[JsonValue] = [
        {**entity, "citation": claims}
        if isinstance(entity, dict) and _is_message(entity)
        else entity
        for entity in listed
    ]
    losses = tuple(_cut(source) for source in cited_sources if len(source.quote) > CITATION_QUOTE)
    return {**body, "text": with_marks(text), "entities": labelled}, losses


def _is_message(entity: dict[str, JsonValue]) -> bool:
    return entity.get("type") == "https://schema.org/Message"


def _claim(source: Source) -> JsonValue:
    name = source.title or source.url
    appearance: dict[str, JsonValue] = {
        "@type": "DigitalDocument",
        "name": cut_text(name, CITATION_NAME),
        "abstract": cut_text(source.quote or name, CITATION_QUOTE),
    }
    if source.url:
        appearance["url"] = source.url
    return {"@type": "Claim", "position": source.number, "appearance": appearance}


def _cut(source: Source) -> Loss:
    return Loss(
        path="/content",
        kind="citation_cut",
        what=f"the quote of source {source.number}",
        shown_as=f"its first {CITATION_QUOTE} characters",
    )
