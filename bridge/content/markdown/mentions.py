"""The people and channels that UACS Markdown mentions, and their names. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pyromark

from bridge.content.markdown.reader import MARKDOWN_OPTIONS, markdown_to_text
from bridge.content.markdown.writer import own_node_to_markdown
from bridge.content.text.inlines import STYLES, leaves
from bridge.content.text.names import is_bare_id
from bridge.content.text.normal import cleaned, flat_blocks
from bridge.content.text.tree import (
    Block,
    Broadcast,
    ChannelLink,
    Document,
    GroupMention,
    Heading,
    Inline,
    Link,
    Mention,
    Paragraph,
    Table,
)
from bridge.content.text.uacs_links import SCHEME
from bridge.model import ActorId

Named = Mention | GroupMention | ChannelLink
_ACTOR = f"{SCHEME}actor/"
_KINDS = (_ACTOR, f"{SCHEME}group/", f"{SCHEME}channel/")


def mentioned_actors(markdown: str) -> tuple[ActorId, ...]:
    """Returns every mentioned actor, each once, in order; code and escaped text mention nobody."""
    if _ACTOR not in markdown:
        return ()
    mentions = _references(markdown_to_text(markdown))
    actors = [node.actor for node in mentions if isinstance(node, Mention)]
    return tuple(dict.fromkeys(actors))


def mentions_named(markdown: str) -> tuple[Named, ...]:
    """Returns every mention of a person, a group or a channel, in order."""
    if not any(kind in markdown for kind in _KINDS):
        return ()
    return tuple(_references(markdown_to_text(markdown)))


def targets_in(markdown: str) -> frozenset[str]:
    """Returns whatever the text leads or speaks to: addresses of links, and the people, groups and
    channels that it mentions, also everybody."""
    nodes = (
        node
        for block in flat_blocks(markdown_to_text(markdown))
        for run in _runs(block)
        for node in _nodes(run)
    )
    return frozenset(target for node in nodes if (target := _target(node)) is not None)


def _nodes(run: Iterable[Inline]) -> Iterator[Inline]:
    """The links of a run, and all nodes that contain no others."""
    for node in leaves(run, STYLES):
        yield node
        if isinstance(node, Link):
            yield from leaves(node.children)


def _target(node: Inline) -> str | None:
    match node:
        case Link(url):
            return url
        case Broadcast(whom):
            return f"@{whom}"
        case Mention() | GroupMention() | ChannelLink():
            return key_of(node)
        case _:
            return None


def rename_mentions(markdown: str, names: Mapping[str, str]) -> str:
    """Returns the Markdown with new names in its mentions; everything else stays as it is.

    Groups and channels change only if they had a bare id.

    Args:
        markdown: UACS Markdown.
        names: The names by actor id or key.
    """
    if not names or not any(kind in markdown for kind in _KINDS):
        return markdown
    source = cleaned(markdown).encode()
    written: list[bytes] = []
    end = 0
    for start, stop in _links_to_named(source.decode()):
        node = next(_references(markdown_to_text(source[start:stop].decode())), None)
        if start < end or node is None or (name := _new_name(node, names)) is None:
            continue
        link = own_node_to_markdown(replace(node, name=name))
        written += [source[end:start], link.encode("utf-8", "replace")]
        end = stop
    return b"".join([*written, source[end:]]).decode() if written else markdown


def key_of(node: Named) -> str:
    """Returns the actor id, or the key of the group or channel."""
    match node:
        case Mention(key) | GroupMention(key) | ChannelLink(key):
            return key


def _new_name(node: Named, names: Mapping[str, str]) -> str | None:
    key = key_of(node)
    is_open = isinstance(node, Mention) or is_bare_id(key, node.name)
    return names.get(key) if is_open else None


def mention_markdown(actor: ActorId, name: str) -> str:
    """Returns a mention as UACS Markdown."""
    return own_node_to_markdown(Mention(actor, name))


def _links_to_named(markdown: str) -> Iterator[tuple[int, int]]:
    """The places of mentions, in bytes: the parser knows what is code and what is escaped."""
    for event, place in pyromark.events_with_range(markdown, options=MARKDOWN_OPTIONS):
        match event:
            case {"Start": {"Link": {"dest_url": str(url)}}} if url.startswith(_KINDS):
                yield place["start"], place["end"]
            case _:
                pass


def _references(document: Document) -> Iterator[Named]:
    for block in flat_blocks(document):
        for run in _runs(block):
            yield from (node for node in leaves(run) if isinstance(node, Named))


def _runs(block: Block) -> Iterator[tuple[Inline, ...]]:
    match block:
        case Paragraph(children) | Heading(_, children):
            yield children
        case Table(header, rows):
            for row in (header, *rows):
                yield from row
        case _:
            return
