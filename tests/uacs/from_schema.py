"""A JSON Schema of UACS's few keywords -> documents that it generates.

hypothesis-jsonschema cannot do it: its objects use a part of hypothesis that is gone (6.170).
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.uacs import strategies

_FORMATS = {"uuid": strategies.uuids, "date-time": strategies.timestamps, "uri": strategies.uris}
_TYPES: dict[str, st.SearchStrategy[Any]] = {
    "string": strategies.text,
    "object": strategies.json_objects,
    "array": st.lists(strategies.json_values, max_size=3),
    "boolean": st.booleans(),
}


def generated(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Instances of a schema; of an object with a `oneOf` of required names, one of them each."""
    if "$ref" in schema:
        return generated(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if "properties" in schema:
        branches: list[list[str]] = [branch["required"] for branch in schema.get("oneOf", [])]
        required = schema.get("required", [])
        return st.one_of(
            *(
                _objects(schema, [*required, *branch], branches, definitions)
                for branch in branches or [[]]
            )
        )
    if "oneOf" in schema:
        return st.one_of(*(generated(option, definitions) for option in schema["oneOf"]))
    return _of_type(schema, definitions)


def _objects(
    schema: dict[str, Any],
    required: list[str],
    branches: list[list[str]],
    definitions: dict[str, Any],
) -> st.SearchStrategy[Any]:
    fields = {
        name: generated(property_schema, definitions)
        for name, property_schema in schema["properties"].items()
    }
    alternatives = {name for branch in branches for name in branch}
    optional = set(fields) - set(required) - alternatives
    known = st.fixed_dictionaries(
        {name: fields[name] for name in required},
        optional={name: fields[name] for name in sorted(optional)},
    )
    extra = st.dictionaries(
        strategies.text.filter(lambda name: name not in fields), strategies.json_values, max_size=2
    )
    return st.builds(lambda fields, more: {**fields, **more}, known, extra)


def _of_type(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "format" in schema:
        return _FORMATS[schema["format"]]
    if "pattern" in schema:
        return st.from_regex(schema["pattern"]).filter(lambda text: text.isascii())
    if "not" in schema:
        return strategies.text.filter(lambda text: text not in schema["not"]["enum"])
    if "items" in schema:
        items = generated(schema["items"], definitions)
        return st.lists(items, min_size=schema.get("minItems", 0), max_size=3)
    return _TYPES[schema["type"]] if "type" in schema else strategies.json_values
