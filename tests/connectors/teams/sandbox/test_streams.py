"""Streamed messages in a personal chat: accepted and refused steps, and expiry."""

from __future__ import annotations

from typing import Any

import pytest
from botbuilder.core import ActivityHandler, TurnContext
from botbuilder.schema import Activity, Entity

from connectors.teams.sandbox import streaming
from tests.connectors.teams.sandbox.bots import (
    PlainAdapter,
    listening,
    message_route,
    no_authentication,
)
from tests.connectors.teams.sandbox.rest import Answer, RestClient, activities, as_bot
from tests.connectors.teams.sandbox.running import RunningTeams

Json = dict[str, Any]


def chat_of(teams: RunningTeams, key: str = "bridge") -> str:
    person = teams.teams.world().people[0].id
    return teams.teams.personal_chat(key, person)


def step(text: str, **entity: Any) -> Json:
    return {"type": "typing", "text": text, "entities": [{"type": "streaminfo", **entity}]}


def last(text: str, stream: str) -> Json:
    entity = {"type": "streaminfo", "streamType": "final", "streamId": stream}
    return {"type": "message", "text": text, "entities": [entity]}


async def begun(rest: RestClient, chat: str, text: str = "A brown") -> str:
    answer = await rest("POST", activities(chat), step(text, streamSequence=1))
    assert answer.status == 201, answer.body
    return answer.body["id"]


def code(answer: Answer) -> str:
    return answer.body.get("error", {}).get("code", "")


async def test_a_streamed_message_grows_and_is_completed(teams: RunningTeams) -> None:
    chat = chat_of(teams)
    async with as_bot(teams) as rest:
        waiting = await rest(
            "POST", activities(chat),
            step("Looking it up", streamType="informative", streamSequence=1),
        )  # fmt: skip
        stream = waiting.body["id"]
        before = await teams.texts(chat)
        continuation = {"streamId": stream, "streamType": "streaming"}
        grown = await rest(
            "POST", activities(chat), step("A brown", streamSequence=2, **continuation)
        )
        more = await rest(
            "POST", activities(chat), step("A brown fox", streamSequence=3, **continuation)
        )
        during = await teams.texts(chat)
        whole = await rest("POST", activities(chat), last("A brown fox jumps.", stream))

    assert (waiting.status, grown.status, more.status, whole.status) == (201, 202, 202, 202)
    assert (before, during) == ([], ["A brown fox"])
    messages = await teams.call(lambda: teams.teams.messages(teams.tenant, chat))
    assert [(message.id, message.text, message.edited) for message in messages] == [
        (stream, "A brown fox jumps.", False)
    ]


@pytest.mark.parametrize(
    ("activity", "status", "error"),
    [
        (step("", streamSequence=1), 400, "BadRequest"),
        (step("a", streamSequence=2), 400, "BadRequest"),
        (step("a"), 400, "BadRequest"),
        (step("a", streamType="final", streamSequence=1), 400, "BadRequest"),
        (step("a", streamType="informative", streamSequence=1) | {"text": "x" * 1001}, 400,
         "BadRequest"),
        (last("a", ""), 400, "BadRequest"),
        (step("a", streamSequence=2, streamId="404"), 400, "BadRequest"),
    ],
)  # fmt: skip
async def test_an_invalid_stream_activity_is_refused(
    teams: RunningTeams, activity: Json, status: int, error: str
) -> None:
    async with as_bot(teams) as rest:
        answer = await rest("POST", activities(chat_of(teams)), activity)

    assert (answer.status, code(answer)) == (status, error)


async def test_streams_are_limited_to_personal_chats(teams: RunningTeams) -> None:
    async with as_bot(teams) as rest:
        answer = await rest("POST", activities(teams.channel), step("a", streamSequence=1))

    assert (answer.status, code(answer)) == (403, "ContentStreamNotAllowed")


async def test_a_chat_has_one_stream_at_a_time(teams: RunningTeams) -> None:
    chat = chat_of(teams)
    async with as_bot(teams) as rest:
        stream = await begun(rest, chat)
        second = await rest("POST", activities(chat), step("b", streamSequence=1))
        await rest("POST", activities(chat), last("A brown fox", stream))
        third = await rest("POST", activities(chat), step("b", streamSequence=1))

    assert (second.status, code(second)) == (403, "ContentStreamNotAllowed")
    assert third.status == 201


async def test_streamed_text_may_only_grow(teams: RunningTeams) -> None:
    chat = chat_of(teams)
    async with as_bot(teams) as rest:
        stream = await begun(rest, chat)
        continuation = {"streamId": stream, "streamType": "streaming"}
        other = await rest(
            "POST", activities(chat), step("Hello", streamSequence=2, **continuation)
        )
        late = await rest(
            "POST", activities(chat), step("A brown fox", streamSequence=1, **continuation)
        )
        texts = await teams.texts(chat)

    assert (other.status, code(other)) == (403, "ContentStreamNotAllowed")
    assert (late.status, code(late)) == (202, "ContentStreamSequenceOrderPreConditionFailed")
    assert texts == ["A brown"]


async def test_a_completed_stream_accepts_no_more_text(
    teams: RunningTeams, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = chat_of(teams)
    async with as_bot(teams) as rest:
        done = await begun(rest, chat)
        await rest("POST", activities(chat), last("A brown fox", done))
        again = await rest("POST", activities(chat), last("A brown fox", done))
        old = await begun(rest, chat)
        while_open = await rest("PUT", activities(chat, old), {"type": "message", "text": "no"})
        monkeypatch.setattr(streaming, "LIFE", 0.0)
        late = await rest("POST", activities(chat), last("A brown fox", old))
        edited = await rest("PUT", activities(chat, old), {"type": "message", "text": "whole"})

    assert "already completed" in again.body["error"]["message"]
    assert "exceeded streaming time" in late.body["error"]["message"]
    assert (while_open.status, edited.status) == (403, 200)


async def test_a_stream_stopped_by_a_person_keeps_its_text(teams: RunningTeams) -> None:
    chat = chat_of(teams)
    person = teams.teams.world().people[0].id
    async with as_bot(teams) as rest:
        stream = await begun(rest, chat)
        await teams.do(teams.teams.stop_as(teams.tenant, chat, person, stream))
        more = await rest("POST", activities(chat), last("A brown fox", stream))
        edited = await rest("PUT", activities(chat, stream), {"type": "message", "text": "x"})

    assert more.body["error"]["message"] == "Content stream was canceled by user."
    assert edited.status == 403


class StreamInfo(Entity):
    """The stream entity: botbuilder's own class keeps only the type."""

    _attribute_map = {  # noqa: RUF012  # as msrest wants it
        "type": {"key": "type", "type": "str"},
        "stream_id": {"key": "streamId", "type": "str"},
        "stream_type": {"key": "streamType", "type": "str"},
        "stream_sequence": {"key": "streamSequence", "type": "int"},
    }

    def __init__(self, **fields: Any) -> None:
        super().__init__(type="streaminfo")
        self.stream_id = fields.get("stream_id")
        self.stream_type = fields.get("stream_type")
        self.stream_sequence = fields.get("stream_sequence")


class StreamingBot(ActivityHandler):
    """Counts in a stream, as Microsoft's samples do."""

    def __init__(self) -> None:
        self.failed: list[Exception] = []

    async def on_message_activity(self, turn_context: TurnContext) -> None:
        stream = None
        for number, text in enumerate(("one", "one two", "one two three"), 1):
            info = StreamInfo(stream_id=stream, stream_type="streaming", stream_sequence=number)
            sent = await turn_context.send_activity(
                Activity(type="typing", text=text, entities=[info])
            )
            stream = stream or (sent.id if sent else None)
        end = StreamInfo(stream_id=stream, stream_type="final")
        await turn_context.send_activity(
            Activity(type="message", text="one two three.", entities=[end])
        )


async def test_a_plain_bot_streams_its_answers(teams: RunningTeams) -> None:
    chat = chat_of(teams, "plain-noauth")
    person = teams.teams.world().people[0].id
    async with listening(message_route(PlainAdapter(no_authentication()), StreamingBot())) as url:
        await teams.listen("plain-noauth", url)
        await teams.do(teams.teams.post_as(teams.tenant, chat, person, "count"))
        await teams.settled()

    assert await teams.texts(chat) == ["count", "one two three."]
