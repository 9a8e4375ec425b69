"""Which URLs may be links, how they are spelled, and where a bare one ends in text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

_ALLOWED = re.compile(r"(?:https?://|mailto:)[^\s/]", re.IGNORECASE)
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0<>\\`\ud800-\udfff]|\s")
_PLAIN = re.compile(r"https?://[\w.~!$&'()*+,;=:@%?#-][\w.~!$&'()*+,;=:@%/?#-]*", re.ASCII)
_SCHEME = re.compile(r"(?<!\w)https?\Z", re.IGNORECASE)
# White space, quotes, brackets, signs of direction and CJK punctuation end a bare URL.
_AFTER_SCHEME = re.compile(
    r"[^\s<>\"'`|\u200b-\u200f\u202a-\u202e\u2066-\u2069、。「」『』【】！），：；？》]+"
)
_TAIL = frozenset("?!.,:;*_~")


def safe_url(url: str) -> str | None:
    """Returns the URL with white space and markup percent-encoded.

    Returns:
        The URL; None if it is not http, https or mailto, and so may not be a link.
    """
    if _PLAIN.fullmatch(url):
        return url
    if not _ALLOWED.match(url):
        return None
    return _UNSAFE.sub(_encoded, url) if _UNSAFE.search(url) else url


def bare_urls(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each bare URL.

    Punctuation at the end belongs to the sentence, as does a bracket that the URL did not open
    (GFM, extended autolinks). `www.` alone is no link.
    """
    at = text.find("://")
    while at >= 0:
        scheme = _SCHEME.search(text, max(0, at - 6), at)
        rest = _AFTER_SCHEME.match(text, at + 3) if scheme else None
        if not scheme or not rest:
            at = text.find("://", at + 3)
            continue
        start = scheme.start()
        end = start + _length_without_tail(text[start : rest.end()])
        if _ALLOWED.match(text, start, end):
            yield start, end
        at = text.find("://", rest.end())


def _length_without_tail(url: str) -> int:
    end = len(url)
    if url[-1] not in _TAIL and url[-1] != ")":
        return end
    surplus = url.count(")") - url.count("(")
    while end:
        if url[end - 1] == ")" and surplus > 0:
            surplus -= 1
        elif url[end - 1] not in _TAIL:
            break
        end -= 1
    return end


def _encoded(match: re.Match[str]) -> str:
    return quote(match.group().encode("utf-8", "replace"), safe="")
