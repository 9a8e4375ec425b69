"""Mention lists of a message or card -> nodes for its `<at>` tags."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bridge.content.text.tree import ChannelLink, GroupMention, Inline, Mention, Text
from bridge.model import join_key
from connectors.teams import ids
from connectors.teams.cards.json_values import Json, object_at, string


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A mentioned person, tag or channel (`kind`), with id and name."""

    kind: str
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Mentions:
    """The mentions of one message or card, by tag text and by number."""

    workspace: str = ""
    by_words: dict[str, Mentioned] = field(default_factory=dict[str, Mentioned])
    by_number: dict[str, Mentioned] = field(default_factory=dict[str, Mentioned])

    def by_text(self, words: str) -> Inline:
        """Return the node of `<at>words</at>`; without an entity it is text."""
        name = " ".join(words.split())
        mentioned = self.by_words.get(words) or self.by_words.get(name)
        return self._node(mentioned, name) if mentioned else Text(f"@{name}")

    def numbered(self, number: str, words: str) -> Inline:
        """Return the node of `<at id="0">words</at>`, as in HTML."""
        mentioned = self.by_number.get(number)
        return self._node(mentioned, words) if mentioned else self.by_text(words)

    def _node(self, mentioned: Mentioned, words: str) -> Inline:
        name = words or mentioned.name or mentioned.id
        match mentioned.kind:
            case "person":
                return Mention(ids.actor_id(self.workspace, mentioned.id), name)
            case "tag":
                return GroupMention(join_key(ids.PLATFORM, self.workspace, mentioned.id), name)
            case _:
                return ChannelLink(ids.channel_ref(self.workspace, mentioned.id).key, name)


def mentions_of_entities(entities: Iterable[Json], workspace: str) -> Mentions:
    """Return the mentions in the entities of an activity or card; numbers count only these."""
    mentions = Mentions(workspace)
    mention_entities = (entry for entry in entities if string(entry, "type") == "mention")
    for number, entity in enumerate(mention_entities):
        mentioned = object_at(entity, "mentioned")
        name, own_id = string(mentioned, "name"), string(mentioned, "id")
        if not own_id:
            continue
        kind = string(mentioned, "mentionType") or string(entity, "mentionType")
        entry = Mentioned(_kind(own_id, kind), own_id, name)
        mentions.by_number[str(number)] = entry
        tagged = string(entity, "text").removeprefix("<at>").removesuffix("</at>")
        for words in (tagged, name):
            mentions.by_words.setdefault(words, entry)
    mentions.by_words.pop("", None)
    return mentions


def mentions_of_graph(several: Iterable[Json], workspace: str) -> Mentions:
    """Return the `mentions` of a Microsoft Graph chatMessage, by the numbers of its tags."""
    mentions = Mentions(workspace)
    for mention in several:
        mentioned = object_at(mention, "mentioned")
        identities = [(key, object_at(mentioned, key)) for key in _GRAPH if mentioned.get(key)]
        for key, named in identities[:1]:
            if own_id := string(named, "id"):
                name = string(named, "displayName") or string(mention, "mentionText")
                entry = Mentioned(_GRAPH[key], own_id, name)
                mentions.by_number[string(mention, "id")] = entry
                mentions.by_words.setdefault(string(mention, "mentionText") or name, entry)
    return mentions


_GRAPH = {
    "user": "person",
    "application": "person",
    "device": "person",
    "tag": "tag",
    "conversation": "channel",
}


def _kind(own_id: str, mention_type: str) -> str:
    if mention_type.lower() == "tag":
        return "tag"
    return "channel" if own_id.startswith("19:") else "person"
