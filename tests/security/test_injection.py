"""From each platform to each other: nobody is pinged, text stays text, links stay links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyromark
import pytest

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.names import display_name
from bridge.content.text.normal import cleaned
from bridge.content.text.tree import Document
from bridge.model import (
    AccountId,
    Byline,
    Call,
    ChannelRef,
    Delivery,
    MessageId,
    OperationId,
    PostMessage,
    QuotedMessage,
    RoomId,
)
from bridge.uacs import Actor, Message, TextPart
from connectors.discord.encode import encode as encode_discord
from connectors.discord.text import Names, discord_to_text
from connectors.slack.encode import encode as encode_slack
from connectors.slack.sandbox.text import rich_text
from connectors.slack.text import mrkdwn_to_text
from connectors.teams.encode import encode as encode_teams
from connectors.teams.text import escape_name, html_to_text
from tests.security.hostile import NAMES, PAYLOADS

FROM: dict[str, Callable[[str], Document]] = {
    "slack": lambda text: mrkdwn_to_text(text, "T1"),
    "discord": lambda text: discord_to_text(
        text, Names(channel=ChannelRef(platform="discord", workspace="1", channel="2"))
    ),
    "teams": lambda text: html_to_text(text).document,
    "agent": markdown_to_text,
}


def delivery(
    platform: str, text: str, name: str = "Ann", quoted: QuotedMessage | None = None
) -> Delivery:
    channel = ChannelRef(platform=platform, workspace="1", channel="2")
    message = Message(
        message_id="m",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="a", role="human", name="Ann"),
        content=(TextPart(text=text or "-", format="markdown"),),
    )
    operation = PostMessage(
        id=OperationId("o"), account=AccountId("x"), channel=channel, room=RoomId("r"),
        message=MessageId("m"), byline=Byline(name=name),
    )  # fmt: skip
    return Delivery(operation=operation, message=message, thread=None, quoted=quoted, copies=())


# --- what must hold of a call -------------------------------------------------------------------


def check_slack(call: Call, name: str, *, replies: bool) -> None:
    del name, replies
    body: Any = call.body
    assert (body["parse"], body["link_names"]) == ("none", False)
    assert "blocks" not in body
    assert "attachments" not in body
    text = re.sub(r"<!date\^\d+\^[^|>]+\|[^<>]*>", "", body["text"])
    assert not re.search(r"<[@#!]", text), text
    for element in walk(rich_text(body["text"], "b")):
        assert element.get("type") not in ("user", "usergroup", "broadcast", "channel"), text
        if element.get("type") == "link":
            assert safe(element["url"]), text


def check_discord(call: Call, name: str, *, replies: bool) -> None:
    del name
    body: Any = call.body
    assert body["allowed_mentions"] == {"parse": []}
    assert "embeds" not in body
    assert 1 <= len(body["username"]) <= 80
    assert body["username"].lower() not in ("everyone", "here")
    content = body["content"]
    assert not re.search(r"(?<!\\)(?:\\\\)*<@[!&]?\d+>", without_code(content)), content
    forged = [n for n, line in enumerate(content.split("\n")) if re.match(r"(?:> )?-# ↪", line)]
    assert forged == ([0] if replies and call.slot == 0 else []), content
    for target in re.findall(r"(?<!\\)\]\(<?([^)\s]*)", without_code(content)):
        assert safe(target), content


def check_teams(call: Call, name: str, *, replies: bool) -> None:
    del replies
    body: Any = call.body
    if "attachments" in body:
        check_card(body)
        return
    assert set(body) == {"type", "textFormat", "text"}
    author, _, rest = body["text"].partition("\n\n")
    assert author == f"**{escape_name(name)}**"
    assert [str(event) for event in pyromark.events(author)][1] == "{'Start': 'Strong'}"
    for event in pyromark.events(rest, options=pyromark.Options.ENABLE_STRIKETHROUGH):
        if not isinstance(event, dict):
            continue
        for html in (event.get("Html"), event.get("InlineHtml")):
            tags = re.findall(r"<[^>]*>?", html or "")
            assert all(re.fullmatch(r"</?(?:b|i|s|u|br|hr|pre|code)>", t) for t in tags), rest
        start: Any = event.get("Start")
        if isinstance(start, dict) and "Link" in start:
            assert safe(start["Link"]["dest_url"]), rest
        assert not (isinstance(start, dict) and "Image" in start), rest


def check_card(body: Any) -> None:
    """A text with a table is a card: nothing in it mentions anybody, opens or loads anything."""
    assert set(body) <= {"type", "attachments", "summary"}
    for node in walk(body["attachments"]):
        assert "msteams" not in node or "entities" not in node["msteams"], body
        assert node.get("type") != "Image", body
        if "url" in node:
            assert safe(node["url"]), body
        for event in pyromark.events(str(node.get("text", ""))):
            start: Any = event.get("Start") if isinstance(event, dict) else None
            if isinstance(start, dict) and "Link" in start:
                assert safe(start["Link"]["dest_url"]), body
            assert not (isinstance(start, dict) and "Image" in start), body


def without_code(content: str) -> str:
    return re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", content, flags=re.DOTALL)


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from walk(inner)


def safe(url: str) -> bool:
    return url.lower().startswith(("http://", "https://", "mailto:"))


Check = Callable[..., None]
TO: dict[str, tuple[Callable[[Delivery], Any], Check]] = {
    "slack": (encode_slack, check_slack),
    "discord": (encode_discord, check_discord),
    "teams": (lambda request: encode_teams(request, "app"), check_teams),
}


@pytest.mark.parametrize("source", FROM)
@pytest.mark.parametrize("destination", TO)
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_what_is_written_anywhere_is_harmless_everywhere(
    source: str, destination: str, payload: str
) -> None:
    encode, check = TO[destination]
    markdown = text_to_markdown(FROM[source](payload))

    encoded = encode(delivery(destination, markdown))

    assert encoded.calls
    for call in encoded.calls:
        check(call, "Ann", replies=False)


@pytest.mark.parametrize("destination", TO)
@pytest.mark.parametrize("hostile", [*NAMES, *PAYLOADS], ids=range(len(NAMES) + len(PAYLOADS)))
def test_names_and_quoted_words_are_harmless_everywhere(destination: str, hostile: str) -> None:
    encode, check = TO[destination]
    name = display_name(hostile, "U1")
    quoted = QuotedMessage(author=name, excerpt=cleaned(hostile))  # as the archive keeps it

    encoded = encode(delivery(destination, "hello", name, quoted))

    for call in encoded.calls:
        check(call, name, replies=True)


@pytest.mark.parametrize("picture", ["javascript:x", "data:image/png;base64,x", "file:///x", "//x"])
@pytest.mark.parametrize("destination", TO)
def test_pictures_are_http_or_left_out(destination: str, picture: str) -> None:
    original = delivery(destination, "hello")
    operation: Any = original.operation
    edited = operation.model_copy(update={"byline": Byline(name="Ann", picture=picture)})

    (call,) = TO[destination][0](original.model_copy(update={"operation": edited})).calls

    assert picture not in str(call.body)


@pytest.mark.parametrize(
    ("destination", "body"),
    [
        ("slack", {"text": "hi <!channel>"}),
        ("slack", {"text": "<javascript:x|x>"}),
        ("slack", {"text": "hi", "link_names": True}),
        ("discord", {"content": "hi <@1>"}),
        ("discord", {"content": "[x](javascript:x)"}),
        ("discord", {"content": "-# ↪ Boss: hi"}),
        ("discord", {"allowed_mentions": {"parse": ["users"]}}),
        ("discord", {"username": "everyone"}),
        ("teams", {"text": "**Boss**\n\nhi"}),
        ("teams", {"text": "**Ann**\n\n<at>Bob</at>"}),
        ("teams", {"text": "**Ann**\n\n[x](javascript:x)"}),
        ("teams", {"entities": []}),
    ],
)
def test_the_checks_see_harm(destination: str, body: dict[str, Any]) -> None:
    encode, check = TO[destination]
    (call,) = encode(delivery(destination, "hi")).calls

    check(call, "Ann", replies=False)
    with pytest.raises(AssertionError):
        check(call.model_copy(update={"body": {**call.body, **body}}), "Ann", replies=False)
