"""An Open Floor agent with rules, in a process of its own: `python -m tests.e2e.floor_peer RULES`.

RULES is JSON: `uri`, its speakerUri; `log`, the file that gets every envelope; `rules`, a list of
`{"on": WORDS or an event type, "events": [...], "hold": FILE}`: the first rule whose words are in
an utterance, or whose event is in the envelope, gives the answer, after FILE is there. An event
`{"say": TEXT}` is an utterance; `SPEAKER` stands for whoever sent the envelope's last utterance.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def texts_of(event: Any) -> str:
    said = event.get("parameters", {}).get("dialogEvent", {})
    tokens = said.get("features", {}).get("text", {}).get("tokens", [])
    return "".join(str(token.get("value", "")) for token in tokens)


def speaker_of(envelope: Any) -> str:
    said = [e["parameters"]["dialogEvent"] for e in envelope["events"] if texts_of(e)]
    return said[-1]["speakerUri"] if said else envelope["sender"].get("speakerUri", "")


class Peer:
    """Answers envelopes by its rules."""

    def __init__(self, rules: Any) -> None:
        self.uri, self.rules, self.log = rules["uri"], rules["rules"], Path(rules["log"])
        self.said = 0

    def answer(self, envelope: Any) -> Any:
        with self.log.open("a") as log:
            log.write(json.dumps(envelope) + "\n")
        words = " ".join(map(texts_of, envelope["events"]))
        kinds = [event["eventType"] for event in envelope["events"]]
        rule = next(
            (rule for rule in self.rules if rule["on"] in kinds or rule["on"] in words), None
        )
        if rule is not None and (hold := rule.get("hold")):
            while not Path(hold).exists():
                time.sleep(0.02)
        events = [self._event(event, envelope) for event in (rule or {}).get("events", [])]
        return {"openFloor": {
            "schema": {"version": "1.1.0"}, "conversation": {"id": envelope["conversation"]["id"]},
            "sender": {"speakerUri": self.uri}, "events": events,
        }}  # fmt: skip

    def _event(self, event: Any, envelope: Any) -> Any:
        event = json.loads(json.dumps(event).replace("SPEAKER", speaker_of(envelope)))
        if "say" not in event:
            return event
        self.said += 1
        said = {
            "id": f"{self.uri}/{self.said}", "speakerUri": self.uri,
            "span": {"startTime": "2026-01-05T10:00:00Z"},
            "features": {"text": {"mimeType": "text/plain", "tokens": [{"value": event["say"]}]}},
        }  # fmt: skip
        rest = {key: value for key, value in event.items() if key != "say"}
        return {"eventType": "utterance", "parameters": {"dialogEvent": said}, **rest}


def serve(rules: Any) -> None:
    peer = Peer(rules)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = json.dumps(peer.answer(json.loads(body)["openFloor"])).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


@asynccontextmanager
async def floor_peer(
    folder: Path, name: str, *rules: dict[str, Any]
) -> AsyncGenerator[tuple[str, Path]]:
    """An agent with these rules; yields its address and its log."""
    log = folder / f"{name}.log"
    log.touch()
    given = {"uri": f"tag:{name}.test,2026:1", "log": str(log), "rules": list(rules)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.e2e.floor_peer", json.dumps(given),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        port = int(await asyncio.wait_for(process.stdout.readline(), 30))
        yield f"http://127.0.0.1:{port}/of", log
    finally:
        process.kill()
        await process.wait()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
