"""What the reader and the writer of mrkdwn agree on: signs, names and the forms of dates. Pure.

Source: docs.slack.dev "Formatting message text" (2026-08).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from bridge.content.text.tree import Code, Emoji, Emphasis, Inline, Strike, Strong, Text, Timestamp
from connectors.slack.emoji import NAME as EMOJI
from connectors.slack.emoji import unicode_of

STYLES: dict[str, type[Strong] | type[Emphasis] | type[Strike]] = {
    "*": Strong,
    "_": Emphasis,
    "~": Strike,
}
_AT_BORDER: frozenset[type[Inline]] = frozenset((Strong, Emphasis, Strike, Code))
RANGES = ("here", "channel", "everyone")
# Slack reads a sign only at the border of a word; this space of no width makes a border. At the
# start of a line it says that what looks like an item of a list, or is set in, is text.
BORDER = "\u200b"
# mrkdwn has no escape. A date whose form is nonsense shows its fallback, which is never read as
# markup (found by yhatt/jsx-slack, #125, in use there since 2020).
LITERAL_FORM = "{_}"
RULE = "———"
BOXES = {True: "☑ ", False: "☐ ", None: ""}
INDENT = "    "  # of what stands below an item of a list
# Slack has no lists in mrkdwn; it writes those of rich text with these signs into `text`.
ITEM = re.compile(r"([ ]*)(?:[•◦▪‣]\ufe0e?|([0-9]{1,9})\.)(?:[ ](.*)|$)")
LOOK_LIKE_MORE = frozenset(" •◦▪‣☑☐—0123456789")  # what the like begin with
LOOKS_LIKE_MORE = re.compile(rf"[ ]|(?:[•◦▪‣]\ufe0e?|[0-9]{{1,9}}\.)(?:[ ]|$)|[☑☐][ ]|{RULE}\s*$")

DATE_FORMS = {
    "t": "{time}",
    "T": "{time_secs}",
    "d": "{date_num}",
    "D": "{date}",
    "f": "{date} {time}",
    "F": "{date_long} {time}",
    "R": "{ago}",
}
_NAME = re.compile(EMOJI)
_URL = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)


def escape(text: str) -> str:
    """The three characters that Slack reads as control characters, nothing else."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def literal(sign: str) -> str:
    """A sign that stays a sign."""
    return f"<!date^00000000^{LITERAL_FORM}|{escape(sign)}>"


def date_style(form: str) -> str:
    """Slack's form of a date -> the nearest style of a Timestamp."""
    has_date, has_time = "{date" in form, "{time" in form
    if "{ago}" in form:
        return "R"
    if has_date and has_time:
        return "F" if "{date_long" in form else "f"
    if has_time:
        return "T" if "{time_secs}" in form else "t"
    return "d" if "{date_num}" in form or "{date_slash}" in form else "D"


def dated(unix: int, form: str, fallback: str) -> list[Inline]:
    """A date as Slack shows it by its form: the moment, and the words around it."""
    words, *moments = _MOMENT.split(form)
    if words.strip() and not moments and "{" not in form:
        return [Text(form)]
    if not moments or not any(map(str.isalpha, words + "".join(moments[1::2]))):
        return [Timestamp(unix, date_style(form), fallback)]
    inlines: list[Inline] = [Text(words)] if words else []
    for at in range(0, len(moments), 2):
        inlines.append(Timestamp(unix, date_style(moments[at]), _in_utc(unix, moments[at])))
        inlines += [Text(moments[at + 1])] if moments[at + 1] else []
    return inlines


# The parts of a form, and what only stands between two of them.
_MOMENT = re.compile(r"(\{[a-z_]+\}(?:[\s,.:/-]+(?:at\s+)?\{[a-z_]+\})*)")


def _in_utc(unix: int, form: str) -> str:
    date = "%Y-%m-%d" if "{date" in form or "{ago" in form else ""
    time = "%H:%M UTC" if "{time" in form else ""
    return datetime.fromtimestamp(unix, UTC).strftime(f"{date} {time}".strip() or "%Y-%m-%d")


def is_emoji_name(name: str) -> bool:
    """Whether `:name:` can be an emoji: custom names are lower-case; times such as 10:30:45 are
    none."""
    if unicode_of(name):
        return True
    return (
        _NAME.fullmatch(name) is not None
        and name == name.lower()
        and any(char.isalpha() for char in name)
    )


def is_safe_url(url: str) -> bool:
    return _URL.match(url) is not None


def is_at_border(node: Inline) -> bool:
    """Nodes that Slack reads only at the border of a word."""
    return type(node) in _AT_BORDER or (isinstance(node, Emoji) and node.unicode is None)


def without_borders(nodes: list[Inline]) -> list[Inline]:
    """Take away the spaces of no width that only made a border."""
    for index, node in enumerate(nodes):
        if not isinstance(node, Text) or BORDER not in node.value:
            continue
        value = node.value
        if index and is_at_border(nodes[index - 1]):
            value = value.removeprefix(BORDER)
        if index + 1 < len(nodes) and is_at_border(nodes[index + 1]):
            value = value.removesuffix(BORDER)
        nodes[index] = Text(value)
    return nodes
