"""Who is mentioned in UACS Markdown, and giving them the names by which they are known. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyromark

from bridge.content.inlines import leaves
from bridge.content.markdown_reader import MARKDOWN_OPTIONS, markdown_to_text
from bridge.content.markdown_writer import own_node_to_markdown
from bridge.content.normal import cleaned, flat_blocks
from bridge.content.text import Block, Document, Heading, Inline, Mention, Paragraph, Table
from bridge.content.uacs_links import SCHEME
from bridge.model import ActorId

_ACTOR = f"{SCHEME}actor/"


def mentioned_actors(markdown: str) -> tuple[ActorId, ...]:
    """Every actor mentioned, each once, in order. Code and escaped text mention nobody."""
    if _ACTOR not in markdown:
        return ()
    found = [node.actor for node in _mentions(markdown_to_text(markdown))]
    return tuple(dict.fromkeys(found))


def rename_mentions(markdown: str, names: Mapping[ActorId, str]) -> str:
    """Mentions of these actors carry these names; everything else stays as it is."""
    if _ACTOR not in markdown or not names:
        return markdown
    source = cleaned(markdown).encode()
    written: list[bytes] = []
    end = 0
    for start, stop in _links_to_actors(source.decode()):
        node = next(_mentions(markdown_to_text(source[start:stop].decode())), None)
        if start < end or node is None or node.actor not in names:
            continue
        named = own_node_to_markdown(replace(node, name=names[node.actor]))
        written += [source[end:start], named.encode("utf-8", "replace")]
        end = stop
    return b"".join([*written, source[end:]]).decode() if written else markdown


def mention_markdown(actor: ActorId, name: str) -> str:
    """A mention as UACS Markdown."""
    return own_node_to_markdown(Mention(actor, name))


def _links_to_actors(markdown: str) -> Iterator[tuple[int, int]]:
    """Where they stand, in bytes: the parser knows what is code and what is escaped."""
    for event, place in pyromark.events_with_range(markdown, options=MARKDOWN_OPTIONS):
        match event:
            case {"Start": {"Link": {"dest_url": str(url)}}} if url.startswith(_ACTOR):
                yield place["start"], place["end"]
            case _:
                pass


def _mentions(document: Document) -> Iterator[Mention]:
    for block in flat_blocks(document):
        for run in _runs(block):
            yield from (node for node in leaves(run) if isinstance(node, Mention))


def _runs(block: Block) -> Iterator[tuple[Inline, ...]]:
    match block:
        case Paragraph(children) | Heading(_, children):
            yield children
        case Table(header, rows):
            for row in (header, *rows):
                yield from row
        case _:
            return
