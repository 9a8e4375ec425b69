"""Envelopes of every version are read, and written in the version of the peer."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.errors import InvalidData
from bridge.openfloor.envelope import (
    BYE,
    GET_MANIFESTS,
    INVITE,
    PUBLISH_MANIFESTS,
    UNINVITE,
    UTTERANCE,
    Address,
    Event,
    Manifest,
)
from bridge.openfloor.read import LARGEST, ReadEnvelope, envelope_of, read_envelope
from bridge.openfloor.write import envelope_json, write_envelope

FOLDER = os.environ.get("UACS_CORPUS")
WITH_CORPUS = pytest.mark.skipif(FOLDER is None, reason="UACS_CORPUS names no folder of payloads")


def examples() -> list[Path]:
    return sorted(Path(FOLDER or "nowhere").glob("ovon/examples/conversation-envelope_*.json"))


def leaves(value: Any) -> Iterator[Any]:
    """The values of a JSON tree, without where they are."""
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield json.dumps(value)


@WITH_CORPUS
@pytest.mark.parametrize("path", examples(), ids=lambda path: path.name)
def test_an_example_of_the_specification_is_written_as_it_was_read(path: Path) -> None:
    value = json.loads(path.read_bytes())

    read = read_envelope(path.read_bytes())
    written = envelope_json(read.envelope)
    again = envelope_of(written)

    assert read.warnings == ()
    assert again == ReadEnvelope(read.envelope)
    assert written.keys() == value.keys()
    # Each value is there again; what is more is the other place of an address, and event names that
    # have one spelling in each version.
    lost = Counter(leaves(value)) - Counter(leaves(written))
    assert lost.keys() <= {'"publishManifest"', '"requestManifest"', '"whisper"', "true", "false"}


LISTING_2: dict[str, Any] = {
    "ovon": {
        "schema": {
            "version": "0.9.2", "url": "https://openvoicenetwork.org/schema/dialog-envelope.json",
        },
        "conversation": {"id": "conv_1699812834794"},
        "sender": {
            "from": "https://organization_url_from", "reply-to": "https://organization_url_to",
        },
        "responseCode": 200,
        "events": [
            {
                "eventType": "invite",
                "parameters": {"to": {"url": "https://your-smartlibrary-url-here"}},
            },
            {
                "eventType": "utterance",
                "parameters": {
                    "dialogEvent": {
                        "speakerId": "humanOrAssistantID",
                        "span": {"startTime": "2023-11-14 02:06:07+00:00"},
                        "features": {
                            "text": {
                                "mimeType": "text/plain",
                                "tokens": [
                                    {"value": "Can I have some info about Harry Potter please?"}
                                ],
                            }
                        },
                    }
                },
            },
            {
                "eventType": "whisper",
                "parameters": {
                    "dialogEvent": {
                        "speakerId": "humanOrAssistantID",
                        "span": {"startTime": "2023-11-14 02:06:07+00:00"},
                        "features": {
                            "text": {
                                "mimeType": "text/plain",
                                "tokens": [
                                    {
                                        "value": "In particular can I get some info about harry "
                                        "potter and the philosopher's stone "
                                    }
                                ],
                            }
                        },
                    }
                },
            },
        ],
    }
}  # fmt: skip


def test_listing_2_of_the_paper_is_one_invitation_with_an_utterance_and_a_whisper() -> None:
    read = read_envelope(json.dumps(LISTING_2).encode())

    envelope, (invite, utterance, whisper) = read.envelope, read.envelope.events
    assert read.warnings == ()
    assert (envelope.root, envelope.version) == ("ovon", "0.9.2")
    assert envelope.talk.id == "conv_1699812834794"
    assert envelope.sender.reply_to == "https://organization_url_to"
    assert envelope.extra == {"responseCode": 200}
    assert invite.type == INVITE
    assert invite.to == Address(service_url="https://your-smartlibrary-url-here")
    assert (utterance.type, whisper.type) == (UTTERANCE, UTTERANCE)
    assert (utterance.is_private, whisper.is_private) == (False, True)
    assert utterance.dialog_event
    assert utterance.dialog_event.text == "Can I have some info about Harry Potter please?"
    assert utterance.dialog_event.speaker_uri == "humanOrAssistantID"


LISTING_1 = """{
  "ovon": {

    "schema": {
      "version": "0.9.2"
      "url": "https://example.com/schema.json"
    },
    "conversation": {"id": "31050879662407560061859425913208"},
    "sender": {"from": "https://example.com/message-from"},
    "events": []
  }
}
"""


def test_listing_1_with_its_missing_comma_is_refused_by_line_and_read_once_it_is_there() -> None:
    with pytest.raises(InvalidData, match=r"no JSON: line 6 column \d+"):
        read_envelope(LISTING_1.encode())

    mended = LISTING_1.replace('"0.9.2"\n', '"0.9.2",\n')
    assert read_envelope(mended.encode()).envelope.talk.id == "31050879662407560061859425913208"


MANIFEST_OF_THE_PAPER: dict[str, Any] = {
    "identification": {
        "serviceEndpoint": "https://your-smartlibrary-url-here/smartlibrary",
        "organization": "Your_Organization",
        "conversationalName": "smartlibrary",
        "serviceName": "Books and Authors AI agent",
        "role": "Book Specialist",
        "synopsis": "AI agent specializing in providing information about books and authors.",
    },
    "capabilities": [
        {
            "keywords": ["books", "authors", "ISBN", "editors"],
            "languages": ["en-us"],
            "descriptiveTexts": ["Authors and Books information"],
            "modalities": ["text"],
            "contentType": "application/json",
        }
    ],
}


def ovon(*events: Any, **more: Any) -> bytes:
    inner = {
        "schema": {"version": "0.9.2"}, "conversation": {"id": "c"},
        "sender": {"from": "https://peer.test"}, "events": list(events), **more,
    }  # fmt: skip
    return json.dumps({"ovon": inner}).encode()


def floor(*events: Any, **more: Any) -> bytes:
    inner = {
        "schema": {"version": "1.1.0"}, "conversation": {"id": "c"},
        "sender": {"speakerUri": "tag:peer.test,2026:1"}, "events": list(events), **more,
    }  # fmt: skip
    return json.dumps({"openFloor": inner}).encode()


def one(body: bytes) -> Event:
    (event,) = read_envelope(body).envelope.events
    return event


def test_listing_5_of_the_paper_asks_for_a_manifest() -> None:
    event = one(ovon({"to": "https://your-smartlibrary-url-here", "eventType": "requestManifest"}))

    assert (event.type, event.scope) == (GET_MANIFESTS, "internal")
    assert event.to == Address(service_url="https://your-smartlibrary-url-here")


def test_listing_6_of_the_paper_publishes_one_manifest_in_its_own_words() -> None:
    event = one(
        ovon({"eventType": "publishManifest", "parameters": {"manifest": MANIFEST_OF_THE_PAPER}})
    )

    (manifest,) = event.servicing
    who, (can,) = manifest.identification, manifest.capabilities
    assert event.type == PUBLISH_MANIFESTS
    assert who.service_url == who.speaker_uri == "https://your-smartlibrary-url-here/smartlibrary"
    assert (who.department, who.role) == ("Books and Authors AI agent", "Book Specialist")
    assert can.keyphrases == ("books", "authors", "ISBN", "editors")
    assert can.descriptions == ("Authors and Books information",)
    assert (can.inputs, can.outputs) == (("text",), ("text",))
    assert can.extra == {"contentType": "application/json"}


@pytest.mark.parametrize(
    ("body", "score"),
    [
        (ovon({"eventType": "proposeAssistant", "parameters": {
            "servicingManifests": [{**MANIFEST_OF_THE_PAPER, "score": 80}]}}), 0.8),
        (ovon({"eventType": "proposeAssistant", "parameters": {
            "servicingManifests": [{**MANIFEST_OF_THE_PAPER, "score": 1}]}}), 0.01),
        (floor({"eventType": "publishManifests", "parameters": {
            "servicingManifests": [{**MANIFEST_OF_THE_PAPER, "score": 1}]}}), 1.0),
        (floor({"eventType": "publishManifests", "parameters": {
            "servicingManifests": [{**MANIFEST_OF_THE_PAPER, "score": 7}]}}), 1.0),
        (floor({"eventType": "publishManifests", "parameters": {
            "servicingManifests": [{**MANIFEST_OF_THE_PAPER, "score": True}]}}), None),
    ],
)  # fmt: skip
def test_a_score_is_a_percentage_in_old_envelopes_and_a_fraction_in_new_ones(
    body: bytes, score: float | None
) -> None:
    assert one(body).servicing[0].score == score


def saying(text: str, **event: Any) -> dict[str, Any]:
    said = {
        "speakerUri": "tag:x,1:y", "span": {},
        "features": {"text": {"mimeType": "text/plain", "tokens": [{"value": text}]}},
    }  # fmt: skip
    return {"eventType": "utterance", **event, "parameters": {"dialogEvent": said}}


@pytest.mark.parametrize(
    ("event", "to"),
    [
        (saying("a"), None),
        (saying("a", to={"speakerUri": "tag:a"}), Address("tag:a")),
        (saying("a", to={"speakerUri": "tag:a", "private": True}), Address("tag:a", private=True)),
        (saying("a", to="https://a.test"), Address(service_url="https://a.test")),
        (saying("a", to="https://a.test", private=True),
         Address(service_url="https://a.test", private=True)),
        ({**saying("a"), "eventType": "whisper"}, Address(private=True)),
        ({"eventType": "invite", "parameters": {"to": {"url": "https://a.test"}}},
         Address(service_url="https://a.test")),
        ({"eventType": "bye", "to": {"serviceUrl": "https://a.test", "new": 1}},
         Address(service_url="https://a.test", extra={"new": 1})),
    ],
)  # fmt: skip
def test_every_way_to_name_an_addressee_is_read(event: dict[str, Any], to: Address | None) -> None:
    assert one(ovon(event)).to == to
    assert one(floor(event)).to == to


def test_an_event_of_an_unknown_type_and_unknown_members_are_kept() -> None:
    strange = {"eventType": "raiseHand", "hand": "left", "parameters": {"high": [1, {"a": None}]}}
    body = floor(strange, mood="good")

    envelope = read_envelope(body).envelope

    assert json.loads(write_envelope(envelope)) == json.loads(body)


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ("bye", "/openFloor/events/0: has no eventType and is ignored"),
        ({"to": {}}, "/openFloor/events/0: has no eventType and is ignored"),
        ({"eventType": "utterance"}, "is an utterance without a text and is ignored"),
        ({"eventType": "whisper", "parameters": {"dialogEvent": {"features": {}}}},
         "is an utterance without a text and is ignored"),
        ({"eventType": "utterance", "parameters": {"dialogEvent": {"features": {"text": 5}}}},
         "is an utterance without a text and is ignored"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_an_event_that_says_nothing_is_ignored_alone(event: Any, problem: str) -> None:
    read = read_envelope(floor(event, {"eventType": "bye"}))

    assert [event.type for event in read.envelope.events] == [BYE]
    assert any(problem in line for line in read.warnings)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "no JSON: line 1 column 1"),
        (b"[]", "no JSON object"),
        (b"null", "no JSON object"),
        (b"{}", "no object under `openFloor` or `ovon`"),
        (b'{"openFloor": []}', "no object under `openFloor` or `ovon`"),
        (b'{"openFloor": {"events": []}}', "/openFloor/conversation/id is missing"),
        (
            b'{"openFloor": {"conversation": {"id": ""}, "events": []}}',
            "conversation/id is missing",
        ),
        (b'{"ovon": {"conversation": {"id": "1"}}}', "/ovon/events is no list"),
        (b'{"ovon": {"conversation": {"id": "1"}, "events": {}}}', "/ovon/events is no list"),
        (b" " * (LARGEST + 1), "has 4,194,305 bytes; at most 4,194,304 are read"),
        (b'{"openFloor":' + b"[" * 500 + b"]" * 500 + b"}", "is nested too deeply"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_envelope_is_refused_with_a_reason(body: bytes, problem: str) -> None:
    with pytest.raises(InvalidData) as refused:
        read_envelope(body)

    assert problem in str(refused.value)


def test_the_answer_to_an_old_peer_has_old_words() -> None:
    question = read_envelope(ovon(saying("a"))).envelope
    (manifest,) = one(
        ovon({"eventType": "publishManifest", "parameters": {"manifest": MANIFEST_OF_THE_PAPER}})
    ).servicing
    said = question.events[0].dialog_event
    answer = replace(
        question,
        events=(
            Event(UTTERANCE, to=Address(service_url="https://peer.test", private=True),
                  dialog_event=said),
            Event(INVITE, to=Address(service_url="https://other.test")),
            Event(GET_MANIFESTS, scope="internal"),
            Event(GET_MANIFESTS, scope="external"),
            Event(PUBLISH_MANIFESTS, servicing=(manifest,)),
            Event(PUBLISH_MANIFESTS, servicing=(replace(manifest, score=0.5),)),
            Event(UNINVITE, reason="@timedOut"),
        ),
    )  # fmt: skip

    written: Any = envelope_json(answer)["ovon"]

    assert [event["eventType"] for event in written["events"]] == [
        "whisper", "invite", "requestManifest", "findAssistant", "publishManifest",
        "proposeAssistant", "uninvite",
    ]  # fmt: skip
    whisper, invite, *_, publish, propose, _ = written["events"]
    assert whisper["parameters"]["dialogEvent"]["speakerId"] == "tag:x,1:y"
    assert invite["to"] == "https://other.test"
    assert invite["parameters"] == {"to": {"url": "https://other.test"}}
    assert publish["parameters"]["manifest"]["identification"]["serviceEndpoint"]
    assert propose["parameters"]["servicingManifests"][0]["score"] == 50
    assert propose["parameters"]["discoveryManifests"] == []
    assert envelope_of(envelope_json(answer)).envelope == answer


def test_the_same_envelope_for_a_new_peer_has_new_words() -> None:
    old = read_envelope(json.dumps(LISTING_2).encode()).envelope
    new = replace(old, root="openFloor", version="1.1.0", schema_extra={}, extra={})

    written: Any = envelope_json(new)["openFloor"]

    assert written["sender"]["speakerUri"] == "https://organization_url_from"
    invite, utterance, whisper = written["events"]
    assert invite["to"] == {"serviceUrl": "https://your-smartlibrary-url-here"}
    assert "to" not in utterance
    assert whisper["to"] == {"private": True}
    assert whisper["eventType"] == "utterance"
    assert whisper["parameters"]["dialogEvent"]["speakerUri"] == "humanOrAssistantID"


def test_numbers_where_texts_belong_are_read_as_texts() -> None:
    read = read_envelope(floor({"eventType": "bye", "reason": 7}, conversation={"id": 12}))

    assert read.envelope.talk.id == "12"
    assert read.envelope.events[0].reason == "7"
    assert len(read.warnings) == 2


def test_an_envelope_without_schema_or_sender_is_read() -> None:
    bare = {"openFloor": {"conversation": {"id": "c"}, "events": []}}

    read = read_envelope(orjson.dumps(bare))

    assert read.envelope.version == "1.1.0"
    assert read.envelope.sender.identity == ""
    assert read.warnings == ("/openFloor/sender: names nobody",)


@WITH_CORPUS
@pytest.mark.parametrize(
    "path",
    sorted(Path(FOLDER or "nowhere").glob("ovon/examples/impl_*agent_config.json")),
    ids=lambda path: path.name,
)
def test_manifests_of_agents_in_use_are_read(path: Path) -> None:
    body = floor({"eventType": "publishManifests", "parameters": {
        "servicingManifests": [json.loads(path.read_bytes())["manifest"]]}})  # fmt: skip

    (manifest,) = one(body).servicing

    assert isinstance(manifest, Manifest)
    assert manifest.identification.conversational_name
    assert manifest.identification.service_url.startswith("http")
    assert len(manifest.capabilities) == 1
    assert manifest.capabilities[0].descriptions
