"""The nine kinds of content of the seed's section VI, and the open branch for all others.

`ContentPart` is the type of a message's content: a part of a known `type` must keep the rules of
its class, any other object with a string `type` is an `UnknownPart`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from bridge.uacs.free_json import JsonAny, JsonObject, JsonTree
from bridge.uacs.invalid import KNOWN_BRANCH, OPEN_BRANCH, refused
from bridge.uacs.objects import Optional, UacsObject, absent
from bridge.uacs.values import AudioType, ImageType, Text, Uri, VideoType

TextFormat = Literal["markdown", "plain"]


class TextPart(UacsObject):
    """Text; without `format` it is Markdown."""

    type: Literal["text"] = "text"
    text: Text
    format: Annotated[TextFormat | None, Optional()] = absent(meaning="markdown")

    @property
    def is_markdown(self) -> bool:
        """Whether the text is Markdown, which is the default."""
        return self.format != "plain"


class MediaSource(UacsObject):
    """The place of the bytes: exactly one of `base64`, `url` and `file_id` (seed, section IV).

    `base64` may be any string, as in draft-07, where contentEncoding validates nothing.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": [field]} for field in ("base64", "url", "file_id")]
        }
    )

    base64: Annotated[
        Annotated[Text, WithJsonSchema({"type": "string", "contentEncoding": "base64"})] | None,
        Optional(),
    ] = absent()
    url: Annotated[Uri | None, Optional()] = absent()
    file_id: Annotated[Text | None, Optional()] = absent()

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if (self.base64 is None) + (self.url is None) + (self.file_id is None) != 2:
            raise refused(self.__dict__, "must have exactly one of 'base64', 'url' and 'file_id'")
        return self


class ImagePart(UacsObject):
    """An image (seed, section IV)."""

    type: Literal["image"] = "image"
    source: MediaSource
    media_type: ImageType


class VideoPart(UacsObject):
    """A video (seed, section IV)."""

    type: Literal["video"] = "video"
    source: MediaSource
    media_type: VideoType


class AudioPart(UacsObject):
    """A sound (seed, section IV)."""

    type: Literal["audio"] = "audio"
    source: MediaSource
    media_type: AudioType


class FilePart(UacsObject):
    """Any other file, of any media type (seed, section IV)."""

    type: Literal["file"] = "file"
    source: MediaSource
    media_type: Text


class ToolCallPart(UacsObject):
    """An agent's call of a tool; the result repeats its `id` (seed, section V)."""

    type: Literal["tool_call"] = "tool_call"
    id: Text
    name: Text
    arguments: JsonObject


class ToolResultPart(UacsObject):
    """The result of a tool; without `is_error` the call succeeded (seed, section V).

    The seed's schema allows any JSON as `content`, and so does this class. The seed's prose names a
    string or an object, and the bridge writes only these.
    """

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: Text
    content: JsonAny
    is_error: Annotated[StrictBool | None, Optional()] = absent(meaning=False)


class StructuredDataPart(UacsObject):
    """A payload of a named schema, for instance a platform's own rich message."""

    type: Literal["structured_data"] = "structured_data"
    schema_id: Text
    data: JsonTree


class RequestedResponseFormatPart(UacsObject):
    """The JSON Schema that the next answer must satisfy; people do not see it (seed, section III).

    The field is `schema` in JSON and in the constructor; `schema_` in Python, where pydantic has a
    method of that name.
    """

    type: Literal["requested_response_format"] = "requested_response_format"
    schema_: JsonObject = Field(alias="schema")


KnownPart = Annotated[
    TextPart
    | ImagePart
    | VideoPart
    | AudioPart
    | FilePart
    | ToolCallPart
    | ToolResultPart
    | StructuredDataPart
    | RequestedResponseFormatPart,
    Field(discriminator="type"),
]

PART_TYPES: dict[str, type[UacsObject]] = {
    part.model_fields["type"].default: part for part in get_args(get_args(KnownPart)[0])
}
"""The nine types of the seed, in its order."""


def _no_part_type(value: str) -> str:
    if value in PART_TYPES:
        raise refused(value, "is one of the nine types; use its own class")
    return value


class UnknownPart(UacsObject):
    """A part of a type that the seed does not name, unchanged; its fields are extra fields."""

    type: Annotated[
        Text,
        AfterValidator(_no_part_type),
        WithJsonSchema({"type": "string", "not": {"enum": list(PART_TYPES)}}),
    ]


@dataclass(frozen=True)
class _OpenUnion:
    """The nine types by their tag, then the open branch: a callable discriminator costs three times
    as much."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        del source
        known = handler.generate_schema(KnownPart)
        unknown = handler.generate_schema(UnknownPart)
        return core_schema.union_schema(
            [(known, KNOWN_BRANCH), (unknown, OPEN_BRANCH)],
            mode="left_to_right",
            # Each part is written by its own class; validating by the union again doubles the time.
            serialization=core_schema.simple_ser_schema("any"),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        known, unknown = handler(schema)["anyOf"]
        return {"oneOf": [*known["oneOf"], unknown]}


ContentPart = Annotated[KnownPart | UnknownPart, _OpenUnion()]
