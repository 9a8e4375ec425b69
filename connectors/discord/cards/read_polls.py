"""Discord's polls -> the node for polls. Pure; total."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import Native, Poll, PollAnswer
from connectors.discord.cards.read_inputs import led, read_emoji
from connectors.discord.cards.read_source import (
    Json,
    count,
    flagged,
    mapping,
    moment,
    objects,
    text,
    whole,
)
from connectors.discord.cards.read_unknown import unknown
from connectors.discord.cards.read_words import read_plain
from connectors.discord.cards.schemas import POLL


def read_poll(native: JsonValue, at: str) -> Poll | Native:
    if not isinstance(native, dict) or not isinstance(native.get("question"), dict):
        return unknown(native, POLL, at)
    given = native.get("answers")
    listed = given if isinstance(given, list) else []
    if not all(isinstance(one, dict) for one in listed):
        return unknown(native, POLL, at)
    votes = _votes(native)
    answers = tuple(
        _answer(one, votes, pointer(at, "answers", index))
        for index, one in enumerate(listed)
        if isinstance(one, dict)
    )
    return Poll(
        read_plain(text(mapping(native, "question"), "text")),
        answers,
        multiple=flagged(native, "allow_multiselect"),
        ends=moment(native, "expiry"),
        closed=flagged(mapping(native, "results"), "is_finalized"),
        at=at,
    )


def _votes(native: Json) -> dict[int, int] | None:
    """Votes by the answers' ids; None where Discord does not tell them. Answers without votes are
    not listed."""
    results = mapping(native, "results")
    if not isinstance(results.get("answer_counts"), list):
        return None
    found: dict[int, int] = {}
    for one in objects(results, "answer_counts"):
        answer, votes = whole(one, "id"), count(one, "count")
        if answer is not None and votes is not None:
            found[answer] = votes
    return found


def _answer(native: Json, votes: dict[int, int] | None, at: str) -> PollAnswer:
    media = mapping(native, "poll_media")
    emoji, lead = read_emoji(mapping(media, "emoji"))
    number = whole(native, "answer_id")
    counted = None if votes is None else votes.get(number if number is not None else -1, 0)
    return PollAnswer(led(lead, read_plain(text(media, "text"))), emoji, counted, at=at)
