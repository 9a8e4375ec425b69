"""The documented shape of `rich_text`. Mostly data."""

from __future__ import annotations

from connectors.slack.sandbox.blocks.checks import (
    Check,
    Checks,
    anything,
    boolean,
    checked_by_type,
    integer,
    items,
    number,
    one_of,
    shape,
    string,
)

_MAX_ITEMS = 10_000  # not documented; bounds the work
_KIND: Checks = {"type": anything}
_STYLE = shape(
    {},
    dict.fromkeys(
        (
            "bold", "italic", "strike", "code", "underline", "highlight", "client_highlight",
            "unlink",
        ),
        boolean,
    ),
)  # fmt: skip


def _inline(needed: Checks, allowed: Checks | None = None) -> Check:
    return shape({**_KIND, **needed}, {"style": _STYLE, **(allowed or {})})


_TEXT = _inline({"text": string(40_000, 1)})
_LINK = _inline({"url": string(3000, 1)}, {"text": string(40_000), "unsafe": boolean})
_ID = string(255, 1)
INLINE = checked_by_type(
    {
        "text": _TEXT,
        "link": _LINK,
        "emoji": _inline(
            {"name": string(255, 1)},
            {"unicode": string(255), "url": string(3000), "skin_tone": integer(1, 6)},
        ),
        "user": _inline({"user_id": _ID}),
        "channel": _inline({"channel_id": _ID}),
        "usergroup": _inline({"usergroup_id": _ID}),
        "team": _inline({"team_id": _ID}),
        "broadcast": _inline({"range": one_of("here", "channel", "everyone")}),
        "date": _inline(
            {"timestamp": number, "format": string(255, 1)},
            {"url": string(3000), "fallback": string(3000), "timezone": string(255)},
        ),
        "color": _inline({"value": string(255, 1)}),
    }
)
_BORDER: Checks = {"border": integer(0, 1)}
_SECTION = shape({**_KIND, "elements": items(INLINE, _MAX_ITEMS, 0)})
_LIST = shape(
    {
        **_KIND, "style": one_of("bullet", "ordered"),
        "elements": items(checked_by_type({"rich_text_section": _SECTION}), _MAX_ITEMS, 0),
    },
    {"indent": integer(0, 8), "offset": integer(0, 1_000_000), **_BORDER},
)  # fmt: skip
PARTS = checked_by_type(
    {
        "rich_text_section": _SECTION,
        "rich_text_list": _LIST,
        "rich_text_quote": shape({**_KIND, "elements": items(INLINE, _MAX_ITEMS, 0)}, _BORDER),
        "rich_text_preformatted": shape(
            {
                **_KIND,
                "elements": items(checked_by_type({"text": _TEXT, "link": _LINK}), _MAX_ITEMS, 0),
            },
            {**_BORDER, "language": string(255)},
        ),
    }
)
RICH_TEXT = checked_by_type(
    {"rich_text": shape({**_KIND, "elements": items(PARTS, _MAX_ITEMS, 0)}, {"block_id": _ID})}
)
