"""The corpus: every message, view and card in its files. UACS_CORPUS names the folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from tests.corpus.examples import EXAMPLES
from tests.corpus.view import Json, of, string

FOLDERS = {
    "slack": ("slack/blocks", "slack/views", "slack/events", "slack/api", "slack/exports"),
    "discord": ("discord/messages", "discord/events", "discord/objects"),
    "teams": ("adaptive", "teams"),
}
_BESIDE = ("_hostconfig", "_template_data")


@dataclass(frozen=True, slots=True)
class Case:
    """One message: `name` is its file, with the place in it."""

    platform: str
    name: str
    payload: Any
    synthetic: bool = False


def corpus() -> Path | None:
    folder = os.environ.get("UACS_CORPUS")
    return Path(folder) if folder and Path(folder).is_dir() else None


@cache
def cases(platform: str | None = None) -> tuple[Case, ...]:
    """All of one platform, or of all, in the order of their names; nothing without a corpus. Of a
    platform without a folder our own examples."""
    root = corpus()
    if root is None:
        return ()
    made_up = _synthetic(root)
    examples = (
        Case(name, f"example {name_of_example}", payload)
        for name in EXAMPLES
        if name not in FOLDERS and platform in (None, name)
        for name_of_example, payload in EXAMPLES[name].items()
    )
    files = (
        Case(name, f"{file.relative_to(root)}{at}", payload, str(file.relative_to(root)) in made_up)
        for name, folders in FOLDERS.items()
        if platform in (None, name)
        for folder in folders
        for file in sorted((root / folder).rglob("*.json"))
        if not any(part in file.parts for part in _BESIDE)
        for at, payload in messages(name, _read(file))
    )
    return (*files, *examples)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None


def _synthetic(root: Path) -> frozenset[str]:
    """Files that hold every field with dummy values."""
    try:
        lines = (root / "provenance.jsonl").read_text("utf-8").splitlines()
    except OSError:
        return frozenset()
    rows = (json.loads(line) for line in lines)
    return frozenset(row["file"] for row in rows if row.get("class") == "synthetic-skeleton")


def messages(platform: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The outermost messages in a file's value, with their places."""
    if _is_message(platform, value, top=True):
        yield "", value
        return
    stack = [("", value)]
    while stack:
        at, node = stack.pop()
        if at and _is_message(platform, node, top=False):
            yield f"#{at}", node
        elif isinstance(node, dict):
            inner = cast("Json", node)
            stack += [(f"{at}/{key}", item) for key, item in reversed(inner.items())]
        elif isinstance(node, list):
            items = cast("list[Any]", node)
            stack += [(f"{at}/{i}", item) for i, item in reversed(list(enumerate(items)))]


def _is_message(platform: str, value: Any, *, top: bool) -> bool:
    match platform:
        case "slack":
            return _is_slack(value, top=top)
        case "discord":
            return _is_discord(value)
        case _:
            return _is_teams(value)


def _objects(value: Any, key: str) -> bool:
    items = of(value, key)
    return isinstance(items, list) and any(isinstance(item, dict) for item in items)


def _is_slack(value: Any, *, top: bool) -> bool:
    if isinstance(value, list):
        return top and bool(value) and all("type" in item and "ts" not in item for item in value
                                           if isinstance(item, dict))  # fmt: skip
    if not isinstance(value, dict) or string(value, "type") == "rich_text":
        return False
    if _objects(value, "blocks") or _objects(value, "attachments"):
        return True
    spoken = string(value, "type") in ("message", "app_mention") and not _objects(value, "message")
    return spoken and bool(string(value, "text").strip()) and "message" not in value


def _is_discord(value: Any) -> bool:
    if not isinstance(value, dict) or ("custom_id" in value and "title" not in value):
        return False
    if isinstance(of(value, "type"), int) and "author" not in value and "id" not in value:
        return False
    rich = any(_objects(value, key) for key in ("embeds", "components", "message_snapshots"))
    has_words = bool(string(value, "content").strip()) and (
        "author" in value or "channel_id" in value
    )
    return rich or has_words or isinstance(of(value, "poll"), dict)


def _is_teams(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") == "AdaptiveCard" or value.get("@type") == "MessageCard":
        return True
    if isinstance(value.get("contentType"), str):
        kind = str(value["contentType"])
        return ".card." in kind and isinstance(value.get("content"), dict)
    spoken = value.get("type") == "message" and bool(string(value, "text").strip())
    return spoken or (_objects(value, "attachments") and value.get("type") in ("message", None)
                      and "body" not in value)  # fmt: skip
