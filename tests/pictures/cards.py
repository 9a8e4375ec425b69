"""Handwritten cards that together have every node type, as an agent writes them."""

from __future__ import annotations

from pydantic import JsonValue

PICTURE = "https://picsum.photos/id/28/400/200"


def card(*nodes: JsonValue) -> JsonValue:
    return {"type": "card", "nodes": list(nodes)}


def field(label: str, value: str) -> JsonValue:
    return {"label": label, "value": value}


CARDS: dict[str, JsonValue] = {
    "incident": card(
        "# Checkout is slow\n\nThe **p99** of `POST /pay` is at *4.2 s* since 10:02.",
        {
            "type": "fields",
            "items": [
                field("Service", "payments"),
                field("Severity", "2"),
                field("Region", "eu-west"),
                field("On call", "Ann Example"),
            ],
        },
        {"type": "divider"},
        {
            "type": "actions",
            "items": [
                {"type": "button", "label": "Take it", "style": "primary", "id": "take"},
                {"type": "button", "label": "Escalate", "style": "danger", "id": "escalate"},
                {"type": "button", "label": "Runbook", "does": "open", "url": "https://a.example"},
            ],
        },
    ),
    "prose": card(
        "## Release notes\n\n1. First\n2. Second\n   - nested *item*\n   - another\n\n> A quote\n"
        "> over two lines\n\n```python\ndef answer() -> int:\n    return 42\n```\n\n"
        "- [x] written\n- [ ] read\n\n~~gone~~, <u>under</u>, ||hidden||, [a link](https://a.example)"
    ),
    "table": card(
        {
            "type": "table",
            "title": "Orders",
            "align": ["left", "right", "center"],
            "rows": [
                [["Customer"], ["Total"], ["Paid"]],
                [["Ann"], ["12.50"], ["✅"]],
                [["Łukasz"], ["1,300.00"], ["❌"]],
                [["山田"], ["7.00"], ["✅"]],
            ],
        }
    ),
    "panel": card(
        {
            "type": "container",
            "form": "panel",
            "color": 0x5865F2,
            "author": {"text": "Build bot", "link": "https://ci.example"},
            "title": "Build 481 failed",
            "link": "https://ci.example/481",
            "thumbnail": {"type": "image", "asset": {"url": PICTURE, "alt": "a coast"}},
            "nodes": [
                "2 of 1,024 tests failed on `main`.",
                {"type": "fields", "items": [field("Branch", "main"), field("Took", "4 min")]},
            ],
            "footer": {"text": "ci.example"},
            "time": 1760000000,
        }
    ),
    "gallery": card(
        "Three pictures",
        {
            "type": "gallery",
            "items": [
                {"type": "image", "asset": {"url": PICTURE, "alt": f"picture {number}"}}
                for number in range(3)
            ],
        },
        {"type": "image", "asset": {"url": PICTURE, "alt": "a coast"}, "title": "By the sea"},
    ),
    "form": card(
        "### Book a room",
        {
            "type": "text_input",
            "id": "name",
            "label": "Name",
            "placeholder": "Ann",
            "required": True,
        },
        {"type": "text_input", "id": "why", "label": "Why", "multiline": True},
        {"type": "number_input", "id": "people", "label": "People", "min": 1, "max": 20},
        {"type": "date_input", "id": "day", "label": "Day", "value": "2026-11-21"},
        {"type": "date_input", "id": "at", "of": "time", "label": "Time"},
        {
            "type": "choice",
            "id": "size",
            "label": "Room",
            "options": [
                {"label": "Small", "value": "s", "description": "4 seats"},
                {"label": "Large", "value": "l", "description": "20 seats"},
            ],
        },
        {"type": "toggle", "id": "coffee", "label": "Coffee", "title": "We want coffee"},
        {"type": "picker", "of": "people", "id": "host", "label": "Host"},
        {"type": "button", "label": "Book", "does": "submit", "id": "book", "style": "primary"},
    ),
    "told": card(
        {"type": "alert", "level": "warning", "text": "The certificate ends in **3 days**."},
        {"type": "alert", "level": "success", "text": "All checks passed."},
        {"type": "badge", "text": "Beta", "style": "accent"},
        {"type": "progress", "value": 30, "label": "Upload"},
        {"type": "rating", "value": 4.2, "count": 37},
        {
            "type": "tasks",
            "title": "Deploy",
            "tasks": [
                {"title": "Build", "status": "done"},
                {"title": "Test", "status": "running", "details": ["412 of 1,024"]},
                {"title": "Ship", "status": "pending"},
            ],
        },
    ),
    "chart": card(
        {
            "type": "chart",
            "kind": "bar",
            "title": "Visits",
            "x_title": "Day",
            "y_title": "People",
            "series": [
                {
                    "name": "web",
                    "points": [{"label": "Mon", "value": 3}, {"label": "Tue", "value": 5}],
                },
                {
                    "name": "app",
                    "points": [{"label": "Mon", "value": 1}, {"label": "Tue", "value": 4}],
                },
            ],
        },
        {
            "type": "chart",
            "kind": "pie",
            "title": "Share",
            "series": [
                {"name": "", "points": [{"label": "A", "value": 60}, {"label": "B", "value": 40}]}
            ],
        },
    ),
    "poll": card(
        {
            "type": "poll",
            "question": "Lunch?",
            "answers": [
                {"text": "Pizza", "emoji": "🍕", "votes": 3},
                {"text": "Salad", "emoji": "🥗", "votes": 1},
            ],
        }
    ),
    "columns": card(
        {
            "type": "columns",
            "columns": [
                {"nodes": ["**Left**\n\nSome words"]},
                {"nodes": ["**Middle**\n\nMore words"], "width": "auto"},
                {"nodes": [{"type": "image", "asset": {"url": PICTURE, "alt": "a coast"}}]},
            ],
        },
        {
            "type": "section",
            "nodes": ["A text with a picture at its side"],
            "accessory": {"type": "image", "asset": {"url": PICTURE, "alt": "a coast"}},
        },
        {
            "type": "section",
            "nodes": ["A text with a button at its side"],
            "accessory": {"type": "button", "label": "Go", "id": "go"},
        },
        {"type": "context", "items": ["small print", "more of it"]},
    ),
    "carousel": card(
        {
            "type": "carousel",
            "cards": [
                {
                    "type": "container",
                    "form": "card",
                    "title": f"Hotel {name}",
                    "subtitle": "from 90 €",
                    "hero": {"type": "image", "asset": {"url": PICTURE, "alt": "a coast"}},
                    "nodes": [
                        "A view of the sea.",
                        {
                            "type": "actions",
                            "items": [{"type": "button", "label": "Book", "id": name}],
                        },
                    ],
                }
                for name in ("Adria", "Bellevue", "Corso")
            ],
        }
    ),
    "folded": card(
        {
            "type": "container",
            "title": "More about it",
            "collapsed": True,
            "nodes": ["Only for those who ask.", {"type": "divider"}, "And more."],
        },
        {"type": "container", "spoiler": True, "nodes": ["The butler did it."]},
        {
            "type": "actions",
            "items": [
                {
                    "type": "button",
                    "label": "Comment",
                    "does": "reveal",
                    "nodes": [
                        {"type": "text_input", "id": "comment", "label": "Comment"},
                        {"type": "button", "label": "Send", "does": "submit", "id": "send"},
                    ],
                },
                {
                    "type": "choice",
                    "id": "status",
                    "placeholder": "Status",
                    "dispatches": True,
                    "options": [{"label": "Open", "value": "o"}, {"label": "Done", "value": "d"}],
                },
                {
                    "type": "button",
                    "label": "Delete",
                    "style": "danger",
                    "id": "delete",
                    "confirm": {"title": "Sure?", "text": "It is gone for good.", "ok": "Delete"},
                },
            ],
        },
    ),
    "media": card(
        {
            "type": "player",
            "kind": "video",
            "title": "A film",
            "link": "https://video.example/1",
            "asset": {"url": "https://video.example/1.mp4", "media_type": "video/mp4"},
            "poster": {"url": PICTURE, "alt": "first frame"},
            "description": "Two minutes of it",
        },
        {
            "type": "file",
            "asset": {"url": "https://a.example/r.pdf", "name": "report.pdf", "size": 12345},
        },
    ),
}
