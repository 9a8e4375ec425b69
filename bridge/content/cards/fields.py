"""The JSON form of a card's values: text as UACS Markdown, a plain string for a prose node.
Pure."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Document, Inline, Paragraph

MARKDOWN = {"type": "string", "contentMediaType": "text/markdown"}


class _Written:
    """A field that is a tree in Python and one string of UACS Markdown in JSON."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            self._read,
            core_schema.str_schema(strict=True),
            serialization=core_schema.plain_serializer_function_ser_schema(self._write),
        )


def _read_line(markdown: str) -> tuple[Inline, ...]:
    return blocks_as_line(markdown_to_text(markdown))


def write_line(line: tuple[Inline, ...]) -> str:
    """Writes a run of inlines as UACS Markdown; an empty run as an empty string."""
    return text_to_markdown((Paragraph(line),)) if line else ""


Line = Annotated[tuple[Inline, ...], _Written(_read_line, write_line), WithJsonSchema(MARKDOWN)]
"""A run of inlines; in JSON a string of UACS Markdown."""

Prosaic = Annotated[
    Document, _Written(markdown_to_text, text_to_markdown), WithJsonSchema(MARKDOWN)
]
"""Blocks of text; in JSON a string of UACS Markdown."""


def _as_prose(value: object) -> object:
    return {"type": "prose", "text": value} if isinstance(value, str) else value


PROSE_FROM_STRING = BeforeValidator(_as_prose)

# Cards that were stored or written for an earlier version say `least` and `most`.
MIN = Field(validation_alias=AliasChoices("min", "least"))
MAX = Field(validation_alias=AliasChoices("max", "most"))
