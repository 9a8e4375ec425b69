"""JSON Schemas of answers: reduced for an API, and validated by the bridge. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj
from bridge.content.cards.json_tree import pointer
from bridge.content.messages.agent_parts import VALUE
from bridge.errors import AgentError
from bridge.model import Loss
from bridge.uacs import StructuredDataPart

# Keywords whose values map names to schemas: the names are not keywords.
_BY_NAME = frozenset(("properties", "$defs", "definitions", "dependentSchemas"))
_DATA = frozenset(("enum", "const", "default", "examples", "required"))


def without_keywords(
    schema: Mapping[str, JsonValue], without: Collection[str], losses: list[Loss]
) -> Json:
    """Return the schema without keywords that an API does not accept, and report a Loss for
    each."""
    return dict(_members_without(dict(schema), without, losses, ""))


def _members_without(
    schema: Json, without: Collection[str], losses: list[Loss], at: str
) -> Iterator[tuple[str, JsonValue]]:
    for key, value in schema.items():
        path = pointer(at, key)
        if key in without:
            shown_as = "judged by the bridge"
            losses.append(Loss(path=path, kind="schema_keyword", what=key, shown_as=shown_as))
        elif key in _DATA:
            yield key, value
        elif key in _BY_NAME:
            named = obj(value).items()
            yield (
                key,
                {n: _value_without(inner, without, losses, pointer(path, n)) for n, inner in named},
            )
        else:
            yield key, _value_without(value, without, losses, path)


def _value_without(
    value: JsonValue, without: Collection[str], losses: list[Loss], at: str
) -> JsonValue:
    if isinstance(value, dict):
        return dict(_members_without(value, without, losses, at))
    if isinstance(value, list):
        return [
            _value_without(item, without, losses, pointer(at, n)) for n, item in enumerate(value)
        ]
    return value


def allows_any_object(schema: Mapping[str, JsonValue]) -> bool:
    """Return whether the schema requires no more than an object, which an API's JSON mode
    guarantees."""
    return not schema or schema == {"type": "object"}


def read_structured_answer(answer: str, schema: Mapping[str, JsonValue]) -> StructuredDataPart:
    """Return the value in the text of an answer, validated. Raises AgentError with a reason for the
    model."""
    try:
        value: JsonValue = orjson.loads(_unfenced(answer))
    except orjson.JSONDecodeError as error:
        raise AgentError(f"the answer is not valid JSON: {error}") from None
    if violation := schema_violation(value, schema):
        raise AgentError(f"the answer does not match the required format: {violation}")
    data = value if isinstance(value, (dict, list)) else {"value": value}
    name = schema.get("$id")
    return StructuredDataPart(schema_id=name if isinstance(name, str) else VALUE, data=data)


def check_schema(schema: Mapping[str, JsonValue]) -> None:
    """Raise AgentError if this is not a JSON Schema."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise AgentError(f"the requested format is not a JSON Schema: {error.message}") from None


def schema_violation(value: JsonValue, schema: Mapping[str, JsonValue]) -> str:
    """Return the first violation of a JSON Schema as text; empty if the value is valid. Remote
    references are not fetched. Raises AgentError for an invalid schema."""
    # Slow to import (0.2 s), and most bridges request no format.
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    check_schema(schema)
    try:
        validator = Draft202012Validator(schema, registry=Registry())
        violation = next(validator.iter_errors(value), None)
    except Unresolvable as error:
        raise AgentError(
            f"the requested format refers to a schema that does not exist: {error}"
        ) from None
    return "" if violation is None else f"{violation.json_path}: {violation.message[:300]}"


def _unfenced(answer: str) -> str:
    """Remove the Markdown fence that some models put around JSON."""
    text = answer.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.partition("\n")[2].removesuffix("```")
    return text
