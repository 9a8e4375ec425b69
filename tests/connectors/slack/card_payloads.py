"""Handwritten blocks, attachments and files: one of every type, with all members."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": True}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def rich(text: str) -> Json:
    text_element = {"type": "text", "text": text}
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [text_element]}],
    }


def option(value: str) -> Json:
    return {"text": plain(f"Option {value}"), "value": value}


def picture(name: str) -> Json:
    return {
        "type": "image",
        "image_url": f"https://example.com/{name}.png",
        "alt_text": f"A {name}",
    }


CONFIRM: Json = {
    "title": plain("Sure?"),
    "text": mrkdwn("It is *gone* then."),
    "confirm": plain("Do it"),
    "deny": plain("Stop"),
    "style": "danger",
}

BUTTON: Json = {
    "type": "button",
    "action_id": "go",
    "text": plain("Go"),
    "value": "v1",
    "style": "primary",
    "accessibility_label": "Go on",
    "confirm": CONFIRM,
}
LINK_BUTTON: Json = {
    "type": "button",
    "action_id": "open",
    "text": plain("Open"),
    "url": "https://example.com/a",
}
WORKFLOW_BUTTON: Json = {
    "type": "workflow_button",
    "action_id": "flow",
    "text": plain("Run"),
    "workflow": {"trigger": {"url": "https://slack.com/shortcuts/Ft1/x"}},
}
STATIC_SELECT: Json = {
    "type": "static_select",
    "action_id": "one",
    "placeholder": plain("Pick one"),
    "option_groups": [
        {"label": plain("First"), "options": [option("a"), option("b")]},
        {"label": plain("Second"), "options": [option("c")]},
    ],
    "initial_option": option("b"),
    "confirm": CONFIRM,
}
MULTI_STATIC_SELECT: Json = {
    "type": "multi_static_select",
    "action_id": "many",
    "placeholder": plain("Pick some"),
    "options": [option("a"), option("b"), option("c")],
    "initial_options": [option("a"), option("c")],
    "max_selected_items": 2,
}
EXTERNAL_SELECT: Json = {
    "type": "external_select",
    "action_id": "far",
    "min_query_length": 2,
    "initial_option": option("z"),
}
MULTI_EXTERNAL_SELECT: Json = {**EXTERNAL_SELECT, "type": "multi_external_select"}
USERS_SELECT: Json = {"type": "users_select", "action_id": "who", "initial_user": "U1"}
MULTI_USERS_SELECT: Json = {
    "type": "multi_users_select",
    "action_id": "whos",
    "initial_users": ["U1", "U2"],
}
CHANNELS_SELECT: Json = {"type": "channels_select", "action_id": "c", "initial_channel": "C1"}
MULTI_CHANNELS_SELECT: Json = {"type": "multi_channels_select", "initial_channels": ["C1"]}
CONVERSATIONS_SELECT: Json = {
    "type": "conversations_select",
    "action_id": "place",
    "placeholder": plain("Where"),
    "initial_conversation": "D1",
    "default_to_current_conversation": True,
    "filter": {
        "include": ["im", "mpim", "private", "public"],
        "exclude_bot_users": True,
        "exclude_external_shared_channels": True,
    },
}
MULTI_CONVERSATIONS_SELECT: Json = {
    "type": "multi_conversations_select",
    "initial_conversations": ["C1", "D1"],
    "max_selected_items": 3,
}
OVERFLOW: Json = {
    "type": "overflow",
    "action_id": "more",
    "options": [option("a"), {**option("b"), "url": "https://example.com/b"}],
}
RADIO_BUTTONS: Json = {
    "type": "radio_buttons",
    "action_id": "radio",
    "options": [{**option("a"), "description": plain("The first")}, option("b")],
    "initial_option": option("a"),
}
CHECKBOXES: Json = {
    "type": "checkboxes",
    "action_id": "boxes",
    "options": [{"text": mrkdwn("*Bold* one"), "value": "a"}, option("b")],
    "initial_options": [option("b")],
}
DATEPICKER: Json = {
    "type": "datepicker",
    "action_id": "day",
    "initial_date": "2026-11-21",
    "placeholder": plain("Which day"),
}
TIMEPICKER: Json = {"type": "timepicker", "action_id": "hour", "initial_time": "17:30"}
DATETIMEPICKER: Json = {"type": "datetimepicker", "initial_date_time": 1790000000}
PLAIN_TEXT_INPUT: Json = {
    "type": "plain_text_input",
    "action_id": "text",
    "placeholder": plain("Write"),
    "initial_value": "So far",
    "multiline": True,
    "min_length": 2,
    "max_length": 100,
}
RICH_TEXT_INPUT: Json = {
    "type": "rich_text_input",
    "action_id": "rich",
    "initial_value": rich("So *far*"),
}
NUMBER_INPUT: Json = {
    "type": "number_input",
    "action_id": "number",
    "is_decimal_allowed": False,
    "initial_value": "3",
    "min_value": "1",
    "max_value": "10.5",
}
EMAIL_INPUT: Json = {
    "type": "email_text_input",
    "action_id": "mail",
    "initial_value": "a@b.example",
}
URL_INPUT: Json = {"type": "url_text_input", "action_id": "address"}
FILE_INPUT: Json = {"type": "file_input", "filetypes": ["pdf", ".png"], "max_files": 3}
FEEDBACK_BUTTONS: Json = {
    "type": "feedback_buttons",
    "action_id": "rate",
    "positive_button": {
        "text": plain("Good"),
        "value": "+",
        "accessibility_label": "Mark as good",
    },
    "negative_button": {"text": plain("Bad"), "value": "-"},
}
ICON_BUTTON: Json = {
    "type": "icon_button",
    "icon": "trash",
    "action_id": "drop",
    "text": plain("Delete"),
    "value": "all",
    "confirm": CONFIRM,
}

ACTIONS: list[Json] = [
    *(BUTTON, LINK_BUTTON, WORKFLOW_BUTTON, STATIC_SELECT, MULTI_STATIC_SELECT, EXTERNAL_SELECT),
    *(MULTI_EXTERNAL_SELECT, USERS_SELECT, MULTI_USERS_SELECT, CHANNELS_SELECT),
    *(MULTI_CHANNELS_SELECT, CONVERSATIONS_SELECT, MULTI_CONVERSATIONS_SELECT, OVERFLOW),
    *(RADIO_BUTTONS, CHECKBOXES, DATEPICKER, TIMEPICKER, DATETIMEPICKER, RICH_TEXT_INPUT),
]
INPUTS: list[Json] = [
    *(PLAIN_TEXT_INPUT, RICH_TEXT_INPUT, NUMBER_INPUT, EMAIL_INPUT, URL_INPUT, FILE_INPUT),
    *ACTIONS[3:13],
    *ACTIONS[14:],
]

SECTION: Json = {
    "type": "section",
    "text": mrkdwn("Hello *you*"),
    "fields": [mrkdwn("*Label*\nvalue"), plain("no label")],
    "accessory": picture("dog"),
    "expand": True,
}
CARD: Json = {
    "type": "card",
    "hero_image": picture("hero"),
    "icon": picture("icon"),
    "title": mrkdwn("The *title*"),
    "subtitle": mrkdwn("Below it"),
    "body": mrkdwn("What it is"),
    "subtext": mrkdwn("Small print"),
    "actions": [LINK_BUTTON],
}
TASK: Json = {
    "type": "task_card",
    "task_id": "t1",
    "title": "Look it up",
    "status": "in_progress",
    "details": rich("Asking"),
    "output": rich("Found"),
    "sources": [{"type": "url", "url": "https://example.com/s", "text": "A source"}],
}
TABLE: Json = {
    "type": "table",
    "rows": [
        [{"type": "raw_text", "text": "Name"}, {"type": "raw_text", "text": "Score"}],
        [rich("Ada"), {"type": "raw_number", "value": 10}],
    ],
    "column_settings": [{"align": "left", "is_wrapped": True}, {"align": "right"}],
}
DATA_TABLE: Json = {
    "type": "data_table",
    "caption": "Results",
    "rows": [
        [{"type": "raw_text", "text": "Name"}, {"type": "raw_text", "text": "Score"}],
        [{"type": "raw_text", "text": "Ada"}, {"type": "raw_number", "value": 10.5, "text": "10½"}],
    ],
    "page_size": 5,
    "row_header_column_index": 0,
}
LINE_CHART: Json = {
    "type": "data_visualization",
    "title": "Visits",
    "chart": {
        "type": "line",
        "series": [{"name": "Web", "data": [{"label": "Mon", "value": 3}]}],
        "axis_config": {"categories": ["Mon"], "x_label": "Day", "y_label": "People"},
    },
}
PIE_CHART: Json = {
    "type": "data_visualization",
    "title": "Shares",
    "chart": {
        "type": "pie",
        "segments": [{"label": "A", "value": 1}, {"label": "B", "value": 2.5}],
    },
}
VIDEO: Json = {
    "type": "video",
    "title": plain("How to"),
    "title_url": "https://example.com/watch",
    "description": plain("In two minutes"),
    "author_name": "Ada",
    "provider_name": "Tube",
    "provider_icon_url": "https://example.com/tube.png",
    "video_url": "https://example.com/embed/1",
    "thumbnail_url": "https://example.com/thumb.png",
    "alt_text": "A film",
}

EVERY_BLOCK: list[Json] = [
    SECTION,
    {"type": "header", "text": plain("A header")},
    {"type": "divider"},
    {**picture("cat"), "title": plain("The cat")},
    {"type": "image", "slack_file": {"id": "F1"}, "alt_text": "Kept"},
    {"type": "context", "elements": [picture("icon"), mrkdwn("said _so_")]},
    {"type": "context_actions", "elements": [FEEDBACK_BUTTONS, ICON_BUTTON]},
    {"type": "actions", "block_id": "b1", "elements": ACTIONS},
    *(
        {
            "type": "input",
            "label": plain("What"),
            "hint": plain("A hint"),
            "optional": bool(number % 2),
            "dispatch_action": not number % 3,
            "element": element,
        }
        for number, element in enumerate(INPUTS)
    ),
    rich("rich"),
    {"type": "markdown", "text": "# Title\n\nSome **bold** text for <@U1>"},
    {"type": "alert", "level": "warning", "text": plain("Mind the gap")},
    VIDEO,
    TABLE,
    DATA_TABLE,
    LINE_CHART,
    PIE_CHART,
    CARD,
    {"type": "carousel", "elements": [CARD, {"type": "card", "title": mrkdwn("Second")}]},
    TASK,
    {"type": "plan", "title": "The plan", "tasks": [TASK, {**TASK, "status": "pending"}]},
    {
        "type": "container",
        "title": plain("A box"),
        "subtitle": plain("of things"),
        "icon": picture("box"),
        "is_collapsible": True,
        "default_collapsed": True,
        "child_blocks": [{"type": "divider"}, SECTION],
    },
    {"type": "file", "source": "remote", "external_id": "X1", "file_id": "F2"},
    {"type": "call", "call": {"v1": {"name": "Stand-up", "join_url": "https://example.com/call"}}},
    {"type": "share_shortcut", "title": "Onboard", "url": "https://slack.com/shortcuts/Ft2/y"},
    {"type": "unheard_of", "title": plain("New"), "elements": [BUTTON]},
]

ATTACHMENT: Json = {
    "color": "#36a64f",
    "fallback": "In short",
    "pretext": "Above *all*",
    "author_name": "Ada",
    "author_link": "https://example.com/ada",
    "author_icon": "https://example.com/ada.png",
    "title": "Report &amp; more",
    "title_link": "https://example.com/report",
    "text": "All *good*",
    "mrkdwn_in": ["text", "fields"],
    "fields": [
        {"title": "Priority", "value": "_High_", "short": True},
        {"title": "Why", "value": "Because", "short": False},
    ],
    "image_url": "https://example.com/chart.png",
    "thumb_url": "https://example.com/thumb.png",
    "footer": "The app",
    "footer_icon": "https://example.com/app.png",
    "ts": "1700000000",
}
LEGACY_ACTIONS: Json = {
    "callback_id": "legacy",
    "text": "Choose",
    "actions": [
        {
            "name": "game",
            "text": "Chess",
            "type": "button",
            "value": "chess",
            "style": "danger",
            "confirm": {"title": "Sure?", "text": "Really", "ok_text": "Yes", "dismiss_text": "No"},
        },
        {"text": "Site", "type": "button", "url": "https://example.com/"},
        {
            "name": "list",
            "text": "Pick a game",
            "type": "select",
            "options": [{"text": "Go", "value": "go", "description": "Old"}],
            "selected_options": [{"text": "Go", "value": "go"}],
        },
        {
            "name": "groups",
            "type": "select",
            "option_groups": [{"text": "Board", "options": [{"text": "Go", "value": "go"}]}],
        },
        {"name": "who", "text": "Who", "type": "select", "data_source": "users"},
        {"name": "far", "text": "Far", "type": "select", "data_source": "external"},
    ],
}
FILM: Json = {
    "service_name": "Tube",
    "service_url": "https://example.com/",
    "service_icon": "https://example.com/tube.png",
    "author_name": "Ada",
    "author_link": "https://example.com/ada",
    "title": "How to",
    "title_link": "https://example.com/watch",
    "from_url": "https://example.com/watch",
    "thumb_url": "https://example.com/thumb.png",
    "video_html": '<iframe width="400" src="https://example.com/embed/1?a=1&amp;b=2"></iframe>',
    "video_html_width": 400,
    "video_html_height": 225,
    "fallback": "Tube video: How to",
}
SHARED: Json = {
    "is_msg_unfurl": True,
    "from_url": "https://acme.slack.com/archives/C1/p1",
    "author_name": "Ada",
    "author_subname": "Ada Lovelace",
    "text": "said in mrkdwn",
    "message_blocks": [{"team": "T1", "message": {"blocks": [rich("said in blocks")]}}],
    "footer": "Posted in #general",
    "ts": "1700000000.000100",
}
EVERY_ATTACHMENT: list[Json] = [
    ATTACHMENT,
    LEGACY_ACTIONS,
    FILM,
    SHARED,
    {"color": "danger", "blocks": [SECTION, {"type": "divider"}]},
    {"fallback": "Only *this*"},
]

PICTURE_FILE: Json = {
    "id": "F1",
    "name": "cat.png",
    "title": "My cat",
    "alt_txt": "A black cat",
    "mimetype": "image/png",
    "mode": "hosted",
    "size": 1000,
    "original_w": 800,
    "original_h": 600,
    "url_private": "https://files.slack.com/files-pri/T1-F1/cat.png",
    "permalink": "https://acme.slack.com/files/U1/F1/cat.png",
}
SNIPPET: Json = {
    "id": "F2",
    "name": "main.py",
    "title": "main.py",
    "mimetype": "text/plain",
    "filetype": "python",
    "mode": "snippet",
    "preview": "print(1)\r\nprint(2)\n",
    "url_private": "https://files.slack.com/files-pri/T1-F2/main.py",
}
EVERY_FILE: list[Json] = [
    PICTURE_FILE,
    SNIPPET,
    {
        "id": "F3",
        "name": "clip.mp4",
        "mimetype": "video/mp4",
        "duration_ms": 1500,
        "thumb_video": "https://files.slack.com/files-tmb/T1-F3/thumb.png",
        "transcription": {"status": "complete", "preview": {"content": "Hello\nthere"}},
    },
    {"id": "F4", "name": "note.m4a", "mimetype": "audio/mp4", "duration_ms": 2000},
    {"id": "F5", "name": "a.pdf", "title": "The paper", "mimetype": "application/pdf"},
    {"id": "F6", "mode": "tombstone"},
    {"id": "F7", "file_access": "check_file_info"},
]
