"""Validates ACP messages against the schema of message bodies in an agent's settings. Pure.

Source: the seed on message bodies: every part must match an entry by name and content type, and
every required entry must match a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bridge.agents.acp.write import PLAIN
from bridge.agents.codec.json_values import Json, arr, obj, text
from bridge.content.messages.negotiation import Accepted, describe_accepted, takes
from bridge.model import Loss

_MOST_FAULTS = 10


def accepted_parts(
    messages: Sequence[Json], schema: Sequence[Accepted]
) -> tuple[list[Json], list[Loss]]:
    """Return the messages with the parts that the agent accepts; other parts are named in text, if
    it accepts text."""
    if not schema:
        return list(messages), []
    losses: list[Loss] = []
    accepted_messages: list[Json] = []
    for number, message in enumerate(messages):
        parts: list[Json] = []
        for index, part in enumerate(map(obj, arr(message.get("parts")))):
            if _fits(part, schema):
                parts.append(part)
                continue
            named: Json = {"content_type": PLAIN, "content": f"[{_named(part)}]"}
            shown_as = named["content"] if _fits(named, schema) and not _is_text(part) else ""
            parts += [named] if shown_as else []
            path = f"/input/{number}/parts/{index}"
            refused_part = f"{_named(part)}, which the agent does not accept"
            losses.append(
                Loss(path=path, kind="not_accepted", what=refused_part, shown_as=str(shown_as))
            )
        if parts:
            accepted_messages.append({**message, "parts": [*parts]})
    return accepted_messages, losses


def missing(messages: Sequence[Json], schema: Sequence[Accepted]) -> list[str]:
    """Return descriptions of required entries without a matching part."""
    parts = list(_parts(messages))
    required = [accepted for accepted in schema if accepted.required]
    return [
        describe_accepted(entry)
        for entry in required
        if not any(_fits(part, [entry]) for part in parts)
    ]


def mismatches(messages: Sequence[Json], schema: Sequence[Accepted]) -> list[str]:
    """Return descriptions of the first parts of an answer that do not match, and of missing
    parts."""
    if not schema:
        return []
    unfit = [f"{_named(part)} is not among what it gives"
             for part in _parts(messages) if not _fits(part, schema)]  # fmt: skip
    absent = [
        f"{description} is required, and missing" for description in missing(messages, schema)
    ]
    return [*unfit, *absent][:_MOST_FAULTS]


def _parts(messages: Sequence[Json]) -> Iterator[Json]:
    return (obj(part) for message in messages for part in arr(message.get("parts")))


def _fits(part: Json, schema: Sequence[Accepted]) -> bool:
    """Return whether a part matches. A step (trajectory) has no content to validate."""
    if part.get("content") is None and not _url(part):
        return True
    return any(takes(accepted, _kind(part), name=text(part.get("name"))) for accepted in schema)


def _url(part: Json) -> str:
    return text(part.get("content_url")) or text(part.get("contentUrl"))


def _kind(part: Json) -> str:
    kind = text(part.get("content_type")) or text(part.get("contentType")) or PLAIN
    return kind.partition(";")[0].strip().lower()


def _is_text(part: Json) -> bool:
    return _kind(part).startswith("text/") and not part.get("name")


def _named(part: Json) -> str:
    name = text(part.get("name"))
    return f"a part {_kind(part)}{f' named {name}' if name else ''}"
