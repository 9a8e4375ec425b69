"""Citations of an answer -> numbers in its text, and the sources by number. Pure.

Parts keep their places. A source that several parts cite has one number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bridge.content.markdown import text_to_markdown
from bridge.content.messages.agent_parts import STATE, cited_by, is_hidden
from bridge.content.text.cut_points import close_fence
from bridge.content.text.tree import Link, List, ListItem, Paragraph, Text
from bridge.model import Loss
from bridge.model.operations import Source
from bridge.uacs import ContentPart, Message, StructuredDataPart, TextPart

_HIDDEN_PART = StructuredDataPart(schema_id=STATE, data={})
_OWN_LINE = ("```", "~~~", "|", "    ", "\t", "<", "#", "---", "***", "___")  # last lines of blocks


def has_sources(message: Message) -> bool:
    """Whether the message cites sources."""
    return any(cited_by(part) is not None for part in message.content)


def with_source_numbers(
    message: Message, mark: Callable[[int], str]
) -> tuple[Message, tuple[Source, ...], tuple[Loss, ...]]:
    """Returns the message with a mark behind the text that cites each source.

    Args:
        message: The message.
        mark: Returns the mark of a number.

    Returns:
        The message; the sources by number, each with the first quote of it; a Loss for each further
            quote.
    """
    content: list[ContentPart] = list(message.content)
    sources: dict[tuple[str, str], Source] = {}
    losses: list[Loss] = []
    for index, part in enumerate(message.content):
        if (cited := cited_by(part)) is None:
            continue
        content[index] = _HIDDEN_PART
        numbers: dict[int, None] = {}
        for title, url, quote in cited:
            source = sources.setdefault((title, url), Source(len(sources) + 1, title, url, quote))
            numbers[source.number] = None
            if quote and quote != source.quote:
                losses.append(_loss(index, "a second quote of a source", "the first one"))
        if numbers:
            _insert(content, index, "".join(map(mark, numbers)))
    with_numbers = message.model_copy(update={"content": tuple(content)})
    return with_numbers, tuple(sources.values()), tuple(losses)


def with_source_list(
    message: Message, sources: Sequence[Source]
) -> tuple[Message, tuple[Loss, ...]]:
    """Returns the message with a list of sources below it, each as a link; a Loss names omitted
    quotes."""
    if not sources:
        return message, ()
    items = tuple(ListItem((Paragraph((_link_to(source),)),)) for source in sources)
    text = text_to_markdown((List(items, start=sources[0].number),))
    with_sources = message.model_copy(update={"content": (*message.content, TextPart(text=text))})
    quoted = any(source.quote for source in sources)
    at = len(message.content)
    return with_sources, (_loss(at, "what was quoted of sources", "their links"),) if quoted else ()


def _insert(content: list[ContentPart], index: int, numbers_text: str) -> None:
    """Puts the marks behind the text before the citation; in the citation's own place if there is
    none."""
    at = index - 1
    while at >= 0 and is_hidden(content[at]):
        at -= 1
    before = content[at] if at >= 0 else None
    if not isinstance(before, TextPart):
        content[index] = TextPart(text=numbers_text)
        return
    if not before.is_markdown:
        numbers_text = numbers_text.replace("\\", "")
        content[at] = before.model_copy(update={"text": f"{before.text.rstrip()} {numbers_text}"})
        return
    text = close_fence(before.text).rstrip()
    last = text.rpartition("\n")[2]
    gap = "\n\n" if last.startswith(_OWN_LINE) else " "
    content[at] = before.model_copy(update={"text": f"{text}{gap}{numbers_text}"})


def _link_to(source: Source) -> Link | Text:
    title = source.title or source.url
    return Link(source.url, (Text(title),)) if source.url else Text(title)


def _loss(index: int, what: str, shown_as: str) -> Loss:
    return Loss(path=f"/content/{index}", kind="citation_quote", what=what, shown_as=shown_as)
