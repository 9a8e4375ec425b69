"""The agents of Smart Errands as processes that speak Open Floor and know nothing of the bridge:
`python -m tests.e2e.story_agents NAME URLS` prints its port. They say what the paper has them say.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOW = "Hi Emmett! How can I assist you today?"
CASSANDRA = [
    ("Hi Cassandra.", HOW, None),
    ("I do need to order some flowers for my wife’s birthday.",
     "Sure thing, Emmett! I’ll connect you with the local florist shop.", "pat"),
    ("bye", HOW, None),
    ("I need to check with the hardware store to see if my chainsaw repair is finished.",
     "Sure thing, Emmett! I'll check with the hardware store for you. One moment please.",
     "charles"),
    ("bye", "Hi Emmett! Your chainsaw repair will be ready by tomorrow afternoon. "
     f"Thanks for checking in.\n\n{HOW}", None),
    ("I want to order a carry out from my Thai restaurant.",
     "Sure thing, Emmett! I'll connect you with your favorite Thai restaurant.", "sukanya"),
    ("bye", HOW, None),
    ("How much does it cost to mail a 2 LB package to California?",
     "Hi Emmett! I can help with that. Let me connect you to the post office for accurate pricing.",
     "andrew"),
    ("bye", HOW, None),
    ("That's all I needed. Have a good day.", "Thank you, Emmett! Have a wonderful day!", None),
]  # fmt: skip
PAT = [
    ("invite", "Hi Emmett! I’m Pat, your friendly florist. How can I help you with your flower "
     "selection today? Are you looking for something specific or need suggestions?", None),
    ("Do you have any red Proteas?",
     "Hi Emmett! Yes, we do have red Proteas. They’re stunning and make a bold statement. Would "
     "you like to include them in your arrangement?", None),
    ("Yes and add some eucalyptus in a clear vase, please.",
     "Great choice, Emmett! Red Proteas with eucalyptus in a clear vase will look stunning. Would "
     "you like to add any other flowers or accents?", None),
    ("No that’s fine, send it to my home.",
     "Great choice, Emmett! Shall I use the credit card on file for this order?", None),
    ("Yes use the card on file.",
     "Great choice, Emmett! Your red Proteas with eucalyptus in a clear vase will be sent to your "
     "home. Thanks for your order! Have a blooming day!", "bye"),
]  # fmt: skip
CHARLES = [
    ("invite", "Hi Emmett! How can I help you today? Need anything from the store or checking on "
     "a repair?", None),
    ("I want to know if my chainsaw repair is finished.",
     "Hi Emmett! Let me check on that for you. Ah, yes, your chainsaw will be ready by tomorrow "
     "afternoon. Anything else I can help you with?", None),
    ("No that's all Thanks. Goodbye.", None, "bye"),
]  # fmt: skip
SUKANYA = [
    ("invite", "Hello, Emmett! I'm Sukanya, the Restaurant Manager. How can I help you with your "
     "carryout order today? Our special of the day is Pad Thai with shrimp. Would you like to try "
     "it?", None),
    ("Yes I'll take one order of the pad Thai with shrimp and make it spicy.",
     "Great choice, Emmett! Would you like to add our special appetizer of the day, crispy spring "
     "rolls?", None),
    ("Yes add 2 spring rolls.",
     "Great choice, Emmett! Would you like to try our special of the day, Mango Sticky Rice for "
     "dessert? When would you like to pick up your order?", None),
    ("No dessert today but I'd like to pick up my order in about an hour",
     "Got it, Emmett! One spicy shrimp Pad Thai and two spring rolls. Ready for pick-up in an "
     "hour. Thank you and see you soon!", "bye"),
]  # fmt: skip
ANDREW = [
    ("invite", "Hi Emmett! I'm Andrew, the Postmaster. How can I assist you with sending mail and "
     "packages through the United States Postal Service today?", None),
    ("How much does a 2 LB package going to California cost?",
     "Hi Emmett! The cost depends on the shipping service you choose. For example, Priority Mail "
     "starts around $8.70. Rates can vary based on dimensions and delivery speed. Need more "
     "details?", None),
    ("No that's good Thanks. Goodbye.", "Goodbye, Emmett.", "bye"),
]  # fmt: skip
STORIES = {
    "cassandra": CASSANDRA, "pat": PAT, "charles": CHARLES, "sukanya": SUKANYA, "andrew": ANDREW,
}  # fmt: skip


def dialogue(errands: int = 4) -> list[tuple[str, str]]:
    """Who says what, in order, as the paper has it: the first `errands`, or all to the end."""
    said: list[tuple[str, str]] = []
    done = 0
    for heard, text, then in CASSANDRA:
        if done == errands < 4 and heard != "bye":
            break
        said += [("Emmett", heard)] if heard != "bye" else []
        said.append(("cassandra", text or ""))
        for other_heard, other_text, _ in STORIES.get(then or "", []):
            said += [("Emmett", other_heard)] if other_heard != "invite" else []
            said += [(then or "", other_text)] if other_text else []
        done += then is not None
    return said


class Handler(BaseHTTPRequestHandler):
    """Each conversation is a place in the story."""

    name = ""
    urls: dict[str, str] = {}  # noqa: RUF012
    places: dict[str, int] = {}  # noqa: RUF012
    answers: dict[str, bytes] = {}  # noqa: RUF012  # a request that is repeated is answered again

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["openFloor"]
        key = self.headers["idempotency-key"]
        if key not in self.answers:
            self.answers[key] = self._answer(asked)
        body = self.answers[key]
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, asked: Any) -> bytes:
        own = {
            "speakerUri": f"tag:{self.name}.test,2026:1",
            "serviceUrl": self.urls.get(self.name, ""),
        }
        events: list[Any] = []
        conversation = asked["conversation"]["id"]
        kinds = [event["eventType"] for event in asked["events"]]
        if "invite" in kinds:
            events.append({"eventType": "acceptInvite"})
        heard = _heard(asked["events"])
        at = self.places.get(conversation, 0)
        story = STORIES[self.name]
        if at < len(story) and heard in (story[at][0], f"bye {story[at][0]}"):
            self.places[conversation] = at + 1
            events += self._says(*story[at][1:], own)
        else:
            events += self._says(f"I did not expect {heard!r}", None, own)
        inner = {
            "schema": {"version": "1.1.0"}, "conversation": {"id": conversation}, "sender": own,
            "events": events,
        }  # fmt: skip
        return json.dumps({"openFloor": inner}).encode()

    def _says(self, text: str | None, then: str | None, own: dict[str, str]) -> list[Any]:
        events: list[Any] = []
        if text is not None:
            said = {
                "speakerUri": own["speakerUri"], "span": {"startTime": "2026-01-05T10:00:00Z"},
                "features": {"text": {"mimeType": "text/plain", "tokens": [{"value": text}]}},
            }  # fmt: skip
            events.append({"eventType": "utterance", "parameters": {"dialogEvent": said}})
        if then == "bye":
            events.append({"eventType": "bye"})
        elif then is not None:
            events.append({"eventType": "invite", "to": {"serviceUrl": self.urls[then]}})
        return events

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


def _heard(events: list[Any]) -> str:
    """What the agent was told: a good-bye of another, words, or the invitation alone."""
    if any(event["eventType"] == "bye" for event in events):
        return "bye"
    for event in events:
        if event["eventType"] == "utterance":
            tokens = event["parameters"]["dialogEvent"]["features"]["text"]["tokens"]
            return "".join(token["value"] for token in tokens)
    return "invite"


if __name__ == "__main__":
    Handler.name = sys.argv[1]
    Handler.urls = json.loads(sys.argv[2])
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
