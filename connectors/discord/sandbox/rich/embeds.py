"""Embeds: their published limits, and what Discord stores of them. Pure.

Source: discord-api-docs resources/message "Embed Limits" and the OpenAPI document (2026-08).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from connectors.discord.sandbox.checks import Form
from connectors.discord.sandbox.rich.fields import MEDIA, Json, Node

MAX_EMBEDS = 10
MAX_CHARACTERS = 6000
_LONGEST_ADDRESS = 2048
_LARGEST_COLOUR = 0xFFFFFF
# Discord drops an embed without any of these.
_VISIBLE_FIELDS = (
    "title", "description", "footer", "image", "thumbnail", "author", "fields", "timestamp",
)  # fmt: skip


def read_embeds(form: Form) -> list[Json] | None:
    """Return the embeds of a request as Discord stores them; None if it has no such field."""
    if "embeds" not in form.body:
        return None
    nodes = Node(form, "", form.body).children("embeds", 0, MAX_EMBEDS)
    embeds = [_embed(node) for node in nodes]
    if sum(_size(embed) for embed in embeds) > MAX_CHARACTERS:
        text = f"Embed size exceeds maximum size of {MAX_CHARACTERS}"
        form.fail("embeds", "MAX_EMBED_SIZE_EXCEEDED", text)
    return [embed for embed in embeds if any(embed.get(name) for name in _VISIBLE_FIELDS)]


def _embed(node: Node) -> Json:
    checked: Json = {"type": "rich"}
    checked["title"] = node.text("title", 256)
    checked["description"] = node.text("description", 4096)
    checked["url"] = node.address("url", _LONGEST_ADDRESS)
    checked["color"] = node.integer("color", 0, _LARGEST_COLOUR)
    checked["timestamp"] = _time(node)
    checked["fields"] = [_field(child) for child in node.children("fields", 0, 25)]
    if footer := node.child("footer"):
        checked["footer"] = _text_and_icon(footer, "text", 2048)
    if author := node.child("author"):
        checked["author"] = _text_and_icon(author, "name", 256)
        if checked["author"] is not None and (url := author.address("url", _LONGEST_ADDRESS)):
            checked["author"]["url"] = url
    for name in ("image", "thumbnail"):
        if picture := node.child(name):
            url = picture.address("url", _LONGEST_ADDRESS, MEDIA)
            checked[name] = {"url": url} if url else None
    return {name: value for name, value in checked.items() if value not in (None, "", [])}


def _field(node: Node) -> Json:
    name = node.text("name", 256, required=True)
    value = node.text("value", 1024, required=True)
    return {"name": name or "", "value": value or "", "inline": node.flag("inline")}


def _text_and_icon(node: Node, key: str, max_length: int) -> Json | None:
    """Return a footer or an author; None without its text."""
    text = node.text(key, max_length)
    icon = node.address("icon_url", _LONGEST_ADDRESS, MEDIA)
    if not text:
        return None
    return {key: text, "icon_url": icon} if icon else {key: text}


def _time(node: Node) -> str | None:
    value = node.value.get("timestamp")
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        text = f'Could not parse "{value}". Should be ISO8601.'
        node.fail("timestamp", "DATE_TIME_TYPE_PARSE", text)
        return None
    return moment.isoformat(timespec="microseconds")


def _size(embed: Json) -> int:
    texts: list[Any] = [embed.get("title"), embed.get("description")]
    texts += [embed.get("footer", {}).get("text"), embed.get("author", {}).get("name")]
    for field in embed.get("fields", ()):
        texts += [field["name"], field["value"]]
    return sum(len(text) for text in texts if text)
