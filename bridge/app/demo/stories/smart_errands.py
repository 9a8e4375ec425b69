"""Smart Errands: the first use case of "Conversational AI multi-agent interoperability" (Gosmar,
Dahl, Coin, 2024), with the words of the paper."""

from __future__ import annotations

from bridge.app.demo.stories.story import INVITED, LEAVES, RETURNED, Reply, Story

_HOW = "Hi Emmett! How can I assist you today?"
_CASSANDRA = [
    Reply(
        "Hi Cassandra.",
        _HOW,
    ),
    Reply(
        "I do need to order some flowers for my wife’s birthday.",
        "Sure thing, Emmett! I’ll connect you with the local florist shop.",
        "pat",
    ),
    Reply(
        RETURNED,
        _HOW,
    ),
    Reply(
        "I need to check with the hardware store to see if my chainsaw repair is finished.",
        "Sure thing, Emmett! I'll check with the hardware store for you. One moment please.",
        "charles",
    ),
    Reply(
        RETURNED,
        "Hi Emmett! Your chainsaw repair will be ready by tomorrow afternoon. Thanks for "
        f"checking in.\n\n{_HOW}",
    ),
    Reply(
        "I want to order a carry out from my Thai restaurant.",
        "Sure thing, Emmett! I'll connect you with your favorite Thai restaurant.",
        "sukanya",
    ),
    Reply(
        RETURNED,
        _HOW,
    ),
    Reply(
        "How much does it cost to mail a 2 LB package to California?",
        "Hi Emmett! I can help with that. Let me connect you to the post office for accurate "
        "pricing.",
        "andrew",
    ),
    Reply(
        RETURNED,
        _HOW,
    ),
    Reply(
        "That's all I needed. Have a good day.",
        "Thank you, Emmett! Have a wonderful day!",
    ),
]
_PAT = [
    Reply(
        INVITED,
        "Hi Emmett! I’m Pat, your friendly florist. How can I help you with your flower selection "
        "today? Are you looking for something specific or need suggestions?",
    ),
    Reply(
        "Do you have any red Proteas?",
        "Hi Emmett! Yes, we do have red Proteas. They’re stunning and make a bold statement. "
        "Would you like to include them in your arrangement?",
    ),
    Reply(
        "Yes and add some eucalyptus in a clear vase, please.",
        "Great choice, Emmett! Red Proteas with eucalyptus in a clear vase will look stunning. "
        "Would you like to add any other flowers or accents?",
    ),
    Reply(
        "No that’s fine, send it to my home.",
        "Great choice, Emmett! Shall I use the credit card on file for this order?",
    ),
    Reply(
        "Yes use the card on file.",
        "Great choice, Emmett! Your red Proteas with eucalyptus in a clear vase will be sent to "
        "your home. Thanks for your order! Have a blooming day!",
        LEAVES,
    ),
]
_CHARLES = [
    Reply(
        INVITED,
        "Hi Emmett! How can I help you today? Need anything from the store or checking on a "
        "repair?",
    ),
    Reply(
        "I want to know if my chainsaw repair is finished.",
        "Hi Emmett! Let me check on that for you. Ah, yes, your chainsaw will be ready by "
        "tomorrow afternoon. Anything else I can help you with?",
    ),
    Reply(
        "No that's all Thanks. Goodbye.",
        None,
        LEAVES,
    ),
]
_SUKANYA = [
    Reply(
        INVITED,
        "Hello, Emmett! I'm Sukanya, the Restaurant Manager. How can I help you with your "
        "carryout order today? Our special of the day is Pad Thai with shrimp. Would you like to "
        "try it?",
    ),
    Reply(
        "Yes I'll take one order of the pad Thai with shrimp and make it spicy.",
        "Great choice, Emmett! Would you like to add our special appetizer of the day, crispy "
        "spring rolls?",
    ),
    Reply(
        "Yes add 2 spring rolls.",
        "Great choice, Emmett! Would you like to try our special of the day, Mango Sticky Rice "
        "for dessert? When would you like to pick up your order?",
    ),
    Reply(
        "No dessert today but I'd like to pick up my order in about an hour",
        "Got it, Emmett! One spicy shrimp Pad Thai and two spring rolls. Ready for pick-up in an "
        "hour. Thank you and see you soon!",
        LEAVES,
    ),
]
_ANDREW = [
    Reply(
        INVITED,
        "Hi Emmett! I'm Andrew, the Postmaster. How can I assist you with sending mail and "
        "packages through the United States Postal Service today?",
    ),
    Reply(
        "How much does a 2 LB package going to California cost?",
        "Hi Emmett! The cost depends on the shipping service you choose. For example, Priority "
        "Mail starts around $8.70. Rates can vary based on dimensions and delivery speed. Need "
        "more details?",
    ),
    Reply(
        "No that's good Thanks. Goodbye.",
        "Goodbye, Emmett.",
        LEAVES,
    ),
]

SMART_ERRANDS = Story(
    name="smart-errands",
    person="Emmett",
    host="cassandra",
    on_library="pat",
    agents={
        "cassandra": _CASSANDRA, "pat": _PAT, "charles": _CHARLES, "sukanya": _SUKANYA,
        "andrew": _ANDREW,
    },
)  # fmt: skip
