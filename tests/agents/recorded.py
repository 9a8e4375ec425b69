"""Recorded traffic of model APIs (`UACS_CORPUS`/llm): requests, responses and streams by API."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

_FIRST = ("message_start", "response.created")
Kind = Literal["request", "response", "stream"]


@dataclass(frozen=True)
class Recording:
    """One body, or the events of one stream. `status` is that of the answer."""

    file: str
    api: str
    kind: Kind
    body: Any
    status: int = 200

    @property
    def name(self) -> str:
        return f"{self.api} {self.kind} {self.file}"


def recordings() -> list[Recording]:
    """Everything that one of our four APIs covers; empty without the corpus."""
    folder = os.environ.get("UACS_CORPUS")
    if not folder:
        return []
    return [
        recording
        for path in sorted((Path(folder) / "llm").iterdir())
        for recording in _of_file(path)
    ]


def uncovered() -> list[str]:
    """Files in which none of our four APIs speaks."""
    folder = os.environ.get("UACS_CORPUS") or "."
    return [
        path.name for path in sorted((Path(folder) / "llm").iterdir()) if not list(_of_file(path))
    ]


def _of_file(path: Path) -> Iterator[Recording]:
    if path.suffix == ".json":
        parsed = json.loads(path.read_text("utf-8"))
        if isinstance(parsed, dict) and "interactions" in parsed:
            for number, interaction in enumerate(parsed["interactions"]):
                yield from _interaction(f"{path.name}#{number}", interaction)
        elif api := _api_of_body(parsed):
            yield Recording(path.name, api, "response", parsed)
    else:
        lines = path.read_text("utf-8").splitlines()
        data = [line.removeprefix("data:").strip() for line in lines if line.strip()]
        events = [json.loads(one) for one in data if one and one[0] == "{"]
        if events and (api := _api_of_event(events[0])):
            for number, stream in enumerate(_streams(events)):
                yield Recording(f"{path.name}#{number}", api, "stream", stream)


def _streams(events: list[Any]) -> list[list[Any]]:
    """Some files hold the streams of several answers, one after another."""
    starts = [n for n, one in enumerate(events) if one.get("type") in _FIRST]
    bounds = [*(starts or [0]), len(events)]
    return [events[start:end] for start, end in pairwise(bounds)]


def _interaction(name: str, one: Any) -> Iterator[Recording]:
    request, answer = one["request"], one["response"]
    api = _api_of_request(request.get("json"))
    if api is None or "count_tokens" in request["uri"]:
        return
    status = answer.get("status", 200)
    yield Recording(name, api, "request", request["json"], status)
    if answer.get("sse"):
        lines = re.findall(r"^data: ?(.*)$", answer["sse"], re.MULTILINE)
        events = [json.loads(line) for line in lines if line.startswith("{")]
        yield Recording(name, api, "stream", events, status)
    elif isinstance(answer.get("json"), dict):
        yield Recording(name, api, "response", answer["json"], status)


def _api_of_request(body: Any) -> str | None:
    if not isinstance(body, dict):
        return None
    if "contents" in body:
        return "gemini"
    if "input" in body and "model" in body:
        return "openai-responses"
    if "messages" not in body or "inferenceConfig" in body or "model" not in body:
        return None
    return "anthropic" if _is_anthropic(body) else "openai-chat"


def _is_anthropic(body: Any) -> bool:
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if isinstance(block, dict)
    ]
    own = {"tool_use", "tool_result", "document", "server_tool_use"}
    return (
        "system" in body
        or any(block.get("type") in own for block in blocks)
        or any("input_schema" in tool for tool in body.get("tools") or ())
        or str(body["model"]).startswith("claude")
    )


def _api_of_body(body: Any) -> str | None:
    if not isinstance(body, dict):
        return None
    if body.get("object") == "response" or ("output" in body and "created_at" in body):
        return "openai-responses"
    if body.get("type") == "message" and "stop_reason" in body:
        return "anthropic"
    if "candidates" in body:
        return "gemini"
    if "choices" in body and "message" in body["choices"][0]:
        return "openai-chat"
    return None


def _api_of_event(event: Any) -> str | None:
    kind = str(event.get("type", ""))
    if kind.startswith("response."):
        return "openai-responses"
    if kind == "message_start":
        return "anthropic"
    if "candidates" in event:
        return "gemini"
    if event.get("object") == "chat.completion.chunk":
        return "openai-chat"
    return None
