"""The code of docs/api.md works, and docs/openapi.json is current."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema

from bridge.app.api.openapi import document, document_text

DOCS = Path(__file__).parents[3] / "docs"
COMMAND = "python -m bridge.app.api.openapi > docs/openapi.json"


def example(marker: str) -> str:
    text = (DOCS / "api.md").read_text()
    found = re.search(rf"<!-- {marker} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found, marker
    return found[1]


def test_the_openapi_document_in_the_docs_matches_the_code() -> None:
    assert (DOCS / "openapi.json").read_bytes() == document_text(), COMMAND


def test_every_shape_of_the_openapi_document_is_a_json_schema() -> None:
    schemas = document()["components"]["schemas"]

    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    names = set(re.findall(rb'"#/components/schemas/(\w+)"', document_text()))
    assert {name.decode() for name in names} <= schemas.keys()


def test_the_api_page_names_every_address() -> None:
    page = (DOCS / "api.md").read_text()

    for kind in ("rooms", "events", "messages", "interactions", "search", "blobs"):
        assert f"/{kind}" in page
