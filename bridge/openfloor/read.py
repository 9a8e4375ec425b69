"""An envelope of any version -> `Envelope`, leniently: what is not understood is kept or reported,
never a reason to refuse the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from bridge.errors import InvalidData
from bridge.openfloor.envelope import (
    ACCEPT_INVITE,
    GET_MANIFESTS,
    NEWEST,
    NEWEST_OF_OVON,
    PUBLISH_MANIFESTS,
    UTTERANCE,
    Address,
    Conversant,
    DialogEvent,
    Envelope,
    Event,
    Feature,
    Manifest,
    Root,
    Sender,
    Span,
    Talk,
    Token,
)
from bridge.openfloor.fields import Fields, Warnings
from bridge.openfloor.manifest import read_identification, read_manifest

LARGEST = 4 * 1024 * 1024  # bytes of an envelope
_DEEPEST = 100  # levels of objects and lists

_CANONICAL: Mapping[str, str] = {
    "whisper": UTTERANCE,
    "requestManifest": GET_MANIFESTS,
    "requestManifests": GET_MANIFESTS,
    "findAssistant": GET_MANIFESTS,
    "publishManifest": PUBLISH_MANIFESTS,
    "proposeAssistant": PUBLISH_MANIFESTS,
    "proposedAssistant": PUBLISH_MANIFESTS,
    "proposeManifest": PUBLISH_MANIFESTS,
    "accept": ACCEPT_INVITE,
}
_SCOPES = {
    "requestManifest": "internal",
    "requestManifests": "internal",
    "findAssistant": "external",
}


@dataclass(frozen=True)
class ReadEnvelope:
    """An envelope, and a line for each thing that the reader left aside."""

    envelope: Envelope
    warnings: tuple[str, ...] = ()


def read_envelope(body: bytes) -> ReadEnvelope:
    """Read the body of a request or of its answer.

    Raises:
        InvalidData: it is larger than 4 MiB, no JSON (with line and column), has neither root key,
            no conversation id, or its events are no list.
    """
    if len(body) > LARGEST:
        raise InvalidData(f"the envelope has {len(body):,} bytes; at most {LARGEST:,} are read")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidData(
            f"the envelope is no JSON: line {error.lineno} column {error.colno}: {error.msg}"
        ) from None
    if body.count(b"[") + body.count(b"{") > _DEEPEST and _is_deeper(value, _DEEPEST):
        raise InvalidData(f"the envelope is nested too deeply; {_DEEPEST} levels are read")
    return envelope_of(value)


def _is_deeper(value: JsonValue, levels: int) -> bool:
    layer: list[JsonValue] = [value]
    for _ in range(levels):
        layer = [
            member
            for one in layer
            for member in (one.values() if isinstance(one, dict) else one)  # type: ignore[union-attr]
            if isinstance(member, dict | list)
        ]
        if not layer:
            return False
    return True


def envelope_of(value: JsonValue) -> ReadEnvelope:
    """Read parsed JSON. Raises InvalidData as `read_envelope`."""
    if not isinstance(value, dict):
        raise InvalidData("the envelope is no JSON object")
    root: Root
    if isinstance(value.get("openFloor"), dict):
        root = "openFloor"
    elif isinstance(value.get("ovon"), dict):
        root = "ovon"
    else:
        raise InvalidData("the envelope has no object under `openFloor` or `ovon`")
    warnings = Warnings()
    fields = Fields(value[root], f"/{root}", warnings)
    schema = Fields(fields.take("schema"), f"/{root}/schema", warnings)
    version = schema.text("version") or (NEWEST_OF_OVON if root == "ovon" else NEWEST)
    talk = _talk(fields)
    sender = _sender(fields)
    events = fields.take("events")
    if not isinstance(events, list):
        raise InvalidData(f"/{root}/events is no list; an envelope with nothing to say has []")
    found = [
        _event(event, f"/{root}/events/{index}", warnings, root)
        for index, event in enumerate(events)
    ]
    envelope = Envelope(
        talk=talk,
        sender=sender,
        events=tuple(event for event in found if event is not None),
        root=root,
        version=version,
        schema_extra=schema.rest,
        extra=fields.rest,
    )
    return ReadEnvelope(envelope, tuple(warnings.lines))


def _talk(fields: Fields) -> Talk:
    about = Fields(fields.take("conversation"), f"{fields.pointer}/conversation", fields.warnings)
    own_id = about.text("id")
    if not own_id:
        raise InvalidData(f"{about.pointer}/id is missing; it is the conversation's id, a string")
    roles = about.take("assignedFloorRoles")
    granted = about.take("floorGranted")
    return Talk(
        id=own_id,
        conversants=about.each(_conversant, "conversants"),
        assigned_roles={
            role: tuple(who for who in speakers if isinstance(who, str))
            for role, speakers in roles.items()
            if isinstance(speakers, list)
        } if isinstance(roles, dict) else {},
        floor_granted=tuple(
            who for who in granted if isinstance(who, str)
        ) if isinstance(granted, list) else None,
        extra=about.rest,
    )  # fmt: skip


def _conversant(value: JsonValue, pointer: str, warnings: Warnings) -> Conversant | None:
    fields = Fields(value, pointer, warnings)
    who = read_identification(fields.take("identification"), f"{pointer}/identification", warnings)
    if not who.speaker_uri:
        warnings.add(pointer, "names no speaker")
        return None
    return Conversant(who, fields.rest)


def _sender(fields: Fields) -> Sender:
    about = Fields(fields.take("sender"), f"{fields.pointer}/sender", fields.warnings)
    sender = Sender(
        speaker_uri=about.text("speakerUri", "speakerId", "speakerID") or None,
        service_url=about.text("serviceUrl", "from") or None,
        reply_to=about.text("reply-to", "replyTo", "reply_to"),
        extra=about.rest,
    )
    if not sender.identity:
        about.warnings.add(about.pointer, "names nobody")
    return sender


def _event(value: JsonValue, pointer: str, warnings: Warnings, root: Root) -> Event | None:
    fields = Fields(value, pointer, warnings)
    spelling = fields.text("eventType")
    if spelling is None:
        warnings.add(pointer, "has no eventType and is ignored")
        return None
    kind = _CANONICAL.get(spelling, spelling)
    parameters = Fields(fields.take("parameters"), f"{pointer}/parameters", warnings)
    said = parameters.take("dialogEvent")
    dialog_event = None
    if said is not None:
        dialog_event = read_dialog_event(said, f"{pointer}/parameters/dialogEvent", warnings)
    if kind == UTTERANCE and (dialog_event is None or "text" not in dialog_event.features):
        warnings.add(pointer, "is an utterance without a text and is ignored")
        return None

    def manifest(item: JsonValue, place: str, notes: Warnings) -> Manifest | None:
        return read_manifest(item, place, notes, root)

    return Event(
        type=kind,
        to=_address(fields, parameters, private=spelling == "whisper"),
        reason=_reason(fields, parameters),
        dialog_event=dialog_event,
        history=parameters.each(_past_event, "dialogHistory"),
        servicing=parameters.each(manifest, "servicingManifests", "manifest", "manifests"),
        discovery=parameters.each(manifest, "discoveryManifests"),
        scope=parameters.text("recommendScope") or _SCOPES.get(spelling),
        parameters=parameters.rest,
        extra=fields.rest,
    )


def _reason(fields: Fields, parameters: Fields) -> str | None:
    """Drafts of 0.9.3 have it among the parameters."""
    reason = fields.text("reason")
    return parameters.text("reason", "request_reason") if reason is None else reason


def _address(fields: Fields, parameters: Fields, *, private: bool) -> Address | None:
    """`to` as an object, as a string (0.9.2), or among the parameters (0.9.0 to 0.9.2)."""
    inside, outside = parameters.take("to"), fields.take("to")
    is_private = fields.take("private") is True or private
    value = inside if outside is None else outside
    if isinstance(value, str):
        return _address_of(value, is_private)
    if isinstance(value, dict):
        about = Fields(value, f"{fields.pointer}/to", fields.warnings)
        is_private = about.take("private") is True or is_private
        address = Address(
            speaker_uri=about.text("speakerUri", "speakerId", "speakerID"),
            service_url=about.text("serviceUrl", "serviceEndpoint", "url"),
            private=is_private,
            extra=about.rest,
        )
        return None if address == Address() else address
    return Address(private=True) if is_private else None


def _address_of(uri: str, is_private: bool) -> Address:
    """The URL of an endpoint, or another URI, which then names the speaker."""
    scheme, colon, _ = uri.partition(":")
    if colon and scheme.isalnum() and scheme.lower() not in ("http", "https"):
        return Address(speaker_uri=uri, private=is_private)
    return Address(service_url=uri, private=is_private)


def _past_event(value: JsonValue, pointer: str, warnings: Warnings) -> DialogEvent | None:
    return read_dialog_event(value, pointer, warnings)


def read_dialog_event(
    value: JsonValue, pointer: str = "", warnings: Warnings | None = None
) -> DialogEvent | None:
    """Return a dialog event of any version; None for something that is no object."""
    warnings = Warnings() if warnings is None else warnings
    if not isinstance(value, dict):
        warnings.add(pointer, "is no dialog event")
        return None
    fields = Fields(value, pointer, warnings)
    features = fields.take("features")
    read: dict[str, Feature] = {}
    for name, feature in features.items() if isinstance(features, dict) else ():
        found = _feature(feature, f"{pointer}/features/{name}", warnings)
        if found is not None:
            read[name] = found
    return DialogEvent(
        speaker_uri=fields.text(
            "speakerUri", "speakerId", "speakerID", "speaker-id", "speaker_id"
        ) or "",
        features=read,
        span=_span(fields),
        id=fields.text("id"),
        previous_id=fields.text("previousId", "previous-id", "previous_id"),
        extra=fields.rest,
    )  # fmt: skip


def _span(fields: Fields) -> Span:
    about = Fields(fields.take("span"), f"{fields.pointer}/span", fields.warnings)
    return Span(
        start_time=about.text("startTime", "start-time", "start_time"),
        start_offset=about.text("startOffset", "start-offset", "start_offset"),
        end_time=about.text("endTime", "end-time", "end_time"),
        end_offset=about.text("endOffset", "end-offset", "end_offset"),
        extra=about.rest,
    )


def _feature(value: JsonValue, pointer: str, warnings: Warnings) -> Feature | None:
    if not isinstance(value, dict):
        warnings.add(pointer, "is no feature")
        return None
    fields = Fields(value, pointer, warnings)
    alternates = fields.take("alternates")
    return Feature(
        mime_type=fields.text("mimeType", "mime-type", "mime_type") or "text/plain",
        tokens=fields.each(_token, "tokens"),
        lang=fields.text("lang"),
        encoding=fields.text("encoding"),
        token_schema=fields.text("tokenSchema", "token-schema", "token_schema"),
        alternates=tuple(
            _tokens(tokens, f"{pointer}/alternates/{index}", warnings)
            for index, tokens in enumerate(alternates)
        ) if isinstance(alternates, list) else (),
        extra=fields.rest,
    )  # fmt: skip


def _tokens(value: JsonValue, pointer: str, warnings: Warnings) -> tuple[Token, ...]:
    items = value if isinstance(value, list) else [value]
    found = (_token(item, f"{pointer}/{index}", warnings) for index, item in enumerate(items))
    return tuple(token for token in found if token is not None)


def _token(value: JsonValue, pointer: str, warnings: Warnings) -> Token | None:
    if not isinstance(value, dict):
        warnings.add(pointer, "is no token")
        return None
    fields = Fields(value, pointer, warnings)
    return Token(
        value=fields.take("value"),
        value_url=fields.text("valueUrl", "value-url", "value_url"),
        extra=fields.rest,
    )
