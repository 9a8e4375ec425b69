"""A Slack message or payload -> its copy for another channel, with rewritten mentions. Pure and
total.

Slack reads `<@U1>`, `<#C1>` and `<!here>` in every mrkdwn text, legacy attachments included, and
the elements `user`, `usergroup`, `channel` and `broadcast` in rich text (docs.slack.dev "Formatting
message text", "Rich text block", 2026-08). The rule rewrites each of them. Literal texts
(`plain_text`, rich text's `text`), ids, values and URLs stay. A mrkdwn text object with bare names
(`@here`, `#general`) becomes `verbatim`, so that Slack does not resolve them.
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from bridge.content.safety.mentions import Rule, with_references
from bridge.content.text.tree import Paragraph
from connectors.slack.cards.read_json import unfolded
from connectors.slack.json_values import Json
from connectors.slack.mrkdwn_reader import mrkdwn_to_text
from connectors.slack.mrkdwn_writer import text_to_mrkdwn
from connectors.slack.rich_text import element_to_inlines
from connectors.slack.rich_text_writer import inlines_to_rich_text

_CONTROL = re.compile(r"<[@#!][^<>]*>?")
_LINK = re.compile(r"<[^<>]*>")
_DATE = re.compile(r"<!date\^[^<>]*>")
_NAMES = re.compile("[@#]")
_MENTIONING = frozenset(("user", "usergroup", "channel", "broadcast", "team"))
_LITERAL = frozenset(("plain_text", "text", "raw_text"))
# Blocks are typed, so their literal texts are known. Legacy attachments are not: Slack may read any
# text in them as mrkdwn.
_BLOCKS, _LEGACY, _ACTIONS = "blocks", "legacy", "actions"
_DEEPEST = 200
# Members that Slack does not show: ids, values for apps, URLs.
_UNSHOWN = frozenset((
    "type", "action_id", "block_id", "callback_id", "external_id", "view_id", "id", "ts", "value",
    "color", "style", "mrkdwn_in", "url", "image_url", "thumb_url", "video_url", "title_url",
    "provider_icon_url", "author_link", "author_icon", "title_link", "footer_icon", "from_url",
    "original_url", "private_metadata", "metadata", "initial_user", "initial_users",
    "initial_channel", "initial_channels", "initial_conversation", "initial_conversations",
))  # fmt: skip


def as_copy(native: JsonValue, rule: Rule, workspace: str = "") -> JsonValue:
    """See `bridge.content.cards.codec.Codec.as_copy`."""
    copying = _Copying(rule, workspace)
    match unfolded(native):
        case dict() as message:
            return copying.members(message, _mode_of(message), 0)
        case list() as items:
            return copying.items(items, _BLOCKS if _are_blocks(items) else _LEGACY, 0)
        case other:
            return other


def _are_blocks(items: list[JsonValue]) -> bool:
    return all(_mode_of(item) == _BLOCKS for item in items)


def _mode_of(value: JsonValue) -> str:
    return _BLOCKS if isinstance(value, dict) and isinstance(value.get("type"), str) else _LEGACY


class _Copying:
    def __init__(self, rule: Rule, team: str) -> None:
        self._rule = rule
        self._team = team

    def items(self, value: list[JsonValue], mode: str, depth: int) -> JsonValue:
        items = [self.value(item, mode, depth + 1) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items

    def members(self, value: Json, mode: str, depth: int) -> JsonValue:
        changed: dict[str, JsonValue] = {}
        for key, before in value.items():
            if _is_unshown(key, before, mode):
                continue
            after = self.value(before, _mode_below(key, mode), depth + 1)
            if after is not before:
                changed[key] = after
        if value.get("type") == "mrkdwn" and value.get("verbatim") is not True:
            text = changed.get("text", value.get("text"))
            if isinstance(text, str) and _NAMES.search(_LINK.sub("", text)):
                changed["verbatim"] = True
        return {**value, **changed} if changed else value

    def value(self, value: JsonValue, mode: str, depth: int) -> JsonValue:
        match value:
            case str():
                return self.mrkdwn(value)
            case list() | dict() if depth > _DEEPEST:
                return None
            case list():
                return self.items(value, mode, depth)
            case {"type": str() as kind} if mode == _BLOCKS and kind in _MENTIONING:
                return self._element(value)
            case {"type": str() as kind} if mode == _BLOCKS and kind in _LITERAL:
                return value
            case dict():
                return self.members(value, mode, depth)
            case _:
                return value

    def mrkdwn(self, text: str) -> str:
        """The text with rewritten mentions; `<!date...>` is not a mention."""
        if "<" not in text:
            return text
        return _CONTROL.sub(self._control, text)

    def _control(self, match: re.Match[str]) -> str:
        if _DATE.fullmatch(match[0]):
            return match[0]
        token = match[0] if match[0].endswith(">") else f"{match[0]}>"
        document = with_references(mrkdwn_to_text(token, self._team), self._rule)
        return text_to_mrkdwn(document)

    def _element(self, element: Json) -> JsonValue:
        (paragraph,) = with_references(
            (Paragraph(element_to_inlines(element, self._team)),), self._rule
        )
        written = inlines_to_rich_text(paragraph.children)
        if not written:
            return {"type": "text", "text": " "}
        return element if _is_same(written[0], element) else written[0]


def _mode_below(key: str, mode: str) -> str:
    if key == "blocks":
        return _BLOCKS
    if key == "attachments":
        return _LEGACY
    return _ACTIONS if key == "actions" and mode == _LEGACY else mode


def _is_unshown(key: str, inner: JsonValue, mode: str) -> bool:
    """Whether Slack hides the member: it shows the value of an attachment's field, but not of a
    button."""
    if key == "value" and mode == _LEGACY:
        return False
    return key == "metadata" or (key in _UNSHOWN and isinstance(inner, str))


def _is_same(written: Json, element: Json) -> bool:
    return all(written.get(key) == member for key, member in element.items() if key != "style")
