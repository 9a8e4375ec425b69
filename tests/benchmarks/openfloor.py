"""Own time of the bridge for each utterance, with many conversations at once.

`python -m tests.benchmarks.openfloor [CONVERSATIONS] [RATE]`: each conversation has a room of its
own with five agents that speak Open Floor, in another process; a peer speaks to them in turn over
`/openfloor/ROOM`, in all RATE utterances a second. The own time is what the peer waits, without
what the agent takes. Each answer must be the one to its own words.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.app.api.served import client, token_for
from tests.e2e.local_sandbox import Sandbox, local_sandbox, running

AGENTS = ("ann", "ben", "cat", "dan", "eve")
UTTERANCES = 20  # of each conversation


class Handler(BaseHTTPRequestHandler):
    """Repeats the last words under its own name, and says how many seconds that took."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        began = time.perf_counter()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))["openFloor"]
        said = [e for e in body["events"] if e["eventType"] == "utterance"][-1]
        tokens = said["parameters"]["dialogEvent"]["features"]["text"]["tokens"]
        words = "".join(token["value"] for token in tokens)
        took = time.perf_counter() - began
        text = f"{self.path.strip('/')} heard {words} in {took:.6f}"
        feature = {"mimeType": "text/plain", "tokens": [{"value": text}]}
        event = {"speakerUri": "tag:x,2026:a", "span": {}, "features": {"text": feature}}
        answer = {
            "schema": {"version": "1.1.0"}, "conversation": body["conversation"],
            "sender": {"speakerUri": "tag:x,2026:a"},
            "events": [{"eventType": "utterance", "parameters": {"dialogEvent": event}}],
        }  # fmt: skip
        content = json.dumps({"openFloor": answer}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def _serve(ports: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    ports.put(server.server_address[1])
    server.serve_forever()


async def measure(conversations: int, rate: float) -> None:
    """Print the own times, and whether any answer was another's."""
    ports: Any = multiprocessing.Queue()
    agents = multiprocessing.Process(target=_serve, args=(ports,), daemon=True)
    agents.start()
    port = await asyncio.to_thread(ports.get)
    with tempfile.TemporaryDirectory(prefix="uacs-benchmark-") as made:
        async with local_sandbox(channels=conversations, names=("slack",), limits=False) as local:
            settings = _settings(local, conversations, port, Path(made))
            async with running(local, settings) as (bridge, url):
                token = await token_for(
                    bridge.store, bridge.clock, "peer", role="human", rooms=("*",)
                )
                pause = conversations / rate
                async with AsyncExitStack() as stack:
                    peers = [  # made before the clock starts: each reads certificates
                        await stack.enter_async_context(client(url, token))
                        for _ in range(conversations)
                    ]
                    began, cpu = time.perf_counter(), time.process_time()
                    results = await asyncio.gather(
                        *(_converse(http, n, pause) for n, http in enumerate(peers))
                    )
                    took, spent = time.perf_counter() - began, time.process_time() - cpu
    agents.terminate()
    waits = [wait for own, _ in results for wait in own]
    mixed = sum(wrong for _, wrong in results)
    count = len(waits)
    print(f"{conversations} conversations of {len(AGENTS)} agents, {count / took:.1f} utterances/s")
    print(f"mixed up: {mixed}; CPU of bridge and sandbox: {1000 * spent / count:.1f} ms/utterance")
    for name, share in (("p50", 50), ("p95", 95), ("p99", 99)):
        print(f"{name}: {_at(waits, share):.1f} ms of own time")


def _settings(local: Sandbox, count: int, port: int, folder: Path) -> dict[str, Any]:
    first = local.platforms["slack"].world().places[0].workspace
    places = [p for p in local.platforms["slack"].world().places if p.workspace == first][:count]
    agents = {
        f"{name}{n}": {
            "kind": "openfloor", "url": f"http://127.0.0.1:{port}/{name}{n}",
            "private_addresses": True,
        }
        for n in range(count)
        for name in AGENTS
    }  # fmt: skip
    return {
        "accounts": {"slack": local.account("slack")},
        "store": {"path": str(folder / "bridge.sqlite3")},
        "web": {"host": "127.0.0.1", "port": 0},
        "agents": agents,
        "rooms": {
            f"room{n}": {
                "members": [
                    {"account": "slack", "workspace": place.workspace, "channel": place.channel}
                ],
                "agents": [{"agent": f"{agent}{n}"} for agent in AGENTS],
            }
            for n, place in enumerate(places)
        },
    }


async def _converse(http: httpx.AsyncClient, number: int, pause: float) -> tuple[list[float], int]:
    """Speak to the agents of a room in turn. Returns the own times in ms, and
    how many answers were not to these words."""
    waits: list[float] = []
    wrong = 0
    await asyncio.sleep(pause * (number % 50) / 50)
    for turn in range(UTTERANCES):
        agent = f"{AGENTS[turn % len(AGENTS)]}{number}"
        words = f"word-{number}-{turn}"
        began = time.perf_counter()
        answer = await http.post(f"/openfloor/room{number}", json=_said(number, agent, words))
        wait = time.perf_counter() - began
        heard = [text for text in _texts(answer.json()) if text.startswith(f"{agent} heard")]
        if len(heard) != 1 or words not in heard[0]:
            wrong += 1
        else:
            waits.append(1000 * (wait - float(heard[0].rpartition(" in ")[2])))
        await asyncio.sleep(max(0.0, pause - wait))
    return waits, wrong


def _said(number: int, agent: str, words: str) -> dict[str, Any]:
    feature = {"mimeType": "text/plain", "tokens": [{"value": words}]}
    event = {
        "id": words, "speakerUri": "tag:peer,2026:p", "span": {}, "features": {"text": feature},
    }  # fmt: skip
    to = {"speakerUri": f"tag:uacs-bridge.invalid,2026:agent:{agent}"}
    return {
        "openFloor": {
            "schema": {"version": "1.1.0"}, "conversation": {"id": f"c{number}"},
            "sender": {"speakerUri": "tag:peer,2026:p"},
            "events": [
                {"eventType": "utterance", "to": to, "parameters": {"dialogEvent": event}}
            ],
        }
    }  # fmt: skip


def _texts(envelope: Any) -> list[str]:
    return [
        "".join(
            token["value"] for token in e["parameters"]["dialogEvent"]["features"]["text"]["tokens"]
        )
        for e in envelope["openFloor"]["events"]
        if e["eventType"] == "utterance"
    ]


def _at(waits: Sequence[float], share: int) -> float:
    return statistics.quantiles(waits, n=100, method="inclusive")[share - 1]


if __name__ == "__main__":
    asyncio.run(
        measure(
            int(sys.argv[1]) if len(sys.argv) > 1 else 50,
            float(sys.argv[2]) if len(sys.argv) > 2 else 25.0,
        )
    )
