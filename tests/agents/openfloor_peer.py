"""An agent of the published `openfloor` library as a process of its own:
`python -m tests.agents.openfloor_peer PORT`. It greets, repeats what it is told, and says good-bye
to whoever says it."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any

of: Any = import_module("openfloor")  # it has no types


class Repeating(of.BotAgent):
    """One conversation's agent."""

    def bot_on_utterance(self, event: Any, in_envelope: Any, out_envelope: Any) -> None:
        tokens = event.parameters["dialogEvent"]["features"]["text"]["tokens"]
        text = "".join(token["value"] for token in tokens)
        feature = of.TextFeature(values=[f"You said: {text}"])
        said = of.DialogEvent(speakerUri=self.speakerUri, features={"text": feature})
        out_envelope.events.append(of.UtteranceEvent(dialogEvent=said))
        if "good-bye" in text:
            out_envelope.events.append(of.ByeEvent(reason="@complete"))


def manifest(url: str) -> Any:
    return of.Manifest(
        identification=of.Identification(
            speakerUri="tag:repeater.test,2026:1", serviceUrl=url, organization="Tests",
            conversationalName="Repeater", synopsis="Repeats what it is told",
        ),
        capabilities=[
            of.Capability(
                keyphrases=["repeat"], languages=["en"], descriptions=["repeats"],
                supportedLayers=of.SupportedLayers(input=["text"], output=["text"]),
            )
        ],
    )  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """Posts of envelopes; an agent for each conversation, since the library knows one."""

    agents: dict[str, Repeating] = {}  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        envelope = of.Envelope.from_json(body, as_payload=True)
        url = f"http://{self.headers['host']}{self.path}"
        agent = self.agents.setdefault(envelope.conversation.id, Repeating(manifest(url)))
        answer = agent.process_envelope(envelope).to_json(as_payload=True).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], file=sys.stderr, flush=True)
    server.serve_forever()
