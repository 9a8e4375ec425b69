"""What formatted text shows, in the words of each dialect: markup goes, letters stay.

Written from the platforms' own descriptions, without the connectors' readers: the laws judge those.
"""

from __future__ import annotations

import html
import re
import unicodedata

_SLACK_NO_DATE = re.compile(r"<!date\^0+\^[^|<>]*\|([^<>]*)>")  # no date: its fallback is shown
_SLACK_MENTION = re.compile(r"<[@#!][^<>]*>\w*")
_SLACK_ANGLES = re.compile(r"<([^<>@#!][^<>]*)>")
_EMOJI = re.compile(r"(?<!\w):[a-z0-9_+'-]+:(?::skin-tone-\d:)?(?!\w)")
_FENCE = re.compile(r"^(\s*(?:>\s?)*)(```+|~~~+)[ \t]*[\w+#.-]*[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*\])*)\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_DISCORD_TOKENS = re.compile(r"<(?:@[!&]?\d+|#\d+|a?:\w+:\d+|t:-?\d+(?::\w)?|id:\w+)>")
_COMMAND = re.compile(r"</([^:<>]+):\d+>")
_EVERYBODY = re.compile(r"@(?:everyone|here)\b")
_AT_TAG = re.compile(r"<at\b[^>]*>.*?</at>", re.IGNORECASE | re.DOTALL)
_PLACE = re.compile(r"\$\{[^{}]*\}")
_SKYPE_MENTION = re.compile(
    r"<(span|readonly)\b[^<>]*schema\.skype\.com/Mention[^<>]*>.*?</\1>", re.IGNORECASE | re.DOTALL
)
_FUNCTION = re.compile(r"\{\{(?:DATE|TIME)\([^{}]*\)\}\}")
_NUMBERED = re.compile(r"^[ \t>]*\d{1,9}[.)](?=\s)", re.MULTILINE)
_UNSEEN_HTML = re.compile(r"<(script|style|head)\b.*?</\1>", re.IGNORECASE | re.DOTALL)
_INLINE_TAG = re.compile(
    r"</?(?:b|i|u|s|em|strong|del|strike|ins|code|span|a|font|sub|sup)\b[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"<!--.*?-->|</?[a-z][^<>]*>", re.IGNORECASE | re.DOTALL)
_UACS_LINK = re.compile(r"\[[^\]]*\]\(uacs:(?:actor|group|broadcast|channel|emoji|time)/[^)]*\)")
_SIGNS = re.compile(r"[*_~`|\\\u200b-\u200f\u2060\ufeff\u00ad\ufe0e\ufe0f]")
_WORD = re.compile(r"[^\W_]+")


def slack(text: str) -> str:
    """mrkdwn: links by their labels; people, channels and times are no words of the author."""
    text = _SLACK_MENTION.sub(" ", _SLACK_NO_DATE.sub(r"\1", text))
    text = _SLACK_ANGLES.sub(_slack_angle, text)
    return html.unescape(_EMOJI.sub(" ", text))


def slack_plain(text: str) -> str:
    return _EMOJI.sub(" ", text)


def _slack_angle(match: re.Match[str]) -> str:
    url, bar, label = match[1].partition("|")
    return label if bar else url.removeprefix("mailto:")


def markdown(text: str) -> str:
    """CommonMark as most understand it."""
    text = _FENCE.sub(r"\1\2", text)
    for _ in range(2):
        text = _LINK.sub(r"\1", text)
    return _AUTOLINK.sub(r"\1", text)


def discord(text: str) -> str:
    text = _COMMAND.sub(r"\1", _DISCORD_TOKENS.sub(" ", text))
    return _EVERYBODY.sub(" ", markdown(text))


def adaptive(text: str) -> str:
    """The little Markdown of a TextBlock."""
    return html.unescape(markdown(_AT_TAG.sub(" ", text)))


def teams_html(text: str) -> str:
    text = _UNSEEN_HTML.sub(" ", _AT_TAG.sub(" ", _SKYPE_MENTION.sub(" ", text)))
    return html.unescape(_TAG.sub(" ", _INLINE_TAG.sub("", text)))


def teams(text: str) -> str:
    """A bot's text: a little Markdown with a little HTML."""
    return teams_html(markdown(text))


def uacs(text: str) -> str:
    """UACS Markdown: our own nodes are links of the scheme `uacs:`."""
    return html.unescape(_INLINE_TAG.sub("", markdown(_UACS_LINK.sub(" ", text))))


def words(text: str) -> list[str]:
    """Letters and digits, however they are written or cased; signs of markup join nothing. Numbers
    of list items, names of emoji, and places that a template or a client fills in are no words of
    the author."""
    text = _EMOJI.sub(" ", text.replace("\r", "\n"))
    text = _NUMBERED.sub("", _PLACE.sub(" ", _FUNCTION.sub(" ", text)))
    visible = _SIGNS.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return _WORD.findall(visible)
