"""A native payload that is copied to another channel of its platform mentions nobody whom the rule
does not allow, whichever way it takes: as a post of an app, of an agent, of a program, or through
`translate`. What may notify is read here by the platforms' own descriptions, not by our codecs.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bridge.app.translation.translate import translate
from bridge.content.cards.codec import Codec
from bridge.content.cards.messages import content_of
from bridge.content.cards.reader import Cards
from bridge.errors import BridgeError
from bridge.model import (
    AccountId,
    Byline,
    ChannelRef,
    Counterparts,
    Delivery,
    MessageId,
    OperationId,
    Person,
    PostMessage,
    RoomId,
)
from bridge.uacs import Actor, Message
from connectors.discord import cards as discord
from connectors.discord.encode import encode as encode_discord
from connectors.slack import cards as slack
from connectors.slack.encode import encode as encode_slack
from connectors.teams import cards as teams
from connectors.teams.encode import encode as encode_teams
from tests.corpus.examples import EXAMPLES
from tests.corpus.payloads import Case, cases, corpus

Json = dict[str, Any]
PLATFORMS = ("slack", "discord", "teams")
CODECS: dict[str, Codec] = {"slack": slack, "discord": discord, "teams": teams}  # pyright: ignore[reportAssignmentType]  # modules are codecs
CARDS = Cards.over(CODECS.values(), bytes(32))
ENCODE: dict[str, Callable[[Delivery], Any]] = {
    "slack": lambda request: encode_slack(request, CARDS),
    "discord": lambda request: encode_discord(request, CARDS),
    "teams": lambda request: encode_teams(request, "app", CARDS),
}
AUTHORS = {
    "app": Actor(id="{platform}:T1:B1", role="assistant"),
    "agent": Actor(id="agent:helper", role="assistant"),
    "program": Actor(id="api:api:watch", role="assistant"),
}
ONE_IN = {"slack": 12, "discord": 2, "teams": 12}  # payloads of the corpus
WITH_CORPUS = pytest.mark.skipif(corpus() is None, reason="UACS_CORPUS names no folder of payloads")


# --- what may notify somebody -------------------------------------------------------------------


def pings(platform: str, value: Any) -> list[str]:
    return list({"slack": _on_slack, "discord": _on_discord, "teams": _on_teams}[platform](value))


_CONTROL = re.compile(r"<(?:@|#|!(?!date\^))[^>]*>")
# Slack looks for these in a mrkdwn text object that does not say `"verbatim": true`.
_NAMES = re.compile(r"@(?:here|channel|everyone)\b|#")
_LINK = re.compile(r"<[^<>]*>")
_ATTACHED = ("text", "pretext", "fallback", "title", "author_name", "footer")


def _on_slack(value: Any) -> Iterator[str]:
    for node in _objects(value):
        kind = node.get("type")
        texts: list[Any] = []
        if kind in ("mrkdwn", "markdown") or "blocks" in node or "attachments" in node:
            texts.append(node.get("text"))
        if not isinstance(kind, str):
            texts += [node.get(name) for name in _ATTACHED]
            if "short" in node or set(node) <= {"title", "value"}:
                texts.append(node.get("value"))
        for text in texts:
            if isinstance(text, str):
                yield from _CONTROL.findall(text)
        if kind == "mrkdwn" and node.get("verbatim") is not True:
            yield from _NAMES.findall(_LINK.sub("", str(node.get("text"))))
        if kind in ("user", "usergroup", "broadcast") and "elements" not in node:
            yield json.dumps(node)


def _on_discord(value: Any) -> Iterator[str]:
    """What `allowed_mentions` leaves out notifies nobody."""
    for body in value if isinstance(value, list) else [value]:
        allowed = body.get("allowed_mentions")
        if allowed != {"parse": []}:
            yield f"allowed_mentions: {allowed}"


def _on_teams(value: Any) -> Iterator[str]:
    for node in _objects(value):
        if str(node.get("type")).lower() == "mention" and "mentioned" in node:
            yield json.dumps(node)


def _objects(value: Any) -> Iterator[Json]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            yield node
            # What an app is told when its button is pressed is not shown.
            stack += [inner for key, inner in node.items() if key not in ("data", "metadata")]


# --- payloads with mentions ---------------------------------------------------------------------

_TOKENS = {
    "slack": (
        "<!here>",
        "<!channel|x>",
        "<@U0ACME01>",
        "<!subteam^S1|@ops>",
        "<#C1>",
        "<@U2|b>",
        "@here",
    ),
    "discord": ("<@1>", "<@!2>", "<@&3>", "<#4>", "@everyone", "@here"),
    "teams": ("<at>Ann</at>", '<at id="0">Ann</at>', "<AT>Ann</AT>"),
}
_TEXTS = ("text", "pretext", "fallback", "title", "value", "content", "description", "footer")
_ENTITY = {
    "type": "mention", "text": "<at>Ann</at>", "mentioned": {"id": "29:ann", "name": "Ann"},
}  # fmt: skip
_ELEMENTS = (
    {"type": "broadcast", "range": "here"},
    {"type": "user", "user_id": "U0ACME01", "style": {"bold": True, "highlight": True}},
    {"type": "usergroup", "usergroup_id": "S1"},
)


def with_mentions(case: Case) -> Any:
    """The payload with mentions wherever somebody could have written one."""
    chance = random.Random(case.name)
    return _with_mention(case.platform, json.loads(json.dumps(case.payload)), chance)


def _with_mention(platform: str, value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [_with_mention(platform, item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _with_mention(platform, item, chance) for key, item in value.items()}
    for key in _TEXTS:
        if isinstance(changed.get(key), str):
            changed[key] = f"{changed[key]} {chance.choice(_TOKENS[platform])}"
    if platform == "slack" and changed.get("type") == "rich_text_section":
        changed["elements"] = [*(changed.get("elements") or ()), *_ELEMENTS]
    if platform == "teams" and ("body" in changed or "attachments" in changed):
        holder = changed.setdefault("msteams", {}) if "body" in changed else changed
        if isinstance(holder, dict):
            holder["entities"] = [*(holder.get("entities") or ()), _ENTITY]
    return changed


def cases_of(platform: str, source: str) -> list[Case]:
    if source == "examples":
        return [Case(platform, name, payload) for name, payload in EXAMPLES[platform].items()]
    return list(cases(platform))[:: ONE_IN[platform]]


# --- the ways -----------------------------------------------------------------------------------


def delivery(
    platform: str, native: Any, by: str, counterparts: Counterparts | None = None
) -> Delivery:
    """What was said in a channel, on its way to another one of the same workspace."""
    codec = CODECS[platform]
    content = content_of(
        (payload, codec.read_payload(payload, "T1")) for payload in codec.payloads(native)
    )
    author = AUTHORS[by]
    author = author.model_copy(update={"id": author.id.format(platform=platform)})
    message = Message(
        message_id=f"{platform}:T1:C1:1" if by == "app" else f"{by}:1",
        timestamp="2026-01-01T00:00:00Z",
        actor=author,
        content=content.parts,
        metadata={"uacs_bridge": content.additions.model_dump(mode="json", exclude_unset=True)},
    )
    operation = PostMessage(
        id=OperationId("op-1"), account=AccountId("x"), room=RoomId("r"), message=MessageId("m"),
        channel=ChannelRef(platform=platform, workspace="T1", channel="C2"),
        byline=Byline(name="App", agent=by == "agent"),
    )  # fmt: skip
    return Delivery(
        operation=operation, message=message, counterparts=counterparts or Counterparts()
    )


@pytest.mark.parametrize("by", AUTHORS)
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("source", ["examples", pytest.param("corpus", marks=WITH_CORPUS)])
def test_a_copy_in_another_channel_mentions_nobody(source: str, platform: str, by: str) -> None:
    sent = 0
    for case in cases_of(platform, source):
        try:
            copy = delivery(platform, with_mentions(case), by)
        except BridgeError:
            continue  # no message of this platform
        for call in ENCODE[platform](copy).calls:
            sent += 1
            assert not pings(platform, call.body), case.name

    assert sent >= 5


@pytest.mark.parametrize("over_uacs", [False, True])
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("source", ["examples", pytest.param("corpus", marks=WITH_CORPUS)])
def test_translate_makes_a_copy_that_mentions_nobody(
    source: str, platform: str, over_uacs: bool
) -> None:
    made = 0
    for case in cases_of(platform, source):
        native: Any = with_mentions(case)
        if platform == "discord" and isinstance(native, dict):
            native.pop("allowed_mentions", None)  # it would say what the author wants
        try:
            if over_uacs:
                native = translate(native, source=platform, target="uacs").messages[0]
            way = "uacs" if over_uacs else platform
            done = translate(native, source=way, target=platform, copy=True)
        except BridgeError:
            continue
        for message in done.messages:
            if platform != "discord":
                made += 1
                assert not pings(platform, message), case.name
            else:
                made += 1
                output = [text for node in _objects(message) for text in _discord_texts(node)]
                assert not [text for text in output if re.search(r"(?<!`)<@[!&]?\d", text)]

    assert made >= 5


def _discord_texts(node: Json) -> Iterator[str]:
    """Where Discord reads mentions outside of code."""
    if node.get("type") == 10 or "embeds" in node:
        yield re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", str(node.get("content", "")), flags=re.S)


# --- what the rule allows -----------------------------------------------------------------------


def counterparts_of(platform: str, person: str, there: str) -> Counterparts:
    return Counterparts.model_validate(
        {"people": {person: Person(id=there, name="Ann")}}  # pyright: ignore[reportArgumentType]
    )


def test_a_linked_person_is_mentioned_in_blocks_as_in_text() -> None:
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "<@U1> <@U2> <!here> `x`"}},
        {"type": "rich_text", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "user", "user_id": "U1"}]},
        ]},
    ]  # fmt: skip
    copy = delivery("slack", {"text": "x", "blocks": blocks}, "app",
                    counterparts_of("slack", "slack:T1:U1", "slack:T1:U9"))  # fmt: skip

    (call,) = encode_slack(copy, CARDS).calls

    body: Any = call.body
    section, rich = body["blocks"]
    assert section == {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "<@U9> @U2 @here `x`", "verbatim": True},
    }  # fmt: skip
    assert rich["elements"][0]["elements"] == [{"type": "user", "user_id": "U9"}]


def test_a_linked_person_is_mentioned_in_a_card_as_in_text() -> None:
    card = {
        "type": "AdaptiveCard", "version": "1.5",
        "body": [{"type": "TextBlock", "text": "<at>Annie</at> and <at>Bob</at>"}],
        "msteams": {"width": "Full", "entities": [
            {"type": "mention", "text": "<at>Annie</at>",
             "mentioned": {"id": "29:1", "name": "Annie"}},
            {"type": "mention", "text": "<at>Bob</at>", "mentioned": {"id": "29:2", "name": "Bob"}},
        ]},
    }  # fmt: skip
    copy = delivery("teams", {"type": "message", "attachments": [
        {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    ]}, "app", counterparts_of("teams", "teams:T1:29%3A1", "teams:T1:29%3A9"))  # fmt: skip

    (call,) = encode_teams(copy, "app", CARDS).calls

    body: Any = call.body
    content = body["attachments"][0]["content"]
    assert content["body"][-1]["text"] == "<at>Ann</at> and @Bob"
    assert content["msteams"] == {"width": "Full", "entities": [
        {"type": "mention", "text": "<at>Ann</at>", "mentioned": {"id": "29:9", "name": "Ann"}},
    ]}  # fmt: skip


def test_a_payload_without_mentions_is_copied_unchanged() -> None:
    for platform in PLATFORMS:
        for name, native in EXAMPLES[platform].items():
            text = json.dumps(native)
            if re.search(r"<(?:@|!|#)|broadcast|\"user\"|<at|usergroup|@", text):
                continue
            home = translate(native, source=platform, target=platform)
            copy = translate(native, source=platform, target=platform, copy=True)

            assert copy.messages == home.messages, name


def test_a_copy_keeps_the_text_and_value_of_a_button() -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "<@U1>"},
              "action_id": "<@U1>", "value": "<!here>"}  # fmt: skip
    legacy = {"type": "button", "name": "n", "text": "t", "value": "<@U1>"}
    native: Any = {
        "text": "",
        "blocks": [{"type": "actions", "elements": [button]}],
        "attachments": [{"fallback": "x", "callback_id": "<@U1>", "actions": [legacy]}],
    }

    assert slack.as_copy(native, lambda _: pytest.fail("nothing here mentions anybody")) == native


def test_an_attachment_field_is_not_treated_as_a_button() -> None:
    field = {"type": "plain_text", "title": "x", "name": "n", "text": "y", "value": "<!here>"}
    native: Any = [{"text": "<!here>", "type": "plain_text", "fields": [field]}]

    done = translate({"attachments": native}, source="slack", target="slack", copy=True)

    assert "<!" not in json.dumps(done.messages)


def test_names_in_place_of_ids_keep_a_section_within_its_limit() -> None:
    copy = delivery("slack", {"text": "x", "blocks": [
        {"type": "section", "text": {"type": "mrkdwn", "text": "<@U1> " * 480}}
    ]}, "app")  # fmt: skip
    metadata: Any = copy.message.metadata
    additions = metadata["uacs_bridge"]
    additions["names"] = {"slack:T1:U1": "A name that is much longer than an id"}

    for call in encode_slack(copy, CARDS).calls:
        for node in _objects(call.body):
            if node.get("type") == "mrkdwn":
                assert len(node["text"]) <= 3000
