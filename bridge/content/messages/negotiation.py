"""What a reader accepts, by name, content type and schema id; whether a message or another agent's
output fits it. Pure.

Source: the seeds' content negotiation (`accept-types`, schemas of message bodies).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bridge.content.messages.metadata import read_bridge_metadata, select_parts
from bridge.content.text.globs import SEPARATOR, covers, matches
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    Message,
    StructuredDataPart,
    TextPart,
    VideoPart,
)

_NAME = re.compile(r"(?:/[A-Za-z0-9._-]+)+")
_JSON = "application/json"
_NO_NAME = "\1"  # in place of a name: no name contains it, and no single star matches it


class Accepted(BaseModel):
    """One kind of part that a reader accepts.

    - `content_type`: a glob of MIME types (`image/*`, `text/{plain,markdown}`).
    - `schema_id`: for structured data, a glob of schema ids.
    - `name`: a glob of paths (`/sources/**`); None accepts parts of any name, and without a name.
    - `required`: whether a message must have such a part.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    content_type: str = Field(default="**", description="a glob of MIME types, such as `image/*`")
    schema_id: str | None = Field(
        default=None, description="for structured data: a glob of the schema ids"
    )
    name: str | None = Field(
        default=None, description="a glob of paths, such as `/sources/**`; else any name, or none"
    )
    required: bool = Field(default=False, description="whether there must be such a part")

    @field_validator("content_type", "schema_id", "name")
    @classmethod
    def _no_separator(cls, value: str | None) -> str | None:
        if value is not None and SEPARATOR in value:
            raise ValueError("must not hold the character U+0000")
        return value


class BodySchema(BaseModel):
    """All that a reader accepts; a part that matches no entry is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parts: tuple[Accepted, ...] = Field(default=())


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part as negotiation sees it; `index` is its place in the content."""

    index: int
    part: ContentPart
    content_type: str
    schema_id: str = ""
    name: str = ""


def is_name(name: str) -> bool:
    """Whether the name is an absolute POSIX path of letters, digits, dots, dashes and underscores:
    `/foo/bar.png`."""
    return _NAME.fullmatch(name) is not None


def named_parts(message: Message) -> tuple[NamedPart, ...]:
    """Returns every part with its type, schema id and name; a name that is no path counts as
    none."""
    details = read_bridge_metadata(message)[0].parts
    named: list[NamedPart] = []
    for index, part in enumerate(message.content):
        detail = details.get(str(index))
        name = (detail.path or "") if detail else ""
        content_type, schema_id = _type_of(part)
        named.append(NamedPart(index, part, content_type, schema_id, name if is_name(name) else ""))
    return tuple(named)


def list_parts(message: Message, glob: str) -> tuple[NamedPart, ...]:
    """Returns the parts whose names match the glob, in order: `/sources/*`."""
    return tuple(
        named_part
        for named_part in named_parts(message)
        if named_part.name and matches(glob, named_part.name)
    )


def part_named(message: Message, name: str) -> NamedPart | None:
    """Returns the first part of this name; None if there is none."""
    return next(
        (named_part for named_part in named_parts(message) if named_part.name == name), None
    )


def faults_of(message: Message, schema: BodySchema) -> tuple[str, ...]:
    """Returns why the message does not fit the schema; nothing if it fits.

    Of a payload and its fallback, one side must fit.
    """
    parts = {named_part.index: named_part for named_part in named_parts(message)}
    selected = [parts[index] for index, _ in select_parts(message, accepting(schema))]
    return (*_name_faults(message), *_type_faults(selected, schema))


def accepting(schema: BodySchema) -> _Accepting:
    """Returns a predicate for `select_parts`: whether the schema accepts a part, whatever
    its name."""
    return _Accepting(schema)


@dataclass(frozen=True, slots=True)
class _Accepting:
    schema: BodySchema

    def __call__(self, part: ContentPart) -> bool:
        content_type, schema_id = _type_of(part)
        return any(_takes_type(accepted, content_type, schema_id) for accepted in self.schema.parts)


def incompatibilities(output: BodySchema, expected: BodySchema) -> tuple[str, ...]:
    """Returns why messages that fit `output` may not fit `expected`; nothing if each of them does.

    Raises:
        InvalidData: The globs of the schemas are too complex to be compared.
    """
    accepted_patterns = [pattern for part in expected.parts for pattern in _patterns_of(part)]
    refused = [
        f"{_description(part)} may be given, and not all of it is accepted"
        for part in output.parts
        if not all(covers(accepted_patterns, pattern) for pattern in _patterns_of(part))
    ]
    missing = [
        f"{_description(part)} is required, and not always given"
        for part in expected.parts
        if part.required and not any(_always_provides(offered, part) for offered in output.parts)
    ]
    return (*refused, *missing)


def _always_provides(offered: Accepted, expected: Accepted) -> bool:
    patterns = list(_patterns_of(expected))
    return offered.required and all(covers(patterns, pattern) for pattern in _patterns_of(offered))


def _patterns_of(accepted: Accepted) -> Iterator[str]:
    """The entry as globs over `name, type, schema id`, with and without a name."""
    schema_id = "**" if accepted.schema_id is None else accepted.schema_id
    rest = f"{SEPARATOR}{accepted.content_type}{SEPARATOR}{schema_id}"
    if accepted.name is not None:
        yield accepted.name + rest
    else:
        yield _NO_NAME + rest
        yield f"/**{rest}"


def _type_faults(parts: Sequence[NamedPart], schema: BodySchema) -> Iterator[str]:
    for part in parts:
        if not any(_takes(accepted, part) for accepted in schema.parts):
            name = f" named {part.name!r}" if part.name else ""
            schema_id = f" of schema {part.schema_id!r}" if part.schema_id else ""
            yield f"content[{part.index}], {part.content_type}{schema_id}{name}, is not accepted"
    for accepted in schema.parts:
        if accepted.required and not any(_takes(accepted, part) for part in parts):
            yield f"{_description(accepted)} is required, and missing"


def _name_faults(message: Message) -> Iterator[str]:
    details = read_bridge_metadata(message)[0].parts
    names: set[str] = set()
    for index, detail in details.items():
        name = detail.path
        if name is None:
            continue
        if not is_name(name):
            yield f"content[{index}] is named {name!r}, which is no absolute path"
        if name in names:
            yield f"content[{index}] is named {name!r}, as another part is"
        names.add(name)


def takes(accepted: Accepted, content_type: str, *, name: str = "", schema_id: str = "") -> bool:
    """Whether the entry accepts a part of this type, name and schema."""
    named = accepted.name is None or (bool(name) and matches(accepted.name, name))
    return named and _takes_type(accepted, content_type, schema_id)


def describe_accepted(accepted: Accepted) -> str:
    """Returns the entry in words."""
    return _description(accepted)


def _takes(accepted: Accepted, part: NamedPart) -> bool:
    return takes(accepted, part.content_type, name=part.name, schema_id=part.schema_id)


def _takes_type(accepted: Accepted, content_type: str, schema_id: str) -> bool:
    if not matches(accepted.content_type, content_type):
        return False
    return accepted.schema_id is None or matches(accepted.schema_id, schema_id)


def _type_of(part: ContentPart) -> tuple[str, str]:
    match part:
        case TextPart():
            return ("text/markdown" if part.is_markdown else "text/plain"), ""
        case ImagePart() | VideoPart() | AudioPart() | FilePart():
            return part.media_type, ""
        case StructuredDataPart(schema_id=schema_id):
            return _JSON, schema_id
        case _:
            return f"application/vnd.uacs.{part.type}+json", ""


def _description(accepted: Accepted) -> str:
    schema_id = f" of schema {accepted.schema_id!r}" if accepted.schema_id is not None else ""
    name = f" named {accepted.name!r}" if accepted.name is not None else ""
    return f"a part {accepted.content_type!r}{schema_id}{name}"
