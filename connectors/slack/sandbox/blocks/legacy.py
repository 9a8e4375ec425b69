"""The documented shape of attachments: legacy fields, and blocks with a coloured bar. Data.

Slack checks legacy fields loosely: it drops unknown ones, and clients cut long texts.
"""

from __future__ import annotations

from typing import Any

from connectors.slack.sandbox.blocks.checks import Check, Faults, anything, items, shape, string

_TEXT = string(40_000)
_SHORT = string(3000)


def _text_or_number(value: Any, at: str, faults: Faults) -> None:
    """Apps often send numbers for values of fields and times."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        _TEXT(value, at, faults)


_FIELD = shape({}, {"title": _text_or_number, "value": _text_or_number, "short": anything})
_TEXTS = (
    "fallback", "pretext", "author_name", "author_subname", "title", "text", "footer",
)  # fmt: skip
_ADDRESSES = (
    "author_link", "author_icon", "title_link", "image_url", "thumb_url", "footer_icon", "from_url",
    "color", "callback_id", "service_name", "service_icon",
)  # fmt: skip
OPTIONAL_MEMBERS: dict[str, Check] = {
    **dict.fromkeys(_TEXTS, _TEXT),
    **dict.fromkeys(_ADDRESSES, _SHORT),
    "ts": _text_or_number,
    "fields": items(_FIELD, 100, 0),
    "mrkdwn_in": items(string(255), 20, 0),
    "actions": items(anything, 5, 0),
    "blocks": items(anything, 1000, 0),  # checked separately
    "id": anything,
    "attachment_type": anything,
    "preview": anything,
}
# An attachment with none of these members is empty.
VISIBLE_MEMBERS = (
    "pretext", "author_name", "title", "text", "footer", "image_url", "thumb_url", "fields",
    "blocks", "fallback", "actions",
)  # fmt: skip


def ATTACHMENT(value: Any, at: str, faults: Faults) -> None:  # noqa: N802  # a check, as the others
    if not isinstance(value, dict):
        faults.say("must provide an object", at)
        return
    for name in list(value):
        if name not in OPTIONAL_MEMBERS:
            del value[name]
        elif value[name] is not None:
            OPTIONAL_MEMBERS[name](value[name], f"{at}/{name}", faults)
