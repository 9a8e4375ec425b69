"""The table of endpoints -> an OpenAPI 3.1 document.

`python -m bridge.app.api.openapi` prints it; `docs/openapi.json` is kept equal to it.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

import orjson
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bridge.app.api.endpoints import ENDPOINTS, Endpoint, Parameter
from bridge.app.api.shapes import ProblemBody

Json = dict[str, Any]
_ALWAYS = (401, 429, 500)  # of every endpoint


def document() -> Json:
    """The OpenAPI document as JSON values."""
    shapes = _shapes()
    paths: dict[str, Json] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "uacs-bridge",
            "version": "1",
            "description": "Rooms of Slack, Discord, Teams and AI agents as UACS; docs/api.md.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": shapes,
        },
    }


@cache
def document_text() -> bytes:
    """The document as text, equal to `docs/openapi.json`."""
    return orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _shapes() -> dict[str, Json]:
    shapes: list[type[BaseModel]] = [ProblemBody]
    for endpoint in ENDPOINTS:
        shapes += [shape for shape in (endpoint.takes, endpoint.gives) if shape is not None]
    _, generated = models_json_schema(
        [(shape, "validation") for shape in dict.fromkeys(shapes)],
        ref_template="#/components/schemas/{model}",
    )
    return dict(sorted(generated["$defs"].items()))


def _operation(endpoint: Endpoint) -> Json:
    inside = [Parameter(name, "", {"type": "string"}, "path", required=True)
              for name in re.findall(r"{(\w+)}", endpoint.path)]  # fmt: skip
    operation: Json = {
        "operationId": endpoint.name,
        "summary": endpoint.about,
        "parameters": [_parameter(parameter) for parameter in (*inside, *endpoint.parameters)],
        "responses": _responses(endpoint),
    }
    if endpoint.scope is not None:
        operation["description"] = f"Needs the scope `{endpoint.scope}`."
    if endpoint.takes is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(endpoint.takes)}},
        }
    return operation


def _parameter(parameter: Parameter) -> Json:
    document: Json = {
        "name": parameter.name,
        "in": parameter.where,
        "schema": dict(parameter.schema),
    }
    if parameter.about:
        document["description"] = parameter.about
    return {**document, "required": True} if parameter.required else document


def _responses(endpoint: Endpoint) -> Json:
    schema: Json = {} if endpoint.gives is None else {"schema": _ref(endpoint.gives)}
    good: Json = {"description": endpoint.about, "content": {endpoint.media: schema}}
    responses: Json = {str(endpoint.status): good}
    if endpoint.status != 200:
        responses["200"] = {**good, "description": "It existed before."}
    statuses = {*_ALWAYS, *endpoint.problems}
    statuses |= {403} if endpoint.scope is not None else set()
    statuses |= {404} if "{" in endpoint.path or endpoint.name == "search" else set()
    statuses |= {422} if endpoint.parameters or endpoint.takes is not None else set()
    statuses |= {400, 408, 413} if endpoint.takes is not None else set()
    for status in sorted(statuses):
        responses[str(status)] = {
            "description": "A problem.",
            "content": {"application/problem+json": {"schema": _ref(ProblemBody)}},
        }
    return responses


def _ref(shape: type[BaseModel]) -> Json:
    return {"$ref": f"#/components/schemas/{shape.__name__}"}


if __name__ == "__main__":
    sys.stdout.buffer.write(document_text())
