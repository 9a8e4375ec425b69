"""Messages written by hand, one for each element: seeds of the fuzzer, and examples in the docs."""

from __future__ import annotations

from typing import Any

from tests.corpus.platforms import PLATFORMS, part_of

FILES = "https://files.example.org"
PICTURE = f"{FILES}/cat.png"
PAGE = "https://example.org/plan"


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def _mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def _options(*labels: str) -> list[dict[str, Any]]:
    return [{"text": _plain(label), "value": label.lower()} for label in labels]


def _run(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def _input(label: str, element: dict[str, Any]) -> dict[str, Any]:
    return {"type": "input", "label": _plain(label), "hint": _plain("a hint"), "element": element}


_SLACK_BLOCKS: dict[str, list[dict[str, Any]]] = {
    "section": [{"type": "section", "text": _mrkdwn("*Bold*, _slanted_, ~gone~ and `code`")}],
    "section.field": [
        {"type": "section", "fields": [_mrkdwn("*Status*\nOpen"), _mrkdwn("*Owner*\nJane Doe")]}
    ],
    "section.image": [
        {
            "type": "section",
            "text": _mrkdwn("A room with a view"),
            "accessory": {"type": "image", "image_url": PICTURE, "alt_text": "a cat"},
        }
    ],
    "header": [{"type": "header", "text": _plain("Weekly report")}],
    "divider": [
        {"type": "section", "text": _plain("above")},
        {"type": "divider"},
        {"type": "section", "text": _plain("below")},
    ],
    "image": [
        {"type": "image", "image_url": PICTURE, "alt_text": "a cat", "title": _plain("Our cat")}
    ],
    "context": [
        {
            "type": "context",
            "elements": [
                {"type": "image", "image_url": PICTURE, "alt_text": "a face"},
                _mrkdwn("posted by *Jane*"),
            ],
        }
    ],
    "button": [
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "text": _plain("Approve"),
                    "action_id": "approve",
                    "value": "42",
                    "style": "primary",
                    "confirm": {
                        "title": _plain("Really?"),
                        "text": _plain("Nobody can undo it."),
                        "confirm": _plain("Yes"),
                        "deny": _plain("No"),
                    },
                },
                {"type": "button", "text": _plain("Read more"), "url": PAGE, "action_id": "more"},
            ],
        }
    ],
    "workflow_button": [
        {
            "type": "actions",
            "elements": [
                {
                    "type": "workflow_button",
                    "text": _plain("Begin"),
                    "workflow": {"trigger": {"url": "https://slack.com/shortcuts/Ft1/x"}},
                }
            ],
        }
    ],
    "overflow": [
        {
            "type": "section",
            "text": _plain("Three dots"),
            "accessory": {"type": "overflow", "options": _options("Edit", "Delete")},
        }
    ],
    "static_select": [
        {
            "type": "actions",
            "elements": [
                {
                    "type": "static_select",
                    "action_id": "tea",
                    "placeholder": _plain("Which tea?"),
                    "options": _options("Sencha", "Assam"),
                }
            ],
        }
    ],
    "multi_static_select": [
        _input(
            "Toppings",
            {
                "type": "multi_static_select",
                "option_groups": [
                    {"label": _plain("Sweet"), "options": _options("Honey", "Jam")},
                    {"label": _plain("Salty"), "options": _options("Cheese")},
                ],
                "max_selected_items": 2,
            },
        )
    ],
    "checkboxes": [_input("Days", {"type": "checkboxes", "options": _options("Monday", "Friday")})],
    "radio_buttons": [
        _input("Size", {"type": "radio_buttons", "options": _options("Small", "Large")})
    ],
    "users_select": [
        {
            "type": "actions",
            "elements": [{"type": "users_select", "placeholder": _plain("Who takes it?")}],
        }
    ],
    "channels_select": [_input("Where", {"type": "channels_select"})],
    "conversations_select": [_input("Where to", {"type": "conversations_select"})],
    "external_select": [
        _input("City", {"type": "external_select", "placeholder": _plain("Type a name")})
    ],
    "datepicker": [
        {
            "type": "actions",
            "elements": [
                {"type": "datepicker", "initial_date": "2026-11-21"},
                {"type": "timepicker", "initial_time": "17:30"},
                {"type": "datetimepicker", "initial_date_time": 1_700_000_000},
            ],
        }
    ],
    "plain_text_input": [
        _input("Name", {"type": "plain_text_input", "placeholder": _plain("Jane Doe")})
    ],
    "number_input": [
        _input("Guests", {"type": "number_input", "is_decimal_allowed": False, "min_value": "1"})
    ],
    "email_text_input": [_input("Address", {"type": "email_text_input"})],
    "file_input": [_input("Papers", {"type": "file_input", "filetypes": ["pdf"]})],
    "rich_text_section": [
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        _run("Hello "),
                        _run("brave", bold=True, italic=True),
                        _run(" new "),
                        {"type": "link", "url": PAGE, "text": "world"},
                        {"type": "emoji", "name": "wave"},
                    ],
                }
            ],
        }
    ],
    "rich_text_list": [
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_list",
                    "style": "bullet",
                    "indent": indent,
                    "elements": [{"type": "rich_text_section", "elements": [_run(text)]}],
                }
                for indent, text in ((0, "first"), (1, "within it"), (0, "second"))
            ],
        }
    ],
    "rich_text_quote": [
        {
            "type": "rich_text",
            "elements": [{"type": "rich_text_quote", "elements": [_run("Somebody said so")]}],
        }
    ],
    "rich_text_preformatted": [
        {
            "type": "rich_text",
            "elements": [{"type": "rich_text_preformatted", "elements": [_run("x = 1 < 2")]}],
        }
    ],
    "markdown": [
        {
            "type": "markdown",
            "text": "# Title\n\n- one\n- **two**\n\n| A | B |\n|---|---|\n| 1 | 2 |",
        }
    ],
    "video": [
        {
            "type": "video",
            "title": _plain("How it works"),
            "description": _plain("In two minutes"),
            "video_url": "https://video.example.org/embed/1",
            "thumbnail_url": PICTURE,
            "alt_text": "a film",
            "author_name": "Jane",
        }
    ],
    "table": [
        {
            "type": "table",
            "rows": [
                [{"type": "raw_text", "text": text} for text in row]
                for row in (("City", "People"), ("Bonn", "336000"), ("Graz", "303000"))
            ],
            "column_settings": [{"align": "left"}, {"align": "right"}],
        }
    ],
    "data_visualization": [
        {
            "type": "data_visualization",
            "title": "Votes",
            "chart": {
                "type": "pie",
                "segments": [{"label": "Yes", "value": 3}, {"label": "No", "value": 1}],
            },
        }
    ],
    "card": [
        {
            "type": "card",
            "title": _mrkdwn("*Blue house*"),
            "subtitle": _mrkdwn("Two rooms"),
            "body": _mrkdwn("Near the river"),
            "hero_image": {"type": "image", "image_url": PICTURE, "alt_text": "a house"},
            "actions": [{"type": "button", "text": _plain("Visit"), "action_id": "visit"}],
        }
    ],
    "carousel": [
        {
            "type": "carousel",
            "elements": [
                {"type": "card", "title": _mrkdwn("First"), "body": _mrkdwn("One")},
                {"type": "card", "title": _mrkdwn("Second"), "body": _mrkdwn("Two")},
            ],
        }
    ],
    "container": [
        {
            "type": "container",
            "title": _plain("Details"),
            "is_collapsible": True,
            "default_collapsed": True,
            "child_blocks": [{"type": "section", "text": _mrkdwn("Folded away")}],
        }
    ],
    "alert": [{"type": "alert", "level": "warning", "text": _mrkdwn("Mind the gap")}],
    "plan": [
        {
            "type": "plan",
            "title": "Moving house",
            "tasks": [
                {"type": "task_card", "task_id": "1", "title": "Pack", "status": "complete"},
                {"type": "task_card", "task_id": "2", "title": "Drive", "status": "in_progress"},
            ],
        }
    ],
    "feedback_buttons": [
        {
            "type": "context_actions",
            "elements": [
                {
                    "type": "feedback_buttons",
                    "action_id": "feedback",
                    "positive_button": {"text": _plain("Good answer"), "value": "good"},
                    "negative_button": {"text": _plain("Bad answer"), "value": "bad"},
                }
            ],
        }
    ],
}

SLACK: dict[str, Any] = {
    **{name: {"text": "told", "blocks": blocks} for name, blocks in _SLACK_BLOCKS.items()},
    "text": {"text": "Is the *release* ready? <https://example.org/plan|The plan> :tada: a < b"},
    "attachment": {
        "text": "Deployed",
        "attachments": [
            {
                "color": "#2EB67D",
                "pretext": "From the build",
                "author_name": "Builder",
                "title": "Build 42",
                "title_link": PAGE,
                "text": "All tests are *green*",
                "fields": [
                    {"title": "Branch", "value": "main", "short": True},
                    {"title": "Took", "value": "3 minutes", "short": True},
                ],
                "image_url": PICTURE,
                "footer": "ci",
                "ts": 1_700_000_000,
                "actions": [{"type": "button", "text": "Log", "url": PAGE}],
            }
        ],
    },
}  # fmt: skip


def _embed(**parts: Any) -> dict[str, Any]:
    return {"content": "", "embeds": [parts]}


def _components(*components: dict[str, Any]) -> dict[str, Any]:
    return {"flags": 1 << 15, "components": list(components)}


def _row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def _modal(label: str, component: dict[str, Any]) -> dict[str, Any]:
    label_node = {"type": 18, "label": label, "description": "a hint", "component": component}
    return {"title": "A form", "custom_id": "form", "components": [label_node]}


DISCORD: dict[str, Any] = {
    "content": {"content": "Is the **release** __ready__? ||No|| [The plan](https://example.org/plan)"},
    "attachment": {
        "content": "See",
        "attachments": [
            {"id": "1", "filename": "plan.pdf", "size": 5120, "url": f"{FILES}/plan.pdf"},
            {"id": "2", "filename": "cat.png", "content_type": "image/png", "url": PICTURE,
             "size": 900, "description": "a cat"},
        ],
    },
    "embed.title": _embed(title="Build 42", url=PAGE, color=0x2EB67D),
    "embed.description": _embed(description="All tests are **green**"),
    "embed.field": _embed(
        title="Build",
        fields=[
            {"name": "Branch", "value": "main", "inline": True},
            {"name": "Took", "value": "3 minutes", "inline": True},
            {"name": "Notes", "value": "none", "inline": False},
        ],
    ),
    "embed.author": _embed(author={"name": "Builder", "url": PAGE}, description="Done"),
    "embed.footer": _embed(
        description="Done", footer={"text": "ci"}, timestamp="2026-11-21T12:00:00+00:00"
    ),
    "embed.image": _embed(description="Look", image={"url": PICTURE}),
    "embed.thumbnail": _embed(description="Look", thumbnail={"url": PICTURE}),
    "poll": {
        "poll": {
            "question": {"text": "Tea or coffee?"},
            "answers": [
                {"answer_id": 1, "poll_media": {"text": "Tea", "emoji": {"name": "🍵"}}},
                {"answer_id": 2, "poll_media": {"text": "Coffee"}},
            ],
            "expiry": "2026-11-22T12:00:00+00:00",
            "allow_multiselect": False,
        }
    },
    "button": {
        "content": "Approve?",
        "components": [
            _row(
                {"type": 2, "style": 1, "label": "Yes", "custom_id": "y", "emoji": {"name": "👍"}},
                {"type": 2, "style": 4, "label": "No", "custom_id": "no"},
                {"type": 2, "style": 5, "label": "Read more", "url": PAGE},
            )
        ],
    },
    "string_select": {
        "content": "Tea?",
        "components": [
            _row(
                {
                    "type": 3,
                    "custom_id": "tea",
                    "placeholder": "Which tea?",
                    "options": [
                        {"label": "Sencha", "value": "s", "description": "mild"},
                        {"label": "Assam", "value": "a", "default": True},
                    ],
                }
            )
        ],
    },
    "user_select": {
        "content": "Who?",
        "components": [_row({"type": 5, "custom_id": "who", "placeholder": "Who takes it?"})],
    },
    "role_select": {
        "content": "Which?",
        "components": [_row({"type": 6, "custom_id": "role", "placeholder": "Which role?"})],
    },
    "channel_select": {
        "content": "Where?",
        "components": [_row({"type": 8, "custom_id": "where", "placeholder": "Which channel?"})],
    },
    "text_display": _components({"type": 10, "content": "# Title\n\n-# small print"}),
    "section": _components(
        {
            "type": 9,
            "components": [{"type": 10, "content": "A room with a view"}],
            "accessory": {"type": 11, "media": {"url": PICTURE}, "description": "a cat"},
        },
        {
            "type": 9,
            "components": [{"type": 10, "content": "Take it?"}],
            "accessory": {"type": 2, "style": 2, "label": "Take it", "custom_id": "take"},
        },
    ),
    "media_gallery": _components(
        {
            "type": 12,
            "items": [
                {"media": {"url": PICTURE}, "description": "a cat"},
                {"media": {"url": "https://files.example.org/dog.png"}, "spoiler": True},
            ],
        }
    ),
    "separator": _components(
        {"type": 10, "content": "above"},
        {"type": 14, "divider": True, "spacing": 1},
        {"type": 10, "content": "below"},
    ),
    "container": _components(
        {
            "type": 17,
            "accent_color": 0xE01E5A,
            "components": [{"type": 10, "content": "In a box"}, _row(
                {"type": 2, "style": 3, "label": "Fine", "custom_id": "fine"}
            )],
        }
    ),
    "text_input": _modal("Name", {"type": 4, "custom_id": "n", "style": 1, "placeholder": "Jane"}),
    "radio_group": _modal("Size", {
        "type": 21, "custom_id": "s",
        "options": [{"label": "Small", "value": "s"}, {"label": "Large", "value": "l"}],
    }),
    "checkbox_group": _modal("Days", {
        "type": 22, "custom_id": "d",
        "options": [{"label": "Monday", "value": "m"}, {"label": "Friday", "value": "f"}],
    }),
    "checkbox": _modal("Agree", {"type": 23, "custom_id": "c"}),
    "file_upload": _modal("Papers", {"type": 19, "custom_id": "p"}),
    "forward": {
        "message_reference": {"type": 1, "channel_id": "2", "message_id": "3"},
        "message_snapshots": [{"message": {"content": "Said **elsewhere**"}}],
    },
}  # fmt: skip


def _card(*body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body), **more}


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "TextBlock", "text": text, "wrap": True, **more}


def _attached(kind: str, **content: Any) -> dict[str, Any]:
    return {"type": "message", "attachments": [{"contentType": kind, "content": content}]}


_ADAPTIVE: dict[str, dict[str, Any]] = {
    "TextBlock": _card(
        _text("Weekly report", size="Large", weight="Bolder"), _text("All is **well**"),
        _text("small print", isSubtle=True, size="Small"),
    ),
    "RichTextBlock": _card(
        {
            "type": "RichTextBlock",
            "inlines": [
                "Hello ",
                {"type": "TextRun", "text": "brave", "weight": "Bolder", "italic": True},
                {"type": "TextRun", "text": " new", "strikethrough": True},
                {"type": "TextRun", "text": " world", "fontType": "Monospace"},
            ],
        }
    ),
    "Image": _card({"type": "Image", "url": PICTURE, "altText": "a cat", "size": "Medium"}),
    "ImageSet": _card(
        {
            "type": "ImageSet",
            "images": [
                {"type": "Image", "url": PICTURE, "altText": "a cat"},
                {"type": "Image", "url": "https://files.example.org/dog.png", "altText": "a dog"},
            ],
        }
    ),
    "Media": _card(
        {
            "type": "Media",
            "poster": PICTURE,
            "altText": "a film",
            "sources": [{"mimeType": "video/mp4", "url": "https://files.example.org/film.mp4"}],
        }
    ),
    "Container": _card(
        {"type": "Container", "style": "attention", "items": [_text("In a red box")]}
    ),
    "ColumnSet": _card(
        {
            "type": "ColumnSet",
            "columns": [
                {"type": "Column", "width": "auto", "items": [
                    {"type": "Image", "url": PICTURE, "altText": "a face", "style": "Person"}
                ]},
                {"type": "Column", "width": "stretch", "items": [_text("Jane"), _text("Builder")]},
            ],
        }
    ),
    "FactSet": _card(
        {
            "type": "FactSet",
            "facts": [
                {"title": "Branch", "value": "main"},
                {"title": "Took", "value": "3 minutes"},
            ],
        }
    ),
    "Table": _card(
        {
            "type": "Table",
            "columns": [{"width": 1}, {"width": 1}],
            "rows": [
                {"type": "TableRow", "cells": [
                    {"type": "TableCell", "items": [_text(text)]} for text in row
                ]}
                for row in (("City", "People"), ("Bonn", "336000"))
            ],
        }
    ),
    "Action.OpenUrl": _card(actions=[{"type": "Action.OpenUrl", "title": "Read", "url": PAGE}]),
    "Action.Submit": _card(
        _text("Approve?"),
        actions=[
            {"type": "Action.Submit", "title": "Approve", "data": {"id": 42}, "style": "positive"},
            {"type": "Action.Submit", "title": "Reject", "data": 42, "style": "destructive"},
        ],
    ),
    "Action.Execute": _card(
        actions=[{"type": "Action.Execute", "title": "Approve", "verb": "yes", "data": {"id": 1}}]
    ),
    "Action.ShowCard": _card(
        actions=[{
            "type": "Action.ShowCard",
            "title": "Comment",
            "card": _card(
                {"type": "Input.Text", "id": "comment", "label": "Comment", "isMultiline": True},
                actions=[{"type": "Action.Submit", "title": "Send"}],
            ),
        }]
    ),
    "Action.ToggleVisibility": _card(
        {"type": "Container", "id": "more", "isVisible": False, "items": [_text("More of it")]},
        actions=[
            {"type": "Action.ToggleVisibility", "title": "Show more", "targetElements": ["more"]}
        ],
    ),
    "Input.Text": _card(
        {"type": "Input.Text", "id": "name", "label": "Name", "placeholder": "Jane Doe"},
        actions=[{"type": "Action.Submit", "title": "Send"}],
    ),
    "Input.Number": _card(
        {"type": "Input.Number", "id": "guests", "label": "Guests", "min": 1, "max": 9},
        actions=[{"type": "Action.Submit", "title": "Send"}],
    ),
    "Input.Date": _card(
        {"type": "Input.Date", "id": "day", "label": "Day", "value": "2026-11-21"},
        {"type": "Input.Time", "id": "time", "label": "Time", "value": "17:30"},
        actions=[{"type": "Action.Submit", "title": "Send"}],
    ),
    "Input.Toggle": _card(
        {"type": "Input.Toggle", "id": "agree", "title": "I agree", "value": "true"},
        actions=[{"type": "Action.Submit", "title": "Send"}],
    ),
    "Input.ChoiceSet": _card(
        {
            "type": "Input.ChoiceSet",
            "id": "tea",
            "label": "Tea",
            "choices": [{"title": "Sencha", "value": "s"}, {"title": "Assam", "value": "a"}],
            "value": "a",
        },
        actions=[{"type": "Action.Submit", "title": "Send"}],
    ),
    "Badge": _card({"type": "Badge", "text": "New", "style": "Good"}),
    "CodeBlock": _card({"type": "CodeBlock", "codeSnippet": "x = 1 < 2", "language": "Python"}),
    "Rating": _card({"type": "Rating", "value": 4, "max": 5, "count": 37}),
    "ProgressBar": _card({"type": "ProgressBar", "value": 30}),
    "Carousel": _card(
        {
            "type": "Carousel",
            "pages": [
                {"type": "CarouselPage", "items": [_text("First")]},
                {"type": "CarouselPage", "items": [_text("Second")]},
            ],
        }
    ),
    "Chart.Pie": _card(
        {
            "type": "Chart.Pie",
            "title": "Votes",
            "data": [{"legend": "Yes", "value": 3}, {"legend": "No", "value": 1}],
        }
    ),
    "CompoundButton": _card(
        {
            "type": "CompoundButton",
            "title": "Plan a trip",
            "description": "In three steps",
            "selectAction": {"type": "Action.Submit", "data": {"go": True}},
        }
    ),
}  # fmt: skip

TEAMS: dict[str, Any] = {
    **_ADAPTIVE,
    "text": {"type": "message", "text": "Is the **release** ready? [The plan](https://example.org/plan)"},
    "hero_card": _attached(
        "application/vnd.microsoft.card.hero",
        title="Blue house",
        subtitle="Two rooms",
        text="Near the <b>river</b>",
        images=[{"url": PICTURE, "alt": "a house"}],
        buttons=[
            {"type": "openUrl", "title": "Visit", "value": PAGE},
            {"type": "imBack", "title": "Take it", "value": "I take it"},
        ],
    ),
    "receipt_card": _attached(
        "application/vnd.microsoft.card.receipt",
        title="Receipt",
        facts=[{"key": "Order", "value": "42"}],
        items=[{"title": "Tea", "price": "3 €", "quantity": "2"}],
        tax="1 €",
        total="7 €",
    ),
    "list_card": _attached(
        "application/vnd.microsoft.teams.card.list",
        title="Papers",
        items=[{"type": "resultItem", "title": "Plan", "subtitle": "of the week",
                "tap": {"type": "openUrl", "value": PAGE}}],
    ),
    "message_card": {
        "@type": "MessageCard",
        "themeColor": "2EB67D",
        "title": "Build 42",
        "text": "All tests are **green**",
        "sections": [{"activityTitle": "Builder", "facts": [{"name": "Branch", "value": "main"}]}],
        "potentialAction": [
            {"@type": "OpenUri", "name": "Log", "targets": [{"os": "default", "uri": PAGE}]}
        ],
    },
}  # fmt: skip

_OWN_EXAMPLES: dict[str, dict[str, Any]] = {"slack": SLACK, "discord": DISCORD, "teams": TEAMS}


def _examples() -> dict[str, dict[str, Any]]:
    """Those above, and those that the tests of other connectors bring."""
    found: dict[str, dict[str, Any]] = {}
    for platform in PLATFORMS:
        module = None if platform in _OWN_EXAMPLES else part_of(platform, "examples")
        found[platform] = module.EXAMPLES if module else _OWN_EXAMPLES.get(platform, {})
    return found


EXAMPLES = _examples()
