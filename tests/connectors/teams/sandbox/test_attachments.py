"""Which attachments the local Teams accepts, and how it refuses the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.connectors.teams.sandbox.cards import (
    ADAPTIVE,
    adaptive,
    consent,
    field,
    hero,
    message,
    submit,
    words,
)
from tests.connectors.teams.sandbox.rest import activities, as_bot
from tests.connectors.teams.sandbox.running import RunningTeams

Json = dict[str, Any]
TYPE = "Required property 'type' not found on adaptive card element"
CARD = "Property 'type' must be 'AdaptiveCard'"
PICTURE = {"contentType": "image/png", "contentUrl": "https://example.org/a.png"}
INSIDE = {"type": "Container", "items": [{"type": "ColumnSet", "columns": [{"items": [{}]}]}]}
SHOW = {"type": "Action.ShowCard", "title": "x", "card": {"body": []}}


def content(card: Any, kind: str = ADAPTIVE) -> Json:
    return {"contentType": kind, "content": card}


def nested(levels: int) -> Json:
    inner: Json = words("deep")
    for _ in range(levels):
        inner = {"type": "Container", "items": [inner]}
    return inner


@pytest.mark.parametrize(
    "attachment",
    [
        adaptive(words("hello"), field("name"), actions=[submit("Go")]),
        adaptive({"type": "SomethingNew", "shiny": True}),
        adaptive({"type": "Table", "columns": [{"width": 1}], "rows": [{"cells": [{}]}]}),
        adaptive({"type": "RichTextBlock", "inlines": ["plain", {"text": "run"}]}),
        adaptive({"type": "Image", "url": "data:image/png;base64," + "A" * 60_000}),
        adaptive(actions=[{**SHOW, "card": {"type": "AdaptiveCard", "body": [words("x")]}}]),
        adaptive(words("x" * 28_000)),
        hero({"type": "imBack", "title": "Hi", "value": "hi"}, images=[{"url": "https://a.example"}]),
        content({"items": []}, "application/vnd.microsoft.teams.card.list"),
        content({"title": "t"}, "application/vnd.microsoft.card.thumbnail"),
        PICTURE,
        {"contentType": "image/gif", "contentUrl": "data:image/gif;base64,AAAA", "name": "a"},
    ],
)  # fmt: skip
async def test_valid_attachments_are_stored_unchanged(
    untouched: RunningTeams, attachment: Json
) -> None:
    async with as_bot(untouched) as rest:
        for layout in ("list", "carousel"):
            sent = message(attachment, attachmentLayout=layout)
            accepted = await rest("POST", activities(untouched.channel), sent)
            posted = untouched.teams.messages(untouched.tenant, untouched.channel)[-1]

            assert (accepted.status, posted.id) == (201, accepted.body["id"])
            assert posted.raw == {**sent, "id": posted.id}


@pytest.mark.parametrize(
    ("attachment", "reason"),
    [
        ("no object", "Could not parse the payload: invalid activity"),
        ({}, "Unknown attachment type"),
        ({"contentType": "application/pdf", "contentUrl": "https://a.example/a.pdf"},
         "Unknown attachment type"),
        ({"contentType": "video/mp4", "contentUrl": "https://a.example/a.mp4"},
         "Unknown attachment type"),
        (content({}, "application/vnd.microsoft.card.audio"), "Unknown attachment type"),
        ({"contentType": ADAPTIVE}, "Attachment has no content"),
        ({"contentType": "image/png"}, "Attachment has no valid contentUrl"),
        ({"contentType": "image/png", "contentUrl": "file:///etc/passwd"},
         "Attachment has no valid contentUrl"),
        (content({"version": "1.5"}), CARD),
        (content({"type": "Card", "version": "1.5"}), CARD),
        (content({"type": "AdaptiveCard"}),
         "Required property 'version' not found on AdaptiveCard"),
        (content({"type": "AdaptiveCard", "version": "next"}), "The schema version is not valid"),
        (adaptive({"text": "no type"}), TYPE),
        (adaptive(actions=[{"title": "no type"}]), TYPE),
        (adaptive(INSIDE), TYPE),
        (adaptive({"type": "Image", "url": "https://a.example", "selectAction": {}}), TYPE),
        (adaptive({"type": "Input.Text"}), "Required property 'id' not found on 'Input.Text'"),
        (adaptive({"type": "Input.Number", "id": "n", "min": "NaN"}),
         "Could not convert 'min' of Input.Number to a number"),
        (adaptive({"type": "Image"}), "Required property 'url' not found on 'Image'"),
        (adaptive(actions=[{"type": "Action.OpenUrl", "title": "x"}]),
         "Required property 'url' not found on 'Action.OpenUrl'"),
        (adaptive(actions=[submit("x", iconUrl="")]),
         "Could not parse 'iconUrl' of 'Action.Submit'"),
        (adaptive(actions=[SHOW]), CARD),
        (adaptive(body="text"), "Could not parse the card: 'body' is not a list"),
        (adaptive("text"), "Could not parse the card: an element is not an object"),  # pyright: ignore[reportArgumentType]  # wrong on purpose
        (hero("press me"), "Could not parse the payload: invalid card"),  # pyright: ignore[reportArgumentType]  # as above
        (hero({"title": "no type"}), "Card action has no type"),
        (hero(images=[{"url": ""}]), "Could not parse the payload: invalid image url"),
    ],
)  # fmt: skip
async def test_malformed_attachments_are_bad_syntax(
    untouched: RunningTeams, attachment: Any, reason: str
) -> None:
    stood = len(await untouched.texts())
    async with as_bot(untouched) as rest:
        refused = await rest("POST", activities(untouched.channel), message(attachment))

    assert refused.status == 400
    assert refused.body == {"error": {"code": "BadSyntax", "message": reason}}
    assert len(await untouched.texts()) == stood


async def test_excessively_nested_json_is_refused(untouched: RunningTeams) -> None:
    async with as_bot(untouched) as rest:
        fits = await rest("POST", activities(untouched.channel), message(adaptive(nested(40))))
        deep = await rest("POST", activities(untouched.channel), message(adaptive(nested(80))))
        raw = b'{"type":"message","text":"x","entities":' + b"[" * 900 + b"]" * 900 + b"}"
        raw_deep = await rest("POST", activities(untouched.channel), raw)

    assert [fits.status, deep.status, raw_deep.status] == [201, 400, 400]
    assert deep.body["error"]["code"] == "BadSyntax"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (message(adaptive(words("x" * 29_000))), 413, "MessageSizeTooBig"),
        (message(adaptive(words("é" * 14_600))), 413, "MessageSizeTooBig"),
        (message(*[adaptive(words("x" * 20_000))] * 4), 413, "MessageSizeTooBig"),
        (message(*[PICTURE] * 11), 400, "BadSyntax"),
        (message(PICTURE, attachmentLayout=7), 400, "BadSyntax"),
    ],
)  # fmt: skip
async def test_sizes_and_counts_of_attachments_are_limited(
    untouched: RunningTeams, sent: Json, status: int, code: str
) -> None:
    async with as_bot(untouched) as rest:
        refused = await rest("POST", activities(untouched.channel), sent)

    assert (refused.status, refused.body["error"]["code"]) == (status, code)


async def test_files_are_offered_in_personal_chats_only(teams: RunningTeams) -> None:
    person = next(iter(teams.teams.tenant.people))
    chat = teams.teams.personal_chat("bridge", person)
    group = teams.teams.world().apps[0]["group_chat"]

    async with as_bot(teams) as rest:
        in_chat = await rest("POST", activities(chat), message(consent()))
        elsewhere = [
            await rest("POST", activities(where), message(consent()))
            for where in (group, teams.channel)
        ]
        nameless = await rest("POST", activities(chat), message(consent("")))
        sizeless = await rest("POST", activities(chat), message(consent(size="5")))

    assert in_chat.status == 201
    assert {(a.status, a.body["error"]["code"]) for a in elsewhere} == {(400, "BadArgument")}
    assert [nameless.body["error"]["code"], sizeless.body["error"]["code"]] == ["BadSyntax"] * 2


async def test_cards_are_checked_in_every_request_that_sends_them(teams: RunningTeams) -> None:
    bad = message({"contentType": "application/pdf"})
    person = next(iter(teams.teams.tenant.people))
    thread = {"isGroup": True, "channelData": {"channel": {"id": teams.channel}}, "activity": bad}
    chat = {
        "members": [{"id": person}], "channelData": {"tenant": {"id": teams.tenant}},
        "activity": bad,
    }  # fmt: skip

    async with as_bot(teams) as rest:
        own = (await rest.post(teams.channel, "hello")).body["id"]
        answers = [
            await rest("PUT", activities(teams.channel, own), bad),
            await rest("POST", "/v3/conversations", thread),
            await rest("POST", "/v3/conversations", chat),
        ]
        edited = await rest("PUT", activities(teams.channel, own), message(adaptive(words("new"))))

    assert {(a.status, a.body["error"]["message"]) for a in answers} == {
        (400, "Unknown attachment type")
    }
    assert edited.status == 200
    posted = teams.teams.messages(teams.tenant, teams.channel)[0]
    assert (posted.text, posted.edited, posted.raw["attachments"][0]["contentType"]) == (
        "", True, ADAPTIVE,
    )  # fmt: skip
