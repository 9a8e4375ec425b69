"""Slack's text rules: typed text and app text -> mrkdwn; mrkdwn -> rich_text, plain text. Pure.

Source: docs.slack.dev "Formatting message text" (2026-08): control sequences are in <...>; the
characters & < > are escaped everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]

# <@U1> <#C1|name> <!here> <https://x|label> <mailto:a@b>; other text in <> is plain text.
_CONTROL = r"<(?:[@#][A-Z0-9]+|![^<>\n|]+|[a-z][a-z0-9+.\-]*:[^<>\n|]+)(?:\|[^<>\n]*)?>"
_POSTED = re.compile(_CONTROL + r"|&(?!(?:amp|lt|gt);)|<|>|https?://[^\s<>|]+[^\s<>|.,;:!?)'\"\]]")
_STRAY = re.compile(r"&(?!(?:amp|lt|gt);)")
_TYPED = re.compile(
    r"<[@#][A-Z0-9]+(?:\|[^<>\n]*)?>|[&<>]|https?://[^\s<>|]+[^\s<>|.,;:!?)'\"\]]"
    r"|(?<![\w@])@(?=\w)|(?<![\w#&])#(?=[\w\-])"
)
_READ = re.compile(r"<([^<>\n]+)>|&(amp|lt|gt);")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_RANGES = ("channel", "here", "everyone")

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_INLINE = re.compile(
    r"(?P<control><[^<>\n]+>)"
    r"|(?P<code>`[^`\n]+`)"
    r"|(?<![\w*])\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>[^\s_](?:[^_\n]*[^\s_])?)_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>[^\s~](?:[^~\n]*[^\s~])?)~(?![\w~])"
    r"|(?<![\w:]):(?P<emoji>[a-z0-9_+'\-]+(?:::skin-tone-[2-6])?):(?![\w:])"
)


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def posted_text(text: str, *, link: bool = True) -> str:
    """An app's `text` as Slack stores it: stray & < > escaped, bare URLs as links."""

    def mend(match: re.Match[str]) -> str:
        token = match[0]
        if token in _ESCAPES:
            return _ESCAPES[token]
        whole = _STRAY.sub("&amp;", token)
        return f"<{whole}>" if link and whole.startswith("http") else whole

    return _POSTED.sub(mend, text)


def typed_text(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """The text that a client sends for typed text.

    `people` and `channels` map names to ids; "@Name" and "#name" become mentions, as if chosen from
    the client's list.
    """
    parts: list[str] = []
    place = 0
    while match := _TYPED.search(text, place):
        parts.append(text[place : match.start()])
        token, place = _typed_token(text, match, people, channels)
        parts.append(token)
    parts.append(text[place:])
    return "".join(parts)


def _typed_token(
    text: str, match: re.Match[str], people: Mapping[str, str], channels: Mapping[str, str]
) -> tuple[str, int]:
    word = match[0]
    if word.startswith("http"):
        return f"<{escape(word)}>", match.end()
    if word == "@":
        return _reference(text, match.end(), people, "@", "<@{}>")
    if word == "#":
        return _reference(text, match.end(), channels, "#", "<#{}|>")
    return _ESCAPES.get(word, word), match.end()


def _reference(
    text: str, start: int, ids: Mapping[str, str], sign: str, form: str
) -> tuple[str, int]:
    if sign == "@":
        for word in _RANGES:
            if _stands(text, start, word):
                return f"<!{word}>", start + len(word)
    names = [name for name in ids if _stands(text, start, name)]
    if not names:
        return sign, start
    name = max(names, key=len)
    return form.format(ids[name]), start + len(name)


def _stands(text: str, start: int, word: str) -> bool:
    end = start + len(word)
    return text.startswith(word, start) and not text[end : end + 1].isalnum()


def read_text(
    text: str, person: Callable[[str], str | None], channel: Callable[[str], str | None]
) -> str:
    """The text as a person reads it: mentions as @Name, links as their labels, no entities."""

    def show(match: re.Match[str]) -> str:
        if entity := match[2]:
            return _ENTITIES[entity]
        target, _, label = match[1].partition("|")
        return unescape(_shown_control(target, label, person, channel))

    return _READ.sub(show, text) if "<" in text or "&" in text else text


def _shown_control(
    target: str,
    label: str,
    person: Callable[[str], str | None],
    channel: Callable[[str], str | None],
) -> str:
    match target[0]:
        case "@":
            return f"@{person(target[1:]) or label or target[1:]}"
        case "#":
            return f"#{channel(target[1:]) or label or target[1:]}"
        case "!":
            word = target[1:].partition("^")[0]
            return label or f"@{word}"
        case _:
            return label or target.removeprefix("mailto:")


def rich_text(text: str, block_id: str) -> list[Json]:
    """The `rich_text` block that Slack adds to a message's mrkdwn text."""
    elements: list[Json] = []
    place = 0
    for fence in _FENCE.finditer(text) if "```" in text else ():
        _add_lines(elements, text[place : fence.start()].removesuffix("\n"))
        literal = {"type": "text", "text": unescape(fence[1])}
        elements.append({"type": "rich_text_preformatted", "elements": [literal], "border": 0})
        place = fence.end() + text.startswith("\n", fence.end())
    _add_lines(elements, text[place:])
    return [{"type": "rich_text", "block_id": block_id, "elements": elements}]


def _add_lines(elements: list[Json], text: str) -> None:
    """Runs of quoted and of plain lines, each as one element."""
    if not text:
        return
    if "&gt;" not in text:
        elements.append({"type": "rich_text_section", "elements": _inline(text)})
        return
    runs: list[tuple[bool, list[str]]] = []
    for line in text.split("\n"):
        quoted = line.startswith("&gt;")
        plain = line.removeprefix("&gt;").removeprefix(" ") if quoted else line
        if runs and runs[-1][0] == quoted:
            runs[-1][1].append(plain)
        else:
            runs.append((quoted, [plain]))
    for quoted, lines in runs:
        kind = "rich_text_quote" if quoted else "rich_text_section"
        elements.append({"type": kind, "elements": _inline("\n".join(lines))})


def _inline(text: str, style: Json | None = None) -> list[Json]:
    elements: list[Json] = []
    place = 0
    for match in _INLINE.finditer(text):
        _add_text(elements, text[place : match.start()], style)
        elements.extend(_element(match, style))
        place = match.end()
    _add_text(elements, text[place:], style)
    return elements


def _element(match: re.Match[str], style: Json | None) -> list[Json]:
    kind = match.lastgroup or ""
    inner = match[kind]
    if kind == "control":
        return [_control_element(inner[1:-1], style)]
    if kind == "emoji":
        name, _, tone = inner.partition("::skin-tone-")
        return [{"type": "emoji", "name": name} | ({"skin_tone": int(tone)} if tone else {})]
    if kind == "code":
        code = {"type": "text", "text": unescape(inner[1:-1])}
        return [code | {"style": {**(style or {}), "code": True}}]
    return _inline(inner, {**(style or {}), kind: True})


def _control_element(inner: str, style: Json | None) -> Json:
    target, _, label = inner.partition("|")
    if target[0] == "@":
        element: Json = {"type": "user", "user_id": target[1:]}
    elif target[0] == "#":
        element = {"type": "channel", "channel_id": target[1:]}
    elif target.startswith("!subteam^"):
        element = {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
    elif target[0] == "!" and target[1:] in _RANGES:
        element = {"type": "broadcast", "range": target[1:]}
    elif target[0] == "!":
        element = {"type": "text", "text": unescape(label or target[1:])}
    else:
        element = {"type": "link", "url": unescape(target)}
        if label:
            element["text"] = unescape(label)
    return element | ({"style": style} if style else {})


def _add_text(elements: list[Json], text: str, style: Json | None) -> None:
    if text:
        elements.append(
            {"type": "text", "text": unescape(text)} | ({"style": style} if style else {})
        )
