"""What people say in the demo: the fixed script, the first lines on the page, the scene."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """`text` is what is typed, `reads` what everybody then reads (None: the same, without markup
    to be seen); `thread` is the number of the line in whose thread it is said."""

    platform: str
    person: str
    text: str
    reads: str | None = None
    thread: int | None = None
    answered: bool = False  # an agent is mentioned and will answer


REFUSED_NAME = "Clyde of Discord"
"""Discord refuses names with either word in them (docs: resources/webhook)."""

_PARAGRAPH = (
    "Part {n}. When a text is longer than a platform takes, it is cut where a reader would pause: "
    "between paragraphs, else between lines, sentences or words, and never inside a character. "
    "The parts stand one after another under the same name, and nothing of them is lost. "
    "This paragraph is here to be long, and that is all it has to say about itself.{end}"
)
_LONG = "\n\n".join(
    _PARAGRAPH.format(n=number, end=" The end." if number == 12 else "") for number in range(1, 13)
)

SCRIPT = (
    Line(
        "slack",
        "Ada Park",
        "Good morning! The *release notes* are ready: _two_ fixes, `v1.4.0`, ~no~ few surprises.\n"
        "https://example.org/notes",
        "Good morning! The release notes are ready: two fixes, v1.4.0, no few surprises.\n"
        "https://example.org/notes",
    ),
    Line(
        "discord",
        "Chen Wei",
        "**Great**, *thanks*! ~~Friday~~ Thursday then?\n> two fixes\n`v1.4.0` it is",
        "Great, thanks! Friday Thursday then?\ntwo fixes\nv1.4.0 it is",
    ),
    Line(
        "teams",
        "Noor Haddad",
        "What looks like markup stays text: 2 * 3 * 4 < 30 & [no](link), **not bold**, <b>nor</b>",
    ),
    Line("discord", "Dana Okafor", "Which two?", thread=0),
    Line(
        "slack",
        "Chloe Meyer",
        "@echo what do you remember?",
        answered=True,
    ),
    Line("slack", "Ben Ortiz", "The *login* one and the *export* one.",
         "The login one and the export one.", thread=0),
    Line("slack", REFUSED_NAME, "My name is one that Discord refuses."),
    Line("slack", "Dev Rao", _LONG),
    Line("teams", "Carmen Diaz", "Then Thursday it is. Thank you!", thread=0),
)  # fmt: skip

OPENING = (
    Line("slack", "Ada Park", "Good morning! The *release notes* are ready, `v1.4.0`"),
    Line("teams", "Noor Haddad", "Thank you! I will tell the customers."),
    Line("discord", "Chen Wei", "**Great.** Which fixes are in?", thread=0),
    Line("slack", "Ben Ortiz", "The _login_ one and the _export_ one.", thread=0),
)

CARD = (Line("slack", "Ada Park", "@desk we need a room for the release party", answered=True),)

SCENE = (
    Line("discord", "Dana Okafor", "Can somebody look at the *deployment*? It says `exit 137`."),
    Line("slack", "Dev Rao", "That is the memory limit. I raise it now.", thread=0),
    Line("teams", "Carmen Diaz", "I see it too: the second node is fine.", thread=0),
    Line("teams", "Noor Haddad", "@echo what did you hear about the deployment?", answered=True),
    Line("discord", "Dana Okafor", "It runs. **Thank you all!**", thread=0),
)
