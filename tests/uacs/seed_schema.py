"""The seed's draft-07 schema (section VI), with its empty `oneOf` of ContentPart completed."""

from __future__ import annotations

import calendar
import re
from typing import Any

from jsonschema import Draft7Validator, FormatChecker

PARTS = (
    "TextPart",
    "ImagePart",
    "VideoPart",
    "AudioPart",
    "FilePart",
    "ToolCallPart",
    "ToolResultPart",
    "StructuredDataPart",
    "RequestedResponseFormatPart",
)
PART_TYPES = (
    "text",
    "image",
    "video",
    "audio",
    "file",
    "tool_call",
    "tool_result",
    "structured_data",
    "requested_response_format",
)


def _media(kind: str, media_type: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "type": {"const": kind},
            "source": {"$ref": "#/definitions/MediaSource"},
            "media_type": {"type": "string", **media_type},
        },
        "required": ["type", "source", "media_type"],
    }


DEFINITIONS: dict[str, Any] = {
    "Conversation": {
        "type": "object",
        "properties": {
            "conversation_id": {"type": "string", "format": "uuid"},
            "created_at": {"type": "string", "format": "date-time"},
            "updated_at": {"type": "string", "format": "date-time"},
            "messages": {"type": "array", "items": {"$ref": "#/definitions/Message"}},
            "metadata": {"type": "object"},
        },
        "required": ["conversation_id", "created_at", "updated_at", "messages"],
    },
    "Message": {
        "type": "object",
        "properties": {
            "message_id": {"type": "string"},
            "timestamp": {"type": "string", "format": "date-time"},
            "actor": {"$ref": "#/definitions/Actor"},
            "content": {
                "type": "array",
                "items": {"$ref": "#/definitions/ContentPart"},
                "minItems": 1,
            },
            "metadata": {"type": "object"},
        },
        "required": ["message_id", "timestamp", "actor", "content"],
    },
    "Actor": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "role": {"type": "string", "enum": ["human", "assistant", "system", "tool"]},
            "name": {"type": "string"},
        },
        "required": ["id", "role"],
    },
    "ContentPart": {
        "oneOf": [
            *({"$ref": f"#/definitions/{name}"} for name in PARTS),
            {
                "type": "object",
                "properties": {"type": {"type": "string", "not": {"enum": list(PART_TYPES)}}},
                "required": ["type"],
            },
        ]
    },
    "TextPart": {
        "type": "object",
        "properties": {
            "type": {"const": "text"},
            "text": {"type": "string"},
            "format": {"type": "string", "enum": ["markdown", "plain"], "default": "markdown"},
        },
        "required": ["type", "text"],
    },
    "MediaSource": {
        "type": "object",
        "properties": {
            "base64": {"type": "string", "contentEncoding": "base64"},
            "url": {"type": "string", "format": "uri"},
            "file_id": {"type": "string"},
        },
        "oneOf": [{"required": ["base64"]}, {"required": ["url"]}, {"required": ["file_id"]}],
    },
    "ImagePart": _media("image", {"pattern": "^image/"}),
    "VideoPart": _media("video", {"pattern": "^video/"}),
    "AudioPart": _media("audio", {"pattern": "^audio/"}),
    "FilePart": _media("file", {}),
    "ToolCallPart": {
        "type": "object",
        "properties": {
            "type": {"const": "tool_call"},
            "id": {"type": "string"},
            "name": {"type": "string"},
            "arguments": {"type": "object"},
        },
        "required": ["type", "id", "name", "arguments"],
    },
    "ToolResultPart": {
        "type": "object",
        "properties": {
            "type": {"const": "tool_result"},
            "tool_call_id": {"type": "string"},
            "content": {},
            "is_error": {"type": "boolean", "default": False},
        },
        "required": ["type", "tool_call_id", "content"],
    },
    "StructuredDataPart": {
        "type": "object",
        "properties": {
            "type": {"const": "structured_data"},
            "schema_id": {"type": "string"},
            "data": {"oneOf": [{"type": "object"}, {"type": "array"}]},
        },
        "required": ["type", "schema_id", "data"],
    },
    "RequestedResponseFormatPart": {
        "type": "object",
        "properties": {
            "type": {"const": "requested_response_format"},
            "schema": {"type": "object"},
        },
        "required": ["type", "schema"],
    },
}

# The package's own checks of two formats are looser or tighter than the RFCs that define them.
# uuid: `uuid.UUID` also takes underscores, other scripts' digits and a trailing brace.
# date-time: leap seconds are refused. uri: `$` lets a line feed pass at the end, and the last
# part of an IPv6 address may have octets such as "01".
FORMATS = FormatChecker()
_STOCK_URI = FORMATS.checkers["uri"][0]
_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)


@FORMATS.checks("uuid")
def _is_uuid(value: object) -> bool:
    hexadecimal = "[0-9a-fA-F]"
    pattern = "-".join(f"{hexadecimal}{{{n}}}" for n in (8, 4, 4, 4, 12))
    return not isinstance(value, str) or bool(re.fullmatch(pattern, value))


@FORMATS.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    address = re.search(r"//(?:[^/?#]*@)?\[([^\]]*)\]", value)
    if value.endswith("\n") or (address and re.search(r"(^|[:.])0\d+\.|\.0\d+$", address[1])):
        return False
    return bool(_STOCK_URI(value))


@FORMATS.checks("date-time")
def _is_date_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    match = _DATE_TIME.fullmatch(value)
    if match is None:
        return False
    year, month, day, hour, minute, second, off_hour, off_minute = (
        int(match[i] or 0) for i in (1, 2, 3, 4, 5, 6, 8, 9)
    )
    if not (year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return False
    if hour > 23 or minute > 59 or second > 60 or off_hour > 23 or off_minute > 59:
        return False
    sign = -1 if match[7] == "-" else 1
    utc_minute = (hour * 60 + minute - sign * (off_hour * 60 + off_minute)) % 1440
    return second < 60 or utc_minute == 1439


def validator(definitions: dict[str, Any], name: str) -> Draft7Validator:
    """A validator of one definition, formats asserted."""
    schema = {"$ref": f"#/definitions/{name}", "definitions": definitions}
    return Draft7Validator(schema, format_checker=FORMATS)
