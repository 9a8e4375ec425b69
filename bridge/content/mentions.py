"""Who is mentioned in UACS Markdown, and giving them the names by which they are known. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from bridge.content.text import Mention
from bridge.content.uacs_links import SCHEME, own_node_to_link
from bridge.model import ActorId

_MENTION = re.compile(r"\[(@(?:[^\[\]\\]|\\.)*)\]\(" + re.escape(SCHEME) + r"actor/([^()\s?]+)\)")


def mentioned_actors(markdown: str) -> tuple[ActorId, ...]:
    """Every actor mentioned, each once, in order."""
    found = [ActorId(unquote(match.group(2))) for match in _MENTION.finditer(markdown)]
    return tuple(dict.fromkeys(found))


def rename_mentions(markdown: str, names: Mapping[ActorId, str]) -> str:
    """Mentions of these actors carry these names; everything else stays as it is."""
    if "(uacs:actor/" not in markdown:
        return markdown
    return _MENTION.sub(lambda match: _renamed(match, names), markdown)


def mention_markdown(actor: ActorId, name: str) -> str:
    """A mention as UACS Markdown."""
    label, url = own_node_to_link(Mention(actor, name))
    return f"[{_escaped(label)}]({url})"


def _renamed(match: re.Match[str], names: Mapping[ActorId, str]) -> str:
    actor = ActorId(unquote(match.group(2)))
    return mention_markdown(actor, names[actor]) if actor in names else match.group()


def _escaped(label: str) -> str:
    return re.sub(r"[\\`*_\[\]<>~|&]", lambda found: "\\" + found.group(), label)
