"""Manifests in every spelling <-> `Manifest`."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.openfloor.envelope import Capability, Identification, Manifest, Root
from bridge.openfloor.fields import Fields, Warnings

_PERCENT = 100.0  # an `ovon` envelope scores from 0 to 100


def read_manifest(
    value: JsonValue, pointer: str, warnings: Warnings, root: Root = "openFloor"
) -> Manifest | None:
    """Return a manifest; None for something that has neither an address nor a name."""
    fields = Fields(value, pointer, warnings)
    identification = read_identification(
        fields.take("identification"), f"{pointer}/identification", warnings
    )
    if not (identification.speaker_uri or identification.conversational_name):
        warnings.add(pointer, "names no agent")
        return None
    return Manifest(
        identification=identification,
        capabilities=fields.each(_capability, "capabilities"),
        score=_score(fields, root),
        extra=fields.rest,
    )


def _score(fields: Fields, root: Root) -> float | None:
    """From 0 to 1, whatever was written."""
    score = fields.rest.get("score")
    if not isinstance(score, int | float) or isinstance(score, bool):
        return None
    del fields.rest["score"]
    return min(max(score / _PERCENT if root == "ovon" else float(score), 0.0), 1.0)


def read_identification(value: JsonValue, pointer: str, warnings: Warnings) -> Identification:
    """Return who somebody is. Without a `speakerUri` the address identifies the speaker."""
    fields = Fields(value, pointer, warnings)
    address = fields.text("serviceUrl", "serviceEndpoint", "url") or ""
    roles = fields.take("openFloorRoles")
    return Identification(
        speaker_uri=fields.text("speakerUri", "speakerId", "speakerID") or address,
        service_url=address,
        organization=fields.text("organization") or "",
        conversational_name=fields.text("conversationalName") or "",
        synopsis=fields.text("synopsis") or "",
        department=fields.text("department", "serviceName"),
        role=fields.text("role"),
        roles={
            name: has for name, has in roles.items() if isinstance(has, bool)
        } if isinstance(roles, dict) else {},
        extra=fields.rest,
    )  # fmt: skip


def _capability(value: JsonValue, pointer: str, warnings: Warnings) -> Capability:
    fields = Fields(value, pointer, warnings)
    layers = fields.take("supportedLayers", "modalities")
    inputs = outputs = ("text",)
    if isinstance(layers, dict):
        inputs = _layers(layers.get("input"))
        outputs = _layers(layers.get("output"))
    elif isinstance(layers, list):
        inputs = outputs = _layers(layers)
    return Capability(
        keyphrases=fields.texts("keyphrases", "keywords"),
        descriptions=fields.texts("descriptions", "descriptiveTexts"),
        languages=fields.texts("languages"),
        inputs=inputs,
        outputs=outputs,
        extra=fields.rest,
    )


def _layers(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    found = (
        tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
    )
    return found or ("text",)


def write_manifest(manifest: Manifest, root: Root = "openFloor") -> dict[str, JsonValue]:
    """Return the JSON of a manifest: 1.0.1, or 0.9.0 in an `ovon` envelope."""
    written: dict[str, JsonValue] = {
        "identification": write_identification(manifest.identification, root),
        "capabilities": [_written_capability(one, root) for one in manifest.capabilities],
    }
    if manifest.score is not None:
        score = manifest.score * _PERCENT if root == "ovon" else manifest.score
        written["score"] = round(score, 6)
    return {**written, **manifest.extra}


def write_identification(who: Identification, root: Root = "openFloor") -> dict[str, JsonValue]:
    """Return the JSON of an identification."""
    if root == "ovon":
        written: dict[str, JsonValue] = {
            "serviceEndpoint": who.service_url,
            "organization": who.organization,
            "conversationalName": who.conversational_name,
            "serviceName": who.department or "",
            "role": who.role or "",
            "synopsis": who.synopsis,
        }
        if who.speaker_uri != who.service_url:
            written["speakerUri"] = who.speaker_uri
    else:
        written = {
            "speakerUri": who.speaker_uri,
            "serviceUrl": who.service_url,
            "organization": who.organization,
            "conversationalName": who.conversational_name,
            "synopsis": who.synopsis,
        }
        if who.department is not None:
            written["department"] = who.department
        if who.role is not None:
            written["role"] = who.role
    if who.roles:
        written["openFloorRoles"] = dict(who.roles)
    return {**written, **who.extra}


def _written_capability(capability: Capability, root: Root) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {
        "keyphrases": list(capability.keyphrases),
        "descriptions": list(capability.descriptions),
    }
    if capability.languages:
        written["languages"] = list(capability.languages)
    if root == "ovon":
        written["supportedLayers"] = list(dict.fromkeys((*capability.inputs, *capability.outputs)))
    else:
        written["supportedLayers"] = {
            "input": list(capability.inputs), "output": list(capability.outputs),
        }  # fmt: skip
    return {**written, **capability.extra}
