"""No address vanishes unnamed, whatever it is and wherever it stands; nothing hidden is shown
without a word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.app.translation.translate import translate
from bridge.content.text.inlines import linked
from bridge.content.text.plain import blocks_as_line, hidden_in
from bridge.content.text.tree import Link, List, ListItem, Paragraph, Quote, Spoiler, Strong, Text

URL = "https://a.example/x"
LABEL = (Text("us"),)


@pytest.mark.parametrize(
    ("label", "url", "expected"),
    [
        (LABEL, URL, (Link(URL, LABEL),)),
        (LABEL, "tel:+4912345", (Text("us (tel:+4912345)"),)),
        (LABEL, "acme://room/7", (Text("us (acme://room/7)"),)),
        (LABEL, "www.example.com/a", (Text("us (www.example.com/a)"),)),
        ((Text("+49 123 45"),), "tel:+4912345", (Text("+49 123 45"),)),
        ((Text("www.example.com"),), "www.example.com", (Text("www.example.com"),)),
        ((), "tel:+4912345", (Text("tel:+4912345"),)),
        (LABEL, "", LABEL),
    ],
)
def test_an_address_that_cannot_be_a_link_follows_its_label(
    label: Any, url: str, expected: Any
) -> None:
    assert linked(label, url) == expected


def test_quotes_and_lists_in_a_cell_keep_their_links_and_styles() -> None:
    link = Link(URL, LABEL)
    quote = Quote((Paragraph((Text("see "), link)),))
    items = List((ListItem((Paragraph((Strong(LABEL),)),)), ListItem((Paragraph((link,)),))))

    line = blocks_as_line((quote, items))

    assert [inline for inline in line if isinstance(inline, Link | Strong)] == [
        link,
        Strong(LABEL),
        link,
    ]
    assert line[0] == Text("> see ")


def test_hidden_text_is_found_in_spoilers_at_any_depth() -> None:
    hidden = Paragraph((Strong((Spoiler((Text("a"),)),)), Link(URL, (Spoiler((Text("b"),)),))))

    assert list(hidden_in((Quote((hidden,)), List((ListItem((hidden,)),))))) == ["a", "b", "a", "b"]


def _label_in(source: str, target: str, payload: Any) -> str:
    """Everything that the output and its losses say."""
    done = translate(payload, source=source, target=target)
    losses = [f"{loss.what} {loss.shown_as}" for loss in done.losses]
    return json.dumps([list(done.messages), losses], ensure_ascii=False).replace("&#43;", "+")


def _card(kind: str, content: Any) -> Any:
    card = {"contentType": f"application/vnd.microsoft.card.{kind}", "content": content}
    return {"type": "message", "attachments": [card]}


_TELEPHONE = "tel:+4912345"
PAYLOADS: dict[str, tuple[str, Any]] = {
    "a link in HTML": (
        "teams",
        {"type": "message", "textFormat": "xml", "text": f"<a href='{_TELEPHONE}'>us</a>"},
    ),
    "a call of a hero card": (
        "teams",
        _card("hero", {"buttons": [{"type": "call", "title": "Call", "value": _TELEPHONE}]}),
    ),
    "a page of a hero card": (
        "teams",
        _card("hero", {"buttons": [{"type": "openUrl", "title": "Go", "value": _TELEPHONE}]}),
    ),
    "an action of an Adaptive Card": (
        "teams",
        {
            "type": "AdaptiveCard", "version": "1.5",
            "actions": [{"type": "Action.OpenUrl", "title": "Call", "url": _TELEPHONE}],
        },
    ),
    "mrkdwn": (
        "slack",
        {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": f"<{_TELEPHONE}|us>"}}]},
    ),
    "an embed": ("discord", {"embeds": [{"title": "T", "url": _TELEPHONE, "description": "d"}]}),
}  # fmt: skip


@pytest.mark.parametrize("target", ["slack", "discord", "teams"])
@pytest.mark.parametrize(("source", "payload"), PAYLOADS.values(), ids=PAYLOADS)
def test_no_address_is_lost_between_platforms(source: str, payload: Any, target: str) -> None:
    if source != target:
        assert _TELEPHONE in _label_in(source, target, payload)


@pytest.mark.parametrize("target", ["slack", "teams"])
def test_a_shown_spoiler_of_an_embed_is_a_loss(target: str) -> None:
    payload: Any = {"embeds": [{"title": "T", "description": "a ||secret|| b"}]}

    losses = translate(payload, source="discord", target=target).losses

    assert [(loss.kind, loss.what) for loss in losses] == [("spoiler_shown", "secret")]


def test_a_backtick_in_code_is_kept_in_slack() -> None:
    payload: Any = {"content": "see ``a`b``", "author": {"id": "1"}}

    message: Any = translate(payload, source="discord", target="slack").messages[0]

    assert {"type": "text", "text": "a`b", "style": {"code": True}} in (
        message["blocks"][0]["elements"][0]["elements"]
    )
