"""Typed text, and the text that people read."""

from __future__ import annotations

import time

import pytest

from connectors.teams.sandbox.seed import seed
from connectors.teams.sandbox.text import Typed, readable, typed


def test_names_after_an_at_sign_become_mentions_and_everything_else_is_escaped() -> None:
    tenant = seed(1)
    bridge = tenant.bot("bridge")
    assert bridge
    accounts = [bridge, *tenant.people.values()]

    result = typed("@Bridge is <at>Bridge</at> & @Bridgette\n@Bo Tanaka?", accounts)

    bo = next(p for p in accounts if p.name == "Bo Tanaka")
    span = '<span itemscope="" itemtype="http://schema.skype.com/Mention" itemid="{}">{}</span>'
    assert result == Typed(
        text="<at>Bridge</at> is <at>Bridge</at> & @Bridgette\n<at>Bo Tanaka</at>?",
        html="<div><div>"
        + span.format(0, "Bridge")
        + " is &lt;at&gt;Bridge&lt;/at&gt; &amp; @Bridgette<br>"
        + span.format(1, "Bo Tanaka")
        + "?</div>\n</div>",
        mentions=[
            {
                "type": "mention",
                "mentioned": {"id": bridge.id, "name": "Bridge"},
                "text": "<at>Bridge</at>",
            },
            {
                "type": "mention",
                "mentioned": {"id": bo.id, "name": "Bo Tanaka"},
                "text": "<at>Bo Tanaka</at>",
            },
        ],
    )


@pytest.mark.parametrize(
    ("text", "text_format", "read"),
    [
        ("plain words", "markdown", "plain words"),
        ("**Ada**: hi", "markdown", "**Ada**: hi"),
        ("<at>Bo Tanaka</at> hi", "markdown", "@Bo Tanaka hi"),
        ("one<br>two<br/>three", "xml", "one\ntwo\nthree"),
        ("<p>one</p><p>two</p>", "xml", "one\ntwo"),
        ("<b>1 &lt; 2</b> &amp; 3 < 4", "markdown", "1 < 2 & 3 < 4"),
        ("<b>1 &lt; 2</b>", "plain", "<b>1 &lt; 2</b>"),
    ],
)
def test_the_readable_text_of_an_activity_has_no_tags(
    text: str, text_format: str, read: str
) -> None:
    assert readable(text, text_format) == read


@pytest.mark.parametrize("piece", ["<at>", "<at ", "</at>", "<br", "@", "<", "&", "</p>"])
def test_hostile_text_is_read_in_bounded_time(piece: str) -> None:
    tenant = seed(1)
    before = time.process_time()

    readable(piece * 50_000, "markdown")
    typed(piece * 20_000, tenant.people.values())

    assert time.process_time() - before < 1.0
