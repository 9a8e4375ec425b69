"""People whom a text mentions -> mention entities of a message or a card. Pure.

A mention is `<at>Name</at>` in the text and an entity with the same words (msteams-docs, "Channel
and group chat conversations with a bot" and "Format cards", 2026-09). In cards only TextBlocks
have mentions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic import JsonValue

from bridge.model import Counterparts, Person
from connectors.teams import ids
from connectors.teams.text import at_tag

Body = dict[str, JsonValue]


def with_mentions(body: Body, counterparts: Counterparts) -> Body:
    """Return the activity with an entity for each person whom its text or card mentions."""
    if not counterparts.people:
        return body
    people = list(counterparts.people.values())
    if isinstance(text := body.get("text"), str) and (entities := _entities(text, people)):
        body = {**body, "entities": entities}
    if isinstance(attachments := body.get("attachments"), list):
        body = {**body, "attachments": [_in_card(attachment, people) for attachment in attachments]}
    return body


def _entities(text: str, people: list[Person]) -> list[JsonValue]:
    return [_entity(person) for person in people if at_tag(person.name) in text]


def _entity(person: Person) -> JsonValue:
    _, account = ids.split_actor(person.id)
    name = at_tag(person.name).removeprefix("<at>").removesuffix("</at>")
    mentioned: JsonValue = {"id": account, "name": name}
    return {"type": "mention", "text": at_tag(person.name), "mentioned": mentioned}


def _in_card(attachment: JsonValue, people: list[Person]) -> JsonValue:
    match attachment:
        case {"content": {"type": "AdaptiveCard", **card}, **attachment_fields}:
            texts = "\n".join(_texts(cast("JsonValue", card)))
            if entities := _entities(texts, people):
                msteams = card.get("msteams")
                extras: Body = {**(msteams if isinstance(msteams, dict) else {})}
                extras["entities"] = entities
                content: Body = {"type": "AdaptiveCard", **card, "msteams": extras}
                return {**attachment_fields, "content": content}
            return attachment
        case _:
            return attachment


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts of the TextBlocks."""
    stack = [value]
    while stack:
        match stack.pop():
            case list(items):
                stack += items
            case {"type": "TextBlock", "text": str(text)}:
                yield text
            case dict(fields):
                stack += fields.values()
            case _:
                pass
