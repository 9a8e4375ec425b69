"""JSON Schemas of answers: made simpler for an API, and judged by us. Pure."""

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

# Keywords whose values are schemas by name: their keys are no keywords.
_BY_NAME = frozenset(("properties", "$defs", "definitions", "dependentSchemas"))
_DATA = frozenset(("enum", "const", "default", "examples", "required"))


def without_keywords(
    schema: Mapping[str, JsonValue], without: Collection[str], losses: list[Loss]
) -> Json:
    """The schema without keywords that an API does not take, with a Loss for each."""
    return dict(_kept(dict(schema), without, losses, ""))


def _kept(
    schema: Json, without: Collection[str], losses: list[Loss], at: str
) -> Iterator[tuple[str, JsonValue]]:
    for key, value in schema.items():
        path = pointer(at, key)
        if key in without:
            shown = "judged by the bridge"
            losses.append(Loss(path=path, kind="schema_keyword", what=key, shown_as=shown))
        elif key in _DATA:
            yield key, value
        elif key in _BY_NAME:
            named = obj(value).items()
            yield key, {n: _lower(one, without, losses, pointer(path, n)) for n, one in named}
        else:
            yield key, _lower(value, without, losses, path)


def _lower(value: JsonValue, without: Collection[str], losses: list[Loss], at: str) -> JsonValue:
    if isinstance(value, dict):
        return dict(_kept(value, without, losses, at))
    if isinstance(value, list):
        return [_lower(item, without, losses, pointer(at, n)) for n, item in enumerate(value)]
    return value


def allows_any_object(schema: Mapping[str, JsonValue]) -> bool:
    """Return whether the schema says no more than "an object": an API's JSON mode then suffices."""
    return not schema or schema == {"type": "object"}


def read_structured_answer(said: str, schema: Mapping[str, JsonValue]) -> StructuredDataPart:
    """The text of an answer -> its value, judged. Raises AgentError with a reason for the model."""
    try:
        value: JsonValue = orjson.loads(_bare(said))
    except orjson.JSONDecodeError as error:
        raise AgentError(f"the answer is no JSON: {error}") from None
    if fault := schema_violation(value, schema):
        raise AgentError(f"the answer does not keep its format: {fault}")
    data = value if isinstance(value, (dict, list)) else {"value": value}
    name = schema.get("$id")
    return StructuredDataPart(schema_id=name if isinstance(name, str) else VALUE, data=data)


def check_schema(schema: Mapping[str, JsonValue]) -> None:
    """Raises AgentError where this is no JSON Schema."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise AgentError(f"the wanted format is no JSON Schema: {error.message}") from None


def schema_violation(value: JsonValue, schema: Mapping[str, JsonValue]) -> str:
    """The first thing in which a value breaks a JSON Schema; empty where it keeps it. Nothing is
    fetched for references to elsewhere."""
    # Slow to import (0.2 s), and most bridges never ask for a format.
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    check_schema(schema)
    try:
        judge = Draft202012Validator(schema, registry=Registry())
        found = next(judge.iter_errors(value), None)
    except Unresolvable as error:
        raise AgentError(f"the wanted format names a schema that is not there: {error}") from None
    return "" if found is None else f"{found.json_path}: {found.message[:300]}"


def _bare(said: str) -> str:
    """Without the fence that some models put around JSON."""
    text = said.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.partition("\n")[2].removesuffix("```")
    return text
