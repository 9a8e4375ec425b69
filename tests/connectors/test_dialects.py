"""Formatted text in each dialect, and the characters that stay unchanged in all of them.

Markdown -> the written form -> the Markdown that is read back, where it differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.plain import text_to_plain
from bridge.content.text.tree import (
    Block,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
)
from bridge.model import ActorId
from connectors.discord.ids import channel_ref
from connectors.discord.text import Names, discord_to_text, text_to_discord
from connectors.slack.text import mrkdwn_to_text, text_to_mrkdwn
from connectors.teams.text import html_to_text, teams_to_text, text_to_html, text_to_teams

NAMES = Names(channel_ref("1", "2"))


@dataclass(frozen=True)
class Dialect:
    write: Callable[[Document], str]
    read: Callable[[str], Document]


DIALECTS = {
    "markdown": Dialect(text_to_markdown, markdown_to_text),
    "slack": Dialect(text_to_mrkdwn, lambda native: mrkdwn_to_text(native, "T1")),
    "discord": Dialect(text_to_discord, lambda native: discord_to_text(native, NAMES)),
    "teams": Dialect(text_to_teams, teams_to_text),
    "html": Dialect(text_to_html, lambda native: html_to_text(native).document),
}

WrittenAndRead = tuple[str, str]  # the written form, and the Markdown read back where it differs

FORMS: dict[str, dict[str, str | WrittenAndRead]] = {
    "**a _b_ ~~c~~** ***d***": {
        "slack": "*a _b_ ~c~* _*d*_",
        "discord": "**a *b* ~~c~~** _**d**_",
        "teams": "<b>a <i>b</i> <s>c</s></b> <i><b>d</b></i>",
        "html": "<p><strong>a <em>b</em> <s>c</s></strong> <em><strong>d</strong></em></p>",
    },
    "[a **b**](https://x.example/y) https://x.example": {
        "slack": (
            "<https://x.example/y|a b> <https://x.example>",
            "[a b](https://x.example/y) https://x.example",
        ),
        "discord": "[a **b**](https://x.example/y) https://x.example",
        "teams": "[a <b>b</b>](https://x.example/y) https://x.example",
        "html": (
            '<p><a href="https://x.example/y">a <strong>b</strong></a> '
            '<a href="https://x.example">https://x.example</a></p>'
        ),
    },
    "- a\n  - b\n    1. c\n- d": {
        "slack": "• a\n    • b\n        1. c\n• d",
        "discord": "- a\n  - b\n    1. c\n- d",
        "teams": "- a\n  - b\n    1. c\n- d",
        "html": "<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li><li>d</li></ul>",
    },
    "> a\n> b\n>\n> c": {
        "slack": "> a\n> b\n>\n> c",
        "discord": "> a\n> b\n> \n> c",
        "teams": "> a<br>b\n>\n> c",
        "html": "<blockquote><p>a<br>b</p><p>c</p></blockquote>",
    },
    "> - a\n>   - b": {
        "slack": "> • a\n>     • b",
        "discord": "> - a\n>   - b",
        "teams": "> - a\n>   - b",
        "html": "<blockquote><ul><li>a<ul><li>b</li></ul></li></ul></blockquote>",
    },
    "```python\na < b\n\n  c\n```": {
        "slack": ("```\na &lt; b\n\n  c\n```", "```\na < b\n\n  c\n```"),
        "discord": "```python\na < b\n\n  c\n```",
        "teams": '<pre><code class="language-python">a &lt; b<br><br>  c</code></pre>',
        "html": '<pre><code class="language-python">a &lt; b\n\n  c\n</code></pre>',
    },
    "1. a\n\n   ```sh\n   b\n   ```\n2. c": {
        "slack": ("1. a\n```\nb\n```\n2. c", "1. a\n\n```\nb\n```\n\n2. c"),
        "discord": "1. a\n   ```sh\n   b\n   ```\n2. c",
        "teams": "1. a\n\n   ```sh\n   b\n   ```\n2. c",
        "html": ('<ol><li>a<pre><code class="language-sh">b\n</code></pre></li><li>c</li></ol>'),
    },
    "| a | **b** |\n| --- | --- |\n| 1 | x |": {
        "slack": ("```\na | b\n--|--\n1 | x\n```", "```\na | b\n--|--\n1 | x\n```"),
        "discord": ("```\na | b\n--+--\n1 | x\n```", "```\na | b\n--+--\n1 | x\n```"),
        "teams": ("**a** &#124; **b**<br>1 &#124; x", "**a** \\| **b**\n1 \\| x"),
        "html": (
            "<table><tr><th>a</th><th><strong>b</strong></th></tr>"
            "<tr><td>1</td><td>x</td></tr></table>"
        ),
    },
    "# a **b**\n\ntext\n\n#### c": {
        "slack": ("*a b*\n\ntext\n\n*c*", "**a b**\n\ntext\n\n**c**"),
        "discord": ("# a **b**\ntext\n\n### c", "# a **b**\n\ntext\n\n### c"),
        "teams": ("**a b**\n\ntext\n\n**c**", "**a b**\n\ntext\n\n**c**"),
        "html": (
            "<h1>a <strong>b</strong></h1><p>text</p><h3>c</h3>",
            "# a **b**\n\ntext\n\n### c",
        ),
    },
    "- [x] a\n- [ ] b": {
        "slack": "• ☑ a\n• ☐ b",
        "discord": "- ☑ a\n- ☐ b",
        "teams": "- ☑ a\n- ☐ b",
        "html": "<ul><li>☑ a</li><li>☐ b</li></ul>",
    },
    "a ||b **c**|| d": {
        "slack": ("a ||b *c*|| d", "a \\|\\|b **c**\\|\\| d"),
        "discord": "a ||b **c**|| d",
        "teams": ("a &#91;spoiler: b <b>c</b>&#93; d", "a \\[spoiler: b **c**\\] d"),
        "html": (
            "<p>a [spoiler: b <strong>c</strong>] d</p>",
            "a \\[spoiler: b **c**\\] d",
        ),
    },
    "[2023-11-14](uacs:time/1700000000?style=D)": {
        "slack": "<!date^1700000000^{date}|2023-11-14>",
        "discord": ("<t:1700000000:D>", "[1700000000](uacs:time/1700000000?style=D)"),
        "teams": ("2023-11-14", "2023-11-14"),
        "html": ("<p>2023-11-14</p>", "2023-11-14"),
    },
    "[@Ann](uacs:actor/slack:T1:U1) [@here](uacs:broadcast/here)": {
        "slack": ("@Ann @here", "@Ann @here"),
        "discord": ("@Ann @\u200bhere", "@Ann @\u200bhere"),
        "teams": ("@Ann @here", "@Ann @here"),
        "html": ("<p>@Ann @here</p>", "@Ann @here"),
    },
    "[#general](uacs:channel/slack:T1:C1)": {
        "slack": ("#general", "\\#general"),
        "discord": ("#general", "\\#general"),
        "teams": ("&#35;general", "\\#general"),
        "html": ("<p>#general</p>", "\\#general"),
    },
    "[:party:](uacs:emoji/party) 👍🏽 ❤️": {
        "slack": (":party: 👍🏽 ❤️", "\\:party: 👍🏽 ❤️"),
        "discord": (":party: 👍🏽 ❤️", "\\:party: 👍🏽 ❤️"),
        "teams": (":party: 👍🏽 ❤️", "\\:party: 👍🏽 ❤️"),
        "html": ("<p>:party: 👍🏽 ❤️</p>", "\\:party: 👍🏽 ❤️"),
    },
    "<u>a</u> `b*c`": {
        "slack": ("a `b*c`", "a `b*c`"),
        "discord": "__a__ `b*c`",
        "teams": "<u>a</u> `b*c`",
        "html": "<p><u>a</u> <code>b*c</code></p>",
    },
    "a\n\n---\n\nb": {
        "slack": "a\n\n———\n\nb",
        "discord": "a\n\n────────────\n\nb",
        "teams": "a\n\n<hr>\n\nb",
        "html": "<p>a</p><hr><p>b</p>",
    },
    "<small>a</small>": {
        "slack": ("a", "a"),
        "discord": "-# a",
        "teams": ("a", "a"),
        "html": ("<p>a</p>", "a"),
    },
}


@pytest.mark.parametrize("markdown", FORMS)
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "markdown"])
def test_every_dialect_writes_text_in_its_own_syntax(markdown: str, dialect: str) -> None:
    document = markdown_to_text(markdown)
    native_forms = FORMS[markdown][dialect]
    native, again = (native_forms, markdown) if isinstance(native_forms, str) else native_forms

    assert text_to_markdown(document) == markdown.replace("***d***", "_**d**_")
    assert DIALECTS[dialect].write(document) == native
    assert text_to_markdown(DIALECTS[dialect].read(native)) == again.replace("***d***", "_**d**_")


# Words from right to left, accents of their own, letters that join and part, emoji of many signs.
WORDS = {
    "rtl": "שלום (abc) 12, مرحبا \u2067abc\u2069!",
    "marks of direction": "\u200fא\u200e b",
    "half-spaces": "می\u200cخواهم",
    "conjuncts": "क\u094d\u200dष न\u093f",
    "accents": "e\u0301 o\u0308\u0323 Z\u0351\u036b\u0343algo",
    "emoji": "👨‍👩‍👧‍👦 👍🏽 🇩🇪 1\ufe0f\u20e3 ❤\ufe0f",
    "flag of tags": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "syllables": "\u1112\u1161\u11ab 각 ก็ำ",
    "cjk": "漢字、かな。",
    "beyond 16 bits": "𝒳𝓎 ﷺ İı ß",
    "hidden": "a\u00adb\u2060c",
}


def run(words: str) -> tuple[Inline, ...]:
    return (Text(words),)


SHAPES: dict[str, Callable[[str], Block]] = {
    "paragraph": lambda words: Paragraph(run(words)),
    "strong": lambda words: Paragraph((Strong(run(words)),)),
    "within a word": lambda words: Paragraph((Text("x"), Emphasis(run(words)), Text("y"))),
    "strike": lambda words: Paragraph((Text("x "), Strike(run(words)))),
    "spoiler": lambda words: Paragraph((Spoiler(run(words)),)),
    "code": lambda words: Paragraph((Code(words),)),
    "link": lambda words: Paragraph((Link("https://x.example/", run(words)),)),
    "name": lambda words: Paragraph((Mention(ActorId("irc:n:u"), words),)),
    "channel": lambda words: Paragraph((ChannelLink("irc:n:c", words),)),
    "list": lambda words: List((ListItem((List((ListItem((Paragraph(run(words)),)),)),)),)),
    "quote": lambda words: Quote((Paragraph(run(words)),)),
    "code block": CodeBlock,
    "heading": lambda words: Heading(2, run(words)),
    "table": lambda words: Table((run("x"), run(words)), ((run(words), run("y")),), (None, None)),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_text_of_any_script_is_unchanged(shape: str, dialect: str) -> None:
    hidden = {"marks of direction", "hidden", "rtl"} if shape in ("name", "channel") else set()
    for name in WORDS.keys() - (hidden if dialect == "teams" else set()):
        native = DIALECTS[dialect].write((SHAPES[shape](WORDS[name]),))

        assert WORDS[name] in text_to_plain(DIALECTS[dialect].read(native)), name
