"""A link leads where it says, and shows nothing that its author could not have shown."""

from __future__ import annotations

import pytest

from bridge.content.text.tree import Document, Link
from bridge.model import ChannelRef
from connectors.discord.text import Names, discord_to_text
from connectors.slack.encode import encode
from connectors.slack.text import text_to_mrkdwn
from connectors.teams.text import text_to_teams
from tests.security.test_injection import delivery

HERE = ChannelRef(platform="discord", workspace="1", channel="2")


def read(content: str) -> Document:
    return discord_to_text(content, Names(channel=HERE))


@pytest.mark.parametrize(
    "label", ["https://good.example", "**https://good.example**", "see HTTP://good.example"]
)
def test_discord_cannot_disguise_a_link_elsewhere_as_it_cannot_at_home(label: str) -> None:
    document = read(f"[{label}](https://evil.example)")

    assert "evil.example|" not in text_to_mrkdwn(document)
    assert "](https://evil.example" not in text_to_teams(document)


def test_a_masked_link_with_words_stays_one() -> None:
    (paragraph,) = read("[words](https://good.example)")

    assert [type(node) for node in paragraph.children] == [Link]  # pyright: ignore[reportAttributeAccessIssue]  # a paragraph


@pytest.mark.parametrize(
    ("text", "previews"),
    [
        ("https://example.com/a.png", True),
        ("https://acme.slack.com/archives/C0PRIVATE/p1700000000000100", False),
        ("https://ACME.Slack.com/files/U1/F1/plan.pdf", False),
        ("[plan](https://files.slack.com/files-pri/T1-F1/plan.pdf)", False),
        ("https://acme.enterprise.slack.com/files/U1/F1", False),
    ],
)
def test_slack_previews_nothing_of_its_own_for_us(text: str, previews: bool) -> None:
    """Our bot sees channels and files that the author elsewhere does not."""
    (call,) = encode(delivery("slack", text)).calls

    assert (call.body["unfurl_links"], call.body["unfurl_media"]) == (False, previews)
