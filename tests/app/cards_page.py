"""Writes docs/cards.md: every node with its fields, an example, and its form on each platform.

Run `python -m tests.app.cards_page` after a change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path
from typing import Any, cast, get_args

from bridge.app.translation.translate import Translation, translate
from bridge.content.cards import tree as card
from bridge.content.cards.json import card_schema
from tests.corpus.laws import PLATFORMS, see

PAGE = Path(__file__).parents[2] / "docs" / "cards.md"

EXAMPLES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "card_examples.json").read_text("utf-8")
)

_INTRO = """# Cards

A card is a rich message as one neutral tree. The bridge reads every platform's rich messages into this tree and writes them from it. An agent sends one card for all platforms, as a `structured_data` part of the schema `application/vnd.uacs.card+json`.

```json
{"type": "card", "nodes": [
  "# Build 42",
  {"type": "fields", "items": [{"label": "Branch", "value": "main"}]},
  {"type": "actions", "items": [{"type": "button", "label": "Approve", "id": "approve"}]}
]}
```

- Text is [UACS Markdown](text.md). A string in place of a node is a `prose` node.
- Fields with their default value can be omitted. Unknown fields are errors.
- [card.schema.json](card.schema.json) is the JSON Schema of the card (`uacs-bridge schema card`).
- `uacs-bridge translate --from card --to slack card.json` shows a card in a platform's own format; [fidelity.md](fidelity.md) shows how each platform's own elements are converted.
- Mentions in a card ping the same people as mentions in text ([people.md](people.md)); those of an agent or a program ping nobody, also in native payloads.
- Presses and inputs come back with the author's own `id` and `value`.

`python -m tests.app.cards_page` writes this page; the tables show the real output for the examples.
"""  # noqa: E501


def page() -> str:
    """The text of the page."""
    schema = card_schema()["$defs"]
    kinds = {str(kind.__dataclass_fields__["type"].default): kind for kind in _kinds()}
    lines = [_INTRO, "## Nodes\n", *(_node(name, kind, schema) for name, kind in kinds.items())]
    lines += ["## Values in nodes\n", *(_value(value, schema) for value in _values(schema, kinds))]
    return "\n".join(lines)


def _kinds() -> tuple[Any, ...]:
    return get_args(get_args(card.Node)[0])


def _values(schema: dict[str, Any], kinds: dict[str, Any]) -> list[str]:
    nodes = {kind.__name__ for kind in kinds.values()}
    return sorted(set(schema) - nodes - {"Node", "JsonValue"})


def _node(name: str, kind: Any, schema: dict[str, Any]) -> str:
    example = json.dumps(EXAMPLES[name], ensure_ascii=False)
    return "\n".join(
        [
            f"### {name}\n",
            f"{_described(kind)}\n",
            f"```json\n{example}\n```\n",
            *_fields(schema[kind.__name__]),
            "",
            "| platform | result |",
            "|---|---|",
            *(f"| {platform} | {_made(EXAMPLES[name], platform)} |" for platform in PLATFORMS),
            "",
        ]
    )


def _value(name: str, schema: dict[str, Any]) -> str:
    return "\n".join(
        [f"### {name}\n", f"{_described(getattr(card, name))}\n", *_fields(schema[name]), ""]
    )


def _described(kind: Any) -> str:
    """The type's docstring, unless dataclasses generated it."""
    text = getdoc(kind) or ""
    return "" if text.startswith(f"{kind.__name__}(") else " ".join(text.split())


# --- fields ---------------------------------------------------------------------------------


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    yield "| field | value | default |"
    yield "|---|---|---|"
    required = schema.get("required", ())
    for name, field_schema in schema["properties"].items():
        if name != "type":
            default = "" if name in required else f"`{json.dumps(field_schema.get('default'))}`"
            yield f"| `{name}` | {_type(field_schema)} | {default} |"


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"$ref": str() as target}:
            return target.rpartition("/")[2]
        case {"enum": list() as values}:
            return ", ".join(f"`{value}`" for value in cast("list[Any]", values))
        case {"anyOf": list() as several} | {"oneOf": list() as several}:
            found = [_type(each) for each in cast("list[dict[str, Any]]", several)]
            return " or ".join(each for each in dict.fromkeys(found) if each != "null")
        case {"const": value}:
            return f"`{value}`"
        case {"contentMediaType": _}:
            return "Markdown"
        case {"type": "array"}:
            return f"list of {_type(schema.get('items') or {})}"
        case {"type": str() as name}:
            return name
        case _:
            return "any JSON"


# --- on the platforms -----------------------------------------------------------------------


def _made(example: dict[str, Any], platform: str) -> str:
    """The elements of the example's translation, and its losses."""
    done = translate({"type": "card", "nodes": [example]}, source="card", target=platform)
    kinds = dict.fromkeys(element.kind for element in see(platform, done.messages).elements)
    names = ", ".join(f"`{kind}`" for kind in kinds if kind != "AdaptiveCard") or "text"
    return "; ".join([names, *_lost(done)])


def _lost(done: Translation) -> Iterator[str]:
    for loss in done.losses:
        replacement = f" → {_cell(loss.shown_as)}" if loss.shown_as else ""
        yield f"{loss.kind}: {_cell(loss.what)}{replacement}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
