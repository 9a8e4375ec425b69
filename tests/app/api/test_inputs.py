"""Every input gets an answer that the OpenAPI document describes, never a 500."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.app.api.openapi import document
from bridge.errors import StoreError
from tests.app.api.test_gate import ROOM, WHERE, Served, served
from tests.examples import examples

DOCUMENT = document()
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)
_WORDS = st.sampled_from(
    ["text", "content", "message_id", "reply_to", "thread", "actor", "metadata", "format", "type",
     "source", "url", "base64", "file_id", "media_type", "schema_id", "data", "action", "values"]
)  # fmt: skip
NEARLY = st.dictionaries(
    _WORDS,
    ANY_JSON
    | st.lists(
        st.dictionaries(
            _WORDS, ANY_JSON | st.sampled_from(["text", "image", "structured_data"]), max_size=4
        ),
        max_size=3,
    ),
    max_size=5,
)
BODIES = (
    (ANY_JSON | NEARLY).map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=40)
    | NEARLY.map(lambda value: json.dumps({"text": "hello", **value}).encode())
)
QUERY = st.dictionaries(
    st.sampled_from(["limit", "before", "after", "deltas", "q", "room", "message"]),
    st.text(max_size=30) | st.sampled_from(["1", "0.0", "-1", "9" * 40, ROOM]),
    max_size=3,
)
SEGMENT = st.text(min_size=1, max_size=20).map(lambda text: quote(text, safe=""))


REQUESTS = st.tuples(st.lists(BODIES, min_size=5, max_size=10), QUERY, SEGMENT)
Requests = tuple[list[bytes], dict[str, str], str]


@settings(max_examples=examples(12))
@given(REQUESTS)
@example(([], {}, "%0A0"))
async def test_any_body_and_any_query_get_an_answer(requests: Requests) -> None:
    await _must_be_answered(*requests)


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=1500)
@given(REQUESTS)
async def test_any_body_and_any_query_get_an_answer_for_long(requests: Requests) -> None:
    await _must_be_answered(*requests)


async def _must_be_answered(bodies: list[bytes], query: dict[str, str], segment: str) -> None:
    async with served() as api:
        posted = (await api.http.post(f"{WHERE}/messages", json={"text": "first"})).json()
        own = quote(posted["message_id"], safe="")
        for body in bodies:
            for method, path in (
                ("POST", f"{WHERE}/messages"),
                ("PUT", f"{WHERE}/messages/{own}"),
                ("POST", f"{WHERE}/interactions"),
            ):
                _must_be_known(await api.http.request(method, path, content=body))
        for path in ("/v1/search", WHERE, f"/v1/rooms/{segment}", f"{WHERE}/messages/{segment}",
                     f"/v1/blobs/{segment}", f"/v1/{segment}"):  # fmt: skip
            _must_be_known(await api.http.get(path, params=query))


def _must_be_known(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert problem["status"] == answer.status_code
        assert problem["detail"]


OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if operation["operationId"] != "follow_room"  # it does not end; test_following follows it
]


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    OPERATIONS,
    ids=[entry[2]["operationId"] for entry in OPERATIONS],
)
async def test_answers_conform_to_the_openapi_document(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    async with served() as api:
        good = _good(path, operation["operationId"], await _known(api))
        requests: list[dict[str, Any]] = [
            good,
            {**good, "headers": {"authorization": "Bearer x"}},
            {**good, "url": good["url"].replace(ROOM, "nowhere")},
            {**good, "url": re.sub(r"(messages|blobs)/.*", r"\1/none", good["url"])},
            {**good, "params": {"limit": "x", "q": "", "room": "nowhere", "message": "none"}},
            {**good, "content": b"{"},
            {**good, "json": {"unknown": 1}, "content": None},
        ]
        answers = [await api.http.request(method, **request) for request in requests]

    assert answers[0].status_code == int(next(iter(operation["responses"])))
    for answer in answers:
        response = operation["responses"].get(str(answer.status_code))
        assert response is not None, (answer.status_code, answer.text)
        media = answer.headers["content-type"].partition(";")[0]
        schema = response["content"].get(media, {}).get("schema")
        if media.endswith("json"):
            assert schema is not None
            _validate(answer.json(), schema)


@dataclass(frozen=True)
class Posted:
    """The contents of the room: the program's message with a file, and a card."""

    message: str
    file_id: str
    card: str


async def _known(api: Served) -> Posted:
    file = {"type": "file", "media_type": "text/plain", "source": {"base64": "aGVsbG8="}}
    content = [{"type": "text", "text": "hello"}, file]
    own = (await api.http.post(f"{WHERE}/messages", json={"content": content})).json()
    body = (await api.http.get(f"{WHERE}/messages/{own['message_id']}")).json()
    async with await api.as_token("ann", role="human") as ann:
        await ann.post(f"{WHERE}/messages", json={"text": "@deployer please"})
        await api.rig.clock.advance(5)
        card = (await ann.get(WHERE)).json()["messages"][-1]["message_id"]
    return Posted(own["message_id"], body["message"]["content"][1]["source"]["file_id"], card)


def _good(path: str, operation: str, known: Posted) -> dict[str, Any]:
    """A valid request."""
    url = path.replace("{room}", ROOM).replace("{message}", quote(known.message, safe=""))
    request: dict[str, Any] = {"url": url.replace("{blob}", known.file_id)}
    match operation:
        case "post_message" | "edit_message":
            request["json"] = {"text": "other words"}
        case "press":
            request["json"] = {"message_id": known.card, "action": "deploy"}
        case "search":
            request["params"] = {"q": "hello"}
        case "read_file":
            request["params"] = {"room": ROOM, "message": known.message}
        case _:
            pass
    return request


def _validate(value: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


@pytest.mark.parametrize("name", ["limit", "before"])
@pytest.mark.parametrize(
    "number",
    ["1" * 17, "0000000000000001" + "9" * 30, "9" * 400, str(2**53 + 1), "0", "-1", "+1", "1.0",
     "1e2", " 1", "1_0", "١", "²", "0x1", "NaN", "1\n"],
)  # fmt: skip
async def test_a_number_with_any_invalid_character_is_refused(name: str, number: str) -> None:
    async with served() as api:
        answer = await api.http.get(WHERE, params={name: number})
        fine = await api.http.get(WHERE, params={"limit": "0200", "before": str(2**53)})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(name)
    assert fine.status_code == 200


@pytest.mark.parametrize(
    "room", [f"{ROOM}%2Fevents", f"{ROOM}%2fevents", f"{ROOM}%2Fmessages", "%2E%2E%2Fplaza", "%00"]
)
async def test_an_encoded_slash_in_a_room_leads_to_no_other_path(room: str) -> None:
    """An encoded slash does not lead to a path below another room."""
    async with served() as api:
        answer = await api.http.get(f"/v1/rooms/{room}")

    assert answer.status_code in (404, 405)
    assert "text/event-stream" not in answer.headers["content-type"]


async def test_a_store_failure_is_reported_without_the_stores_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise StoreError("The store '/srv/secret/bridge.sqlite3' failed: disk I/O error")

    async with served() as api:
        for name in ("page", "position", "find", "message"):
            monkeypatch.setattr(api.rig.store, name, fails)
        answers = [
            await api.http.get("/v1/rooms"),
            await api.http.get(WHERE),
            await api.http.get(f"{WHERE}/events"),
            await api.http.get("/v1/search?q=x"),
            await api.http.post(f"{WHERE}/messages", json={"text": "x"}),
        ]

    assert [answer.status_code for answer in answers] == [503] * 5
    assert not [
        answer.text for answer in answers if "srv" in answer.text or "sqlite" in answer.text
    ]
