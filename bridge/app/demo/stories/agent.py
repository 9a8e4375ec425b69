"""One agent of a story as a process that speaks Open Floor 1.1.0 and knows nothing of the bridge:
`python -m bridge.app.demo.stories.agent STORY NAME ADDRESSES` prints its port."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Protocol

from bridge.app.demo.stories.all import STORIES
from bridge.app.demo.stories.story import INVITED, LEAVES, RETURNED, Reply, Story

_Json = dict[str, Any]


class StoryAgent:
    """Knows how far each conversation has come. A request that is repeated is answered again."""

    def __init__(self, story: Story, name: str, addresses: Mapping[str, str]) -> None:
        self._story, self.name = story, name
        self._replies = story.agents[name]
        self.uri = f"tag:{name}.example,2026:1"
        self._addresses = addresses
        self._places: dict[str, int] = {}
        self._answers: dict[str, bytes] = {}
        self._lock = Lock()

    def answer(self, key: str, body: bytes) -> bytes:
        """Return the envelope that answers one."""
        with self._lock:
            if key not in self._answers:
                self._answers[key] = self._answered(json.loads(body)["openFloor"])
            return self._answers[key]

    def _answered(self, asked: _Json) -> bytes:
        conversation = asked["conversation"]["id"]
        kinds = [event["eventType"] for event in asked["events"]]
        events: list[_Json] = [{"eventType": "acceptInvite"}] if "invite" in kinds else []
        if "getManifests" in kinds:
            return self._envelope(conversation, [_published([self._manifest(self.name)])])
        reply = self.following(conversation, heard_in(asked["events"]))
        events += self._reply(reply.says, reply.then)
        if reply.proposes:
            events.append(_published([*map(self._manifest, reply.proposes), *self._others()]))
        return self._envelope(conversation, events)

    def following(self, conversation: str, heard: str) -> Reply:
        """Return the reply to what the agent heard in a conversation, and go on to the next."""
        at = self._places.get(conversation, 0)
        if at == len(self._replies) or heard != self._replies[at].heard:
            return Reply(heard, "I have no line for this.")
        self._places[conversation] = at + 1
        return self._replies[at]

    def _envelope(self, conversation: str, events: list[_Json]) -> bytes:
        inner = {
            "schema": {"version": "1.1.0"}, "conversation": {"id": conversation},
            "sender": {"speakerUri": self.uri}, "events": events,
        }  # fmt: skip
        return json.dumps({"openFloor": inner}).encode()

    def _manifest(self, name: str) -> _Json:
        own = dict(self._story.manifests.get(name, {}))
        keyphrases = own.pop("keyphrases", [])
        identification = {
            "speakerUri": f"tag:{name}.example,2026:1", "serviceUrl": self._addresses.get(name, ""),
            "organization": "Story", "conversationalName": name, "synopsis": "", **own,
        }  # fmt: skip
        capability = {"keyphrases": keyphrases, "descriptions": []}
        return {"identification": identification, "capabilities": [capability]}

    def _others(self) -> list[_Json]:
        return [
            {
                "identification": {
                    "speakerUri": url, "serviceUrl": url, "organization": "Story",
                    "conversationalName": name, "synopsis": "",
                },
                "capabilities": [],
            }
            for name, url in self._story.others
        ]  # fmt: skip

    def _reply(self, says: str | None, then: str | None) -> list[_Json]:
        events: list[_Json] = []
        if says is not None:
            feature = {"mimeType": "text/plain", "tokens": [{"value": says}]}
            said = {"speakerUri": self.uri, "span": {}, "features": {"text": feature}}
            events.append({"eventType": "utterance", "parameters": {"dialogEvent": said}})
        if then == LEAVES:
            events.append({"eventType": "bye"})
        elif then is not None:
            events.append({"eventType": "invite", "to": {"serviceUrl": self._addresses[then]}})
        return events


def heard_in(events: list[_Json]) -> str:
    """Return what the agent was told: a good-bye of another, words, or the invitation alone."""
    if any(event["eventType"] == "bye" for event in events):
        return RETURNED
    for event in events:
        if event["eventType"] == "utterance":
            tokens = event["parameters"]["dialogEvent"]["features"]["text"]["tokens"]
            return "".join(token["value"] for token in tokens)
    return INVITED


def _published(manifests: list[_Json]) -> _Json:
    parameters = {"servicingManifests": manifests}
    return {"eventType": "publishManifests", "parameters": parameters}


class Answers(Protocol):
    """Answers requests, each named by a key."""

    def answer(self, key: str, body: bytes) -> bytes: ...


def serve(agent: Answers) -> None:
    """Serve the agent on a free port of this machine, which is printed, until the process ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = agent.answer(self.headers["idempotency-key"] or "", body)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing: the bridge logs what it asks."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)  # noqa: T201 - whoever started it reads the port
    server.serve_forever()


if __name__ == "__main__":
    serve(StoryAgent(STORIES[sys.argv[1]], sys.argv[2], json.loads(sys.argv[3])))
