"""Short constructors of cards as bots send them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
ADAPTIVE = "application/vnd.microsoft.card.adaptive"
HERO = "application/vnd.microsoft.card.hero"


def adaptive(*body: Json, actions: list[Json] | None = None, **more: Any) -> Json:
    """An attachment with an Adaptive Card."""
    content = {"type": "AdaptiveCard", "version": "1.5", "body": list(body), **more}
    return {"contentType": ADAPTIVE, "content": content | {"actions": actions or []}}


def submit(title: str, data: Any = None, **more: Any) -> Json:
    return {"type": "Action.Submit", "title": title, "data": data, **more}


def execute(title: str, verb: str, data: Any = None, **more: Any) -> Json:
    return {"type": "Action.Execute", "title": title, "verb": verb, "data": data, **more}


def field(own_id: str, **more: Any) -> Json:
    return {"type": "Input.Text", "id": own_id, "label": own_id.title(), **more}


def hero(*buttons: Json, **more: Any) -> Json:
    return {"contentType": HERO, "content": {"title": "A hero", "buttons": list(buttons), **more}}


def words(text: str) -> Json:
    return {"type": "TextBlock", "text": text}


def message(*attachments: Json, **more: Any) -> Json:
    return {"type": "message", "attachments": list(attachments), **more}


def consent(name: str = "notes.txt", size: Any = 5, **content: Any) -> Json:
    card = {
        "description": "For you", "sizeInBytes": size, "acceptContext": {"n": 1},
        "declineContext": {"n": 2}, **content,
    }  # fmt: skip
    kind = "application/vnd.microsoft.teams.card.file.consent"
    return {"contentType": kind, "name": name, "content": card}
