"""What does not clear the laws and bars of translation on IRC, as measured over the corpus (see
`tests/corpus/known.py`)."""

from __future__ import annotations

FAULTS: dict[tuple[str, str], int] = {
    # Buttons without any words, in a message that shows nothing else.
    ("3 actions vanish (press)", "discord -> irc: button"): 2,
    # A link is its words and its address; where both say the same, it is said twice.
    ("3 said twice", "slack -> irc: message"): 6,
    ("3 said twice", "slack -> irc: attachment.title"): 3,
    ("3 said twice", "slack -> irc: task_card"): 1,
    ("3 said twice", "slack -> irc: section.image"): 1,
    ("3 said twice", "slack -> irc: rich_text_section"): 1,
    # Words of several runs without a space between them, and labels that look like list numbers.
    ("3 words vanish", "teams -> irc: TextBlock"): 3,
    ("3 words vanish", "teams -> irc: RichTextBlock"): 1,
    ("3 words vanish", "teams -> irc: Fact"): 3,
    # A hint stands below its input, not above it.
    ("3 order", "discord -> irc: checkbox_group"): 1,
    ("3 order", "discord -> irc: text_input"): 1,
}
BARS: dict[str, float] = {
    "discord -> irc: usable actions": 0.925,  # two of 54 have no words; two ask for files
    # One of seven examples is a spoiler, which Slack and Teams show.
    "irc -> slack: full nodes with a loss": 0.143,
    "irc -> teams: full nodes with a loss": 0.143,
}
