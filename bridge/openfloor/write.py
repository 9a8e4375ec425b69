"""`Envelope` -> JSON in the spelling of its root and version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import orjson
from pydantic import JsonValue

from bridge.openfloor.envelope import (
    GET_MANIFESTS,
    INVITE,
    PUBLISH_MANIFESTS,
    Address,
    Conversant,
    DialogEvent,
    Envelope,
    Event,
    Feature,
    Root,
    Sender,
    Span,
    Talk,
    Token,
)
from bridge.openfloor.manifest import write_identification, write_manifest

Written = dict[str, JsonValue]


def write_envelope(envelope: Envelope) -> bytes:
    """Return the JSON of an envelope."""
    return orjson.dumps(envelope_json(envelope))


def envelope_json(envelope: Envelope) -> Written:
    """Return the envelope as JSON values.

    `ovon` envelopes have the events of 0.9.x: a private utterance is a whisper, getManifests is
    requestManifest or findAssistant, publishManifests is publishManifest or proposeAssistant.
    """
    root = envelope.root
    inner: Written = {
        "schema": {"version": envelope.version, **envelope.schema_extra},
        "conversation": _talk(envelope.talk, root),
        "sender": _sender(envelope.sender, root),
        "events": [_event(event, root) for event in envelope.events],
        **envelope.extra,
    }
    return {root: inner}


def _talk(talk: Talk, root: Root) -> Written:
    written: Written = {"id": talk.id}
    if talk.assigned_roles:
        written["assignedFloorRoles"] = {
            role: list(speakers) for role, speakers in talk.assigned_roles.items()
        }
    if talk.floor_granted is not None:
        written["floorGranted"] = list(talk.floor_granted)
    if talk.conversants:
        written["conversants"] = [_conversant(one, root) for one in talk.conversants]
    return {**written, **talk.extra}


def _conversant(conversant: Conversant, root: Root) -> Written:
    return {
        "identification": write_identification(conversant.identification, root), **conversant.extra
    }  # fmt: skip


def _sender(sender: Sender, root: Root) -> Written:
    written: Written = {}
    if root == "ovon":
        if sender.identity:
            written["from"] = sender.service_url or sender.identity
        if sender.speaker_uri and sender.service_url:
            written["speakerUri"] = sender.speaker_uri
        if sender.reply_to:
            written["replyTo"] = sender.reply_to
    else:
        if sender.identity:
            written["speakerUri"] = sender.identity
        if sender.service_url and sender.speaker_uri:
            written["serviceUrl"] = sender.service_url
        if sender.reply_to:
            written["replyTo"] = sender.reply_to
    return {**written, **sender.extra}


def _event(event: Event, root: Root) -> Written:
    written: Written = {"eventType": _spelling(event) if root == "ovon" else event.type}
    parameters = _parameters(event, root)
    if event.to is not None:
        _address(event, event.to, root, written, parameters)
    if event.reason is not None:
        written["reason"] = event.reason
    if parameters:
        written["parameters"] = parameters
    return {**written, **event.extra}


def _spelling(event: Event) -> str:
    """The name of the event in 0.9.x."""
    if event.is_private:
        return "whisper"
    if event.type == GET_MANIFESTS:
        return "findAssistant" if event.scope in ("external", "all") else "requestManifest"
    if event.type == PUBLISH_MANIFESTS:
        return "publishManifest" if _is_one_manifest(event) else "proposeAssistant"
    return event.type


def _is_one_manifest(event: Event) -> bool:
    """Whether an agent describes itself, rather than proposing others."""
    servicing = event.servicing
    return not event.discovery and len(servicing) == 1 and servicing[0].score is None


def _parameters(event: Event, root: Root) -> Written:
    written: Written = {}
    if event.dialog_event is not None:
        written["dialogEvent"] = dialog_event_json(event.dialog_event, root)
    if event.history:
        written["dialogHistory"] = [dialog_event_json(past, root) for past in event.history]
    is_old = root == "ovon" and event.type == PUBLISH_MANIFESTS
    if is_old and _is_one_manifest(event):
        written["manifest"] = write_manifest(event.servicing[0], root)
    elif event.servicing or event.discovery or is_old:
        written["servicingManifests"] = [write_manifest(m, root) for m in event.servicing]
        written["discoveryManifests"] = [write_manifest(m, root) for m in event.discovery]
    if event.scope is not None and root != "ovon":
        written["recommendScope"] = event.scope
    return {**written, **event.parameters}


def _address(event: Event, to: Address, root: Root, written: Written, parameters: Written) -> None:
    whole: Written = {}
    if to.speaker_uri is not None:
        whole["speakerUri"] = to.speaker_uri
    if to.service_url is not None:
        whole["serviceUrl"] = to.service_url
    if root != "ovon":
        written["to"] = {**whole, **({"private": True} if to.private else {}), **to.extra}
        return
    if to.extra or len(whole) == 2:  # more than the string of 0.9.2 can say
        written["to"] = {**whole, **to.extra}
    elif whole:
        (written["to"],) = whole.values()
    target = to.service_url or to.speaker_uri
    if event.type == INVITE and target is not None:  # where 0.9.0 to 0.9.2 have it
        parameters["to"] = {"url": target}
    if to.private and (whole or not event.is_private):
        written["private"] = True  # 0.9.3


def dialog_event_json(event: DialogEvent, root: Root = "openFloor") -> Written:
    """Return the JSON of a dialog event; `ovon` envelopes say `speakerId`."""
    written: Written = {}
    if event.id is not None:
        written["id"] = event.id
    written["speakerId" if root == "ovon" else "speakerUri"] = event.speaker_uri
    if event.previous_id is not None:
        written["previousId"] = event.previous_id
    written["span"] = _span(event.span)
    written["features"] = {name: _feature(feature) for name, feature in event.features.items()}
    return {**written, **event.extra}


def _span(span: Span) -> Written:
    members = {
        "startTime": span.start_time,
        "startOffset": span.start_offset,
        "endTime": span.end_time,
        "endOffset": span.end_offset,
    }
    return {**_present(members), **span.extra}


def _feature(feature: Feature) -> Written:
    members = {
        "mimeType": feature.mime_type,
        "lang": feature.lang,
        "encoding": feature.encoding,
        "tokenSchema": feature.token_schema,
    }
    written: Written = {**_present(members), "tokens": _tokens(feature.tokens)}
    if feature.alternates:
        written["alternates"] = [_tokens(tokens) for tokens in feature.alternates]
    return {**written, **feature.extra}


def _tokens(tokens: Iterable[Token]) -> list[JsonValue]:
    return [_token(token) for token in tokens]


def _token(token: Token) -> Written:
    written: Written = {}
    if token.value_url is not None:
        written["valueUrl"] = token.value_url
    if token.value is not None or token.value_url is None:
        written["value"] = token.value
    return {**written, **token.extra}


def _present(members: Mapping[str, str | None]) -> Written:
    return {name: value for name, value in members.items() if value is not None}
