"""The demo's desk: an agent behind a webhook, which posts a form and handles its answers.

It works as a program outside the bridge: it receives turns as JSON and answers in UACS.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bridge.app.web.server import WebServer

Json = dict[str, Any]

CARD = "application/vnd.uacs.card+json"
INTERACTION = "application/vnd.uacs.interaction+json"
_SIZES = {"huddle": "Huddle, 4 seats", "studio": "Studio, 12 seats", "hall": "Hall, 60 seats"}


@asynccontextmanager
async def serving_desk(labels: Mapping[str, str]) -> AsyncGenerator[str]:
    """Serve the desk on a free port of this machine; `labels` are the display names of platforms.
    Yields the URL of its webhook."""

    async def take_turn(request: Request) -> Response:
        turn: Json = orjson.loads(await request.body())
        return respond(turn, labels)

    app = Starlette(routes=[Route("/turns", take_turn, methods=["POST"])])
    server = WebServer(app, "127.0.0.1", 0)
    await server.start()
    try:
        yield f"{server.url}/turns"
    finally:
        await server.stop()


def respond(turn: Json, labels: Mapping[str, str]) -> Response:
    """Answer one turn with the form, or, after a press on it, with the form's new content."""
    question = turn["conversation"]["messages"][-1]
    press = next(
        (part["data"] for part in question["content"] if part.get("schema_id") == INTERACTION),
        None,
    )
    if press is None:
        return JSONResponse({"content": [_part(booking_form())]})
    name = question["actor"].get("name") or "Somebody"
    changed = {
        "type": "message_changed",
        "message": press["message"],
        "parts": [_part(answered_form(press, name, _label(question["message_id"], labels)))],
    }
    body = b"data: " + orjson.dumps(changed) + b"\n\ndata: [DONE]\n\n"
    return Response(body, media_type="text/event-stream")


def booking_form() -> Json:
    """The example card: facts, a small picture of the plan as a table, inputs and two buttons."""
    return _card(
        "## Book a room\n\nThe **studio** and the *hall* are free on Thursday.",
        {
            "type": "fields",
            "items": [
                {"label": "Building", "value": "Harbour 12"},
                {"label": "Open", "value": "08:00 to 20:00"},
            ],
        },
        {
            "type": "choice",
            "id": "size",
            "label": "Room",
            "required": True,
            "options": [{"label": label, "value": value} for value, label in _SIZES.items()],
        },
        {"type": "date_input", "id": "day", "label": "Day", "value": "2027-03-04"},
        {
            "type": "text_input",
            "id": "purpose",
            "label": "What for?",
            "placeholder": "Release party",
        },
        {"type": "toggle", "id": "coffee", "label": "Coffee", "title": "We want coffee"},
        {
            "type": "actions",
            "items": [
                {
                    "type": "button",
                    "label": "Book",
                    "does": "submit",
                    "id": "book",
                    "style": "primary",
                },
                {"type": "button", "label": "No room needed", "id": "decline"},
            ],
        },
    )


def answered_form(press: Mapping[str, Any], name: str, platform: str) -> Json:
    """The card that replaces the form everywhere after a press on `platform`."""
    if press.get("id") == "decline":
        return _card("## Book a room", f"{name} pressed *No room needed* on {platform}.")
    inputs: Mapping[str, Any] = press.get("inputs") or {}
    size = str(inputs.get("size") or "")
    items = [
        {"label": "Room", "value": _SIZES.get(size, size or "any")},
        {"label": "Day", "value": str(inputs.get("day") or "any")},
        {"label": "What for", "value": str(inputs.get("purpose") or "not given")},
        {"label": "Coffee", "value": "yes" if inputs.get("coffee") in (True, "true") else "no"},
    ]
    return _card(
        "## Room booked ✅",
        f"**{name}** filled in the form on {platform}; this message changed everywhere.",
        {"type": "fields", "items": items},
    )


def _label(message_id: str, labels: Mapping[str, str]) -> str:
    """The display name of a message's platform."""
    platform = message_id.partition(":")[0]
    return labels.get(platform, platform)


def _card(*nodes: Json | str) -> Json:
    return {"type": "card", "nodes": list(nodes)}


def _part(card: Json) -> Json:
    return {"type": "structured_data", "schema_id": CARD, "data": card}
