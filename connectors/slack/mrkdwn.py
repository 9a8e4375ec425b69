"""What the reader and the writer of mrkdwn share: signs, names and date formats. Pure.

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
# Slack reads a sign only at a word boundary; this zero-width space makes a boundary. At the
# start of a line it marks text that looks like a list item or an indent as plain text.
BORDER = "\u200b"
# mrkdwn has no escape. A date with an invalid format shows its fallback, which Slack never reads as
# markup (found by yhatt/jsx-slack, #125, which uses it since 2020).
LITERAL_FORM = "{_}"
RULE = "———"
BOXES = {True: "☑ ", False: "☐ ", None: ""}
INDENT = "    "  # of the lines below a list item
# mrkdwn has no lists; Slack writes the lists of rich text with these signs into `text`.
ITEM = re.compile(r"([ ]*)(?:[•◦▪‣]\ufe0e?|([0-9]{1,9})\.)(?:[ ](.*)|$)")
LOOK_LIKE_MORE = frozenset(" •◦▪‣☑☐—0123456789")  # the first characters of such lines
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
    """Escape the three control characters & < >, and nothing else."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Replace the three entities by their characters."""
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def literal(sign: str) -> str:
    """A sign that Slack does not read as markup."""
    return f"<!date^00000000^{LITERAL_FORM}|{escape(sign)}>"


def date_style(form: str) -> str:
    """Slack's date format -> the nearest style of a Timestamp."""
    has_date, has_time = "{date" in form, "{time" in form
    if "{ago}" in form:
        return "R"
    if has_date and has_time:
        return "F" if "{date_long" in form else "f"
    if has_time:
        return "T" if "{time_secs}" in form else "t"
    return "d" if "{date_num}" in form or "{date_slash}" in form else "D"


def dated(unix: int, form: str, fallback: str) -> list[Inline]:
    """The inlines of a date in Slack's format: the moments, and the text between them."""
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


# The placeholders of a format, and separators that may stand between two of them.
_MOMENT = re.compile(r"(\{[a-z_]+\}(?:[\s,.:/-]+(?:at\s+)?\{[a-z_]+\})*)")


def _in_utc(unix: int, form: str) -> str:
    date = "%Y-%m-%d" if "{date" in form or "{ago" in form else ""
    time = "%H:%M UTC" if "{time" in form else ""
    return datetime.fromtimestamp(unix, UTC).strftime(f"{date} {time}".strip() or "%Y-%m-%d")


def is_emoji_name(name: str) -> bool:
    """Whether `:name:` can be an emoji: custom names are lower-case; times such as 10:30:45 are not
    names."""
    if unicode_of(name):
        return True
    return (
        _NAME.fullmatch(name) is not None
        and name == name.lower()
        and any(char.isalpha() for char in name)
    )


def is_safe_url(url: str) -> bool:
    """Whether the URL can be written as a link."""
    return _URL.match(url) is not None


def is_at_border(node: Inline) -> bool:
    """Whether Slack reads the node only at a word boundary."""
    return type(node) in _AT_BORDER or (isinstance(node, Emoji) and node.unicode is None)


def without_borders(nodes: list[Inline]) -> list[Inline]:
    """Remove the zero-width spaces that only made a word boundary."""
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
