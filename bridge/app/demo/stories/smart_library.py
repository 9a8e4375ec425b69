"""Smart Library: the second use case of "Conversational AI multi-agent interoperability" (Gosmar,
Dahl, Coin, 2024), with the words of the paper. Juri asks others behind the scenes."""

from __future__ import annotations

from bridge.app.demo.stories.story import Ask, Mediation, Reply, Story

_LEA = (
    "Hello this is Lea, I need to prepare a Literature essay. Do you know about any books written "
    "by Lydia Koidula?"
)
_FIRST = "Sure, Lea. Let me check with a proper specialized library assistant. Hold on please."
_TO_ANDRES = (
    "Can you send me a list of Assistants with knowledge about books related to Lydia Koidula "
    "please?"
)
_TO_KAJA = "Do you know about any books written by Lydia Koidula?"
_BOOKS = (
    "Lydia Koidula, the pen name for Lydia Emilie Florentine Jannsen, was one of the most "
    "important figures in Estonian literature, particularly known for..."
)

SMART_LIBRARY = Story(
    name="smart-library",
    person="Lea",
    host="juri",
    agents={
        "juri": [
            Reply(
                _LEA,
                f"{_FIRST}\n\nThank you for your patience. {_BOOKS}",
            )
        ],
        "andres": [Reply(_TO_ANDRES, "Here it's a list of Assistants:", proposes=("kaja",))],
        "kaja": [Reply(_TO_KAJA, _BOOKS)],
    },
    mediation=Mediation(
        first=_FIRST,
        asks=(
            Ask("ask_agent", "andres", _TO_ANDRES),
            Ask("describe_agent", "kaja"),
            Ask("ask_agent", "kaja", _TO_KAJA),
        ),
        last="Thank you for your patience. {answer}",
    ),
    manifests={
        "kaja": {
            "organization": "EE_example",
            "conversationalName": "smartlibrary",
            "department": "Books and Authors AI agent",
            "role": "Book Specialist",
            "synopsis": "AI agent specializing in providing information about Estonian books and "
            "authors.",
            "keyphrases": ["books", "authors", "ISBN", "editors"],
        }
    },
    welcome="Welcome to the OVON Smart Library service! I can look up information about books if "
    "you provide a valid ISBN number with a Whisper. If you prefer, you can also send me a Natural "
    "Language utterance and I'll reply you!",
    others=(
        ("Heli", "https://nationalLibraryArchive1.org"), ("Kalev", "https://estonianlibrary2.org"),
    ),
)  # fmt: skip
