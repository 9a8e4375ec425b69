"""The agent of a story that asks others behind the scenes, as a process that receives turns as any
webhook agent does, and calls the bridge's tools:
`python -m bridge.app.demo.stories.mediator STORY ADDRESSES` prints its port."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from typing import Any

from bridge.app.demo.stories.agent import serve
from bridge.app.demo.stories.all import STORIES
from bridge.app.demo.stories.story import Ask, Mediation

_Json = dict[str, Any]
_TOOLS = "agents__"  # the bridge's own server of tools


class Mediator:
    """Makes one call after another, and says what the last one brought."""

    def __init__(
        self, mediation: Mediation, in_room: Collection[str], addresses: Mapping[str, str]
    ) -> None:
        self._mediation = mediation
        self._addresses = {n: at for n, at in addresses.items() if n not in in_room}

    def answer(self, key: str, body: bytes) -> bytes:
        """Return the answer to one request of a turn: `TURN`, `TURN/1` ..."""
        results = [one["part"] for one in json.loads(body)["inputs"]
                   if one["type"] == "tool_result_given"]  # fmt: skip
        step = int(key.rpartition("/")[2]) if "/" in key else 0
        asks, parts = self._mediation.asks, list[_Json]()
        if step == 0:
            parts.append({"type": "text", "text": self._mediation.first})
        if step < len(asks):
            parts.append(self._call(step, asks[step]))
        else:
            answer = json.loads(results[-1]["content"])["answer"]
            parts.append({"type": "text", "text": self._mediation.last.format(answer=answer)})
        return json.dumps(parts).encode()

    def _call(self, step: int, ask: Ask) -> _Json:
        arguments: _Json = {"agent": self._addresses.get(ask.agent, ask.agent)}
        if ask.question:
            arguments["question"] = ask.question
        name = f"{_TOOLS}{ask.tool}"
        return {"type": "tool_call", "id": f"c{step}", "name": name, "arguments": arguments}


if __name__ == "__main__":
    story = STORIES[sys.argv[1]]
    if story.mediation is None:
        raise SystemExit(f"Nobody mediates in {story.name}")
    serve(Mediator(story.mediation, story.in_room, json.loads(sys.argv[2])))
