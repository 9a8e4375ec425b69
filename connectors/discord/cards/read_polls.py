"""Discord's polls -> the node for polls. Pure; total."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import Native, Poll, PollAnswer
from connectors.discord.cards.read_inputs import read_emoji, with_lead
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
    native_answers = native.get("answers")
    answer_list = native_answers if isinstance(native_answers, list) else []
    if not all(isinstance(item, dict) for item in answer_list):
        return unknown(native, POLL, at)
    votes = _votes(native)
    answers = tuple(
        _answer(item, votes, pointer(at, "answers", index))
        for index, item in enumerate(answer_list)
        if isinstance(item, dict)
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
    """Return the votes by answer id; None if Discord does not send them.

    Discord leaves out answers without votes.
    """
    results = mapping(native, "results")
    if not isinstance(results.get("answer_counts"), list):
        return None
    counts: dict[int, int] = {}
    for entry in objects(results, "answer_counts"):
        answer, votes = whole(entry, "id"), count(entry, "count")
        if answer is not None and votes is not None:
            counts[answer] = votes
    return counts


def _answer(native: Json, votes: dict[int, int] | None, at: str) -> PollAnswer:
    media = mapping(native, "poll_media")
    emoji, lead = read_emoji(mapping(media, "emoji"))
    number = whole(native, "answer_id")
    counted = None if votes is None else votes.get(number if number is not None else -1, 0)
    return PollAnswer(with_lead(lead, read_plain(text(media, "text"))), emoji, counted, at=at)
