"""The bridge's own structured data in messages of agents: reasoning, state, citations, documents,
values. Pure.

Schema ids -> the shape of `data`:

- `REASONING` `{"text": ...}`: the reasoning of a model before its answer; people do not see it.
- `STATE` `{"api": ..., "fields" | "item" | "message": ...}`: data that only one API can read
  (signatures, ids, encrypted reasoning). People do not see it, and only that API gets it back.
  `fields` belong to the part before it, `message` to the message, `item` has its own place.
- `CITATIONS` `{"citations": [{"title", "url", "quote"}, ...]}`: sources of the part before it.
- `DOCUMENT` `{"title": ..., "text": ...}`: knowledge that was retrieved.
- `HAND_OVER` `{"to": ..., "why": ...}`: another agent of the room by its name, or `person`,
  continues the conversation; `back`: the one who had handed over. The bridge tells the room so.
- `PROPOSAL` `{"agents": [{"who", "name", "url", "synopsis"}, ...]}`: agents that the room may
  invite, by name or address. The bridge asks the room.
- `FLOOR` `{"act": "grant" | "revoke" | "uninvite" | "yield", "to": ..., "why": ..., "token":
  ...}`: who may speak. A convener decides about others; `yield` is the agent's own floor.
- `VALUE` `{"value": ...}` or any JSON: an answer in a requested format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from bridge.content.text.tree import Inline, Link, Paragraph, Text
from bridge.content.text.urls import safe_url
from bridge.model.floor import FloorChange
from bridge.uacs import ContentPart, StructuredDataPart

REASONING = "application/vnd.uacs.reasoning+json"
STATE = "application/vnd.uacs.agent-state+json"
CITATIONS = "application/vnd.uacs.citations+json"
DOCUMENT = "application/vnd.uacs.document+json"
HAND_OVER = "application/vnd.uacs.hand-over+json"
PROPOSAL = "application/vnd.uacs.agent-proposal+json"
FLOOR = "application/vnd.uacs.floor+json"
PERSON = "person"  # the receiver of a hand-over to people
BACK = "back"  # the receiver of a hand-over that ends the one before
VALUE = "application/vnd.uacs.value+json"

HIDDEN_SCHEMAS = frozenset((REASONING, STATE, HAND_OVER, PROPOSAL, FLOOR))
_MAX_REASON = 200  # characters of a reason
_MAX_NAME = 40  # characters of an agent's name
_MAX_CITATIONS = 20  # citations shown per part


def is_hidden(part: ContentPart) -> bool:
    """Whether only agents see this part; people see nothing in its place."""
    return isinstance(part, StructuredDataPart) and part.schema_id in HIDDEN_SCHEMAS


def hand_over_of(part: ContentPart) -> tuple[str, str] | None:
    """Returns the receiver of a hand-over and its reason (in one line); None for any other part."""
    if not isinstance(part, StructuredDataPart) or part.schema_id != HAND_OVER:
        return None
    if not isinstance(part.data, Mapping) or not (to := _one_line(part.data.get("to"))):
        return None
    return to.removeprefix("@"), _one_line(part.data.get("why"))[:_MAX_REASON]


def floor_part(change: FloorChange) -> JsonValue:
    """Returns the part that changes who may speak, as JSON."""
    data: JsonValue = {
        "act": change.act, "to": change.to, "why": change.reason, "token": change.token,
    }  # fmt: skip
    return {"type": "structured_data", "schema_id": FLOOR, "data": data}


def floor_change_of(part: ContentPart) -> FloorChange | None:
    """Returns what a part changes on the floor; None for any other part."""
    if not isinstance(part, StructuredDataPart) or part.schema_id != FLOOR:
        return None
    data = part.data if isinstance(part.data, Mapping) else {}
    act, to = data.get("act"), _one_line(data.get("to"))
    if act not in ("grant", "revoke", "uninvite", "yield") or not (to or act == "yield"):
        return None
    why = _one_line(data.get("why"))[:_MAX_REASON]
    return FloorChange(act, to, why, _one_line(data.get("token"))[:_MAX_NAME])


@dataclass(frozen=True)
class ProposedAgent:
    """An agent that may be invited: `who` is its name in the bridge, or its address."""

    who: str
    name: str
    url: str = ""
    synopsis: str = ""


def proposal(agents: Sequence[ProposedAgent]) -> JsonValue:
    """Returns the part that proposes agents, as JSON."""
    described: list[JsonValue] = [
        {"who": one.who, "name": one.name, "url": one.url, "synopsis": one.synopsis}
        for one in agents
    ]
    return {"type": "structured_data", "schema_id": PROPOSAL, "data": {"agents": described}}


def proposed_by(part: ContentPart) -> tuple[ProposedAgent, ...]:
    """Returns the agents that a part proposes; none for any other part."""
    if not isinstance(part, StructuredDataPart) or part.schema_id != PROPOSAL:
        return ()
    entries = part.data.get("agents") if isinstance(part.data, Mapping) else None
    found: list[ProposedAgent] = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and (who := _one_line(entry.get("who"))):
            name = _one_line(entry.get("name"))[:_MAX_NAME] or who[:_MAX_NAME]
            synopsis = _one_line(entry.get("synopsis"))[:_MAX_REASON]
            url = safe_url(_one_line(entry.get("url"))) or ""
            found.append(ProposedAgent(who, name, url, synopsis))
    return tuple(found)


def citations(part: ContentPart) -> tuple[Paragraph, ...] | None:
    """Returns the cited sources as one line each; None for a part that is no citation."""
    sources = cited_by(part)
    if sources is None:
        return None
    lines = dict.fromkeys((title, url) for title, url, _ in sources)
    links = [_line(title, url) for title, url in list(lines)[:_MAX_CITATIONS]]
    return tuple(Paragraph((Text("Source: "), line)) for line in links)


def cited_by(part: ContentPart) -> list[tuple[str, str, str]] | None:
    """Returns title, address and quote of each source that can be shown; None for a part that is no
    citation."""
    if not isinstance(part, StructuredDataPart) or part.schema_id != CITATIONS:
        return None
    entries = part.data.get("citations") if isinstance(part.data, Mapping) else None
    sources: list[tuple[str, str, str]] = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            url = safe_url(_one_line(entry.get("url"))) or ""
            source = (_one_line(entry.get("title")), url, _one_line(entry.get("quote")))
            sources += [source] if source[0] or url else []
    return sources


def _one_line(value: JsonValue) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _line(title: str, url: str) -> Inline:
    return Link(url, (Text(title or url),)) if url else Text(title)
