"""Polls: their published limits, votes, and JSON. Pure.

Source: discord-api-docs resources/poll (2026-08).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from connectors.discord.sandbox.checks import Form
from connectors.discord.sandbox.rich.fields import Json, Node
from connectors.discord.sandbox.snowflakes import iso_time

MAX_HOURS = 768
MAX_ANSWERS = 10


@dataclass(slots=True)
class Poll:
    """A poll of a message; `votes`: answer id -> the users who gave it, in order."""

    question: Json
    answers: list[Json]  # poll_media; answer ids count from 1
    hours: int
    several: bool
    ends: float = 0.0
    finalized: bool = False
    votes: dict[int, dict[int, None]] = field(default_factory=dict[int, "dict[int, None]"])

    def vote(self, user: int, answers: set[int]) -> tuple[list[int], list[int]]:
        """Set a user's answers; returns the added and the removed answer ids."""
        added: list[int] = []
        removed: list[int] = []
        for number in range(1, len(self.answers) + 1):
            voters = self.votes.setdefault(number, {})
            if number in answers and user not in voters:
                voters[user] = None
                added.append(number)
            elif number not in answers and user in voters:
                del voters[user]
                removed.append(number)
        return added, removed


def read_poll(form: Form) -> Poll | None:
    node = Node(form, "", form.body).child("poll")
    if node is None:
        return None
    question = node.child("question", required=True)
    if question is not None:
        question.text("text", 300, min_length=1, required=True)
    answers = node.children("answers", 1, MAX_ANSWERS, required=True)
    media = [_answer(answer) for answer in answers]
    hours = node.integer("duration", 1, MAX_HOURS)
    node.choice("layout_type", (1,))
    return Poll(
        {"text": question.value.get("text", "") if question else ""}, media, hours or 24,
        node.flag("allow_multiselect"),
    )  # fmt: skip


def poll_json(poll: Poll, viewer: int | None = None) -> Json:
    counts = [
        {"id": number, "count": len(voters), "me_voted": viewer in voters}
        for number, voters in poll.votes.items()
        if voters
    ]
    return {
        "question": poll.question,
        "answers": [
            {"answer_id": number, "poll_media": media}
            for number, media in enumerate(poll.answers, 1)
        ],
        "expiry": iso_time(poll.ends),
        "allow_multiselect": poll.several,
        "layout_type": 1,
        "results": {"is_finalized": poll.finalized, "answer_counts": counts},
    }


def result_embed(poll: Poll) -> Json:
    """Return the embed of the message that reports a poll's end (docs: resources/message)."""
    votes = {number: len(poll.votes.get(number, {})) for number in range(1, len(poll.answers) + 1)}
    highest = max(votes.values())
    fields = {
        "poll_question_text": poll.question.get("text", ""),
        "victor_answer_votes": str(highest),
        "total_votes": str(sum(votes.values())),
    }
    if highest and list(votes.values()).count(highest) == 1:
        victor = next(number for number, count in votes.items() if count == highest)
        media = poll.answers[victor - 1]
        fields |= {"victor_answer_id": str(victor), "victor_answer_text": media.get("text", "")}
    return {
        "type": "poll_result",
        "fields": [{"name": n, "value": v, "inline": False} for n, v in fields.items()],
    }


def _answer(node: Node) -> Json:
    media = node.child("poll_media", required=True)
    if media is None:
        return {}
    text = media.text("text", 55)
    emoji = media.child("emoji")
    if not text and emoji is None:
        media.missing("text")
    checked: Json = {"text": text} if text else {}
    return checked | ({"emoji": emoji.value} if emoji else {})
