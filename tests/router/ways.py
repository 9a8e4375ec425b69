"""Traces the way of one message through the router: which files it passes, in which order.

A file of `bridge/router` is a *step* of a way where a coroutine of it runs for the message: the
message waits there, is decided there, or goes on from there. All other files that run are *asked*:
the folders `rooms` and `runtime`, which hold what rooms and people are, records, and files whose
functions answer at once. Files below the router (content, model, store) are not counted.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import bridge

# Each way: its first words in the page, and its steps in the order in which a reader meets them.
SEND = (
    "From the lane to the request",
    (
        ("outbound/lane.py", "decides the next step of the lane's oldest operation"),
        ("outbound/send.py", "lists the steps of a send, and makes the calls"),
        ("outbound/encoding.py", "turns the delivery into calls"),
        ("outbound/presentation.py", "dresses the message as its room and channel want it"),
        ("outbound/references.py", "finds the counterparts of mentions and links, if it has any"),
        ("outbound/rate_limits.py", "gives permission"),
    ),
)
EVENT = (
    "From the socket to the rows of the outbox",
    (
        ("inbox.py", "takes the payload; the platform gets its acknowledgement from here"),
        ("inbound/fast_path.py", "decodes a message whose channel is idle, before it is stored"),
        ("inbound/processor.py", "has it planned, and stores it with what the stages plan"),
        ("inbound/pipeline.py", "lists the stages"),
        ("inbound/echoes.py", "ends repeats and echoes of our own posts"),
        ("inbound/addressed.py", "answers direct messages, commands and pairing codes"),
        ("inbound/admission.py", "decides into which rooms the event comes"),
        ("inbound/routing.py", "names the author, places the message, plans posts and turns"),
        ("turns/selection.py", "chooses the agents that answer, in rooms with agents"),
    ),
)
ROW = (
    "The same for all other events",
    (
        ("inbox.py", "stores the payload before the platform gets its acknowledgement"),
        ("inbound/fast_path.py", "lets earlier messages of the channel go first"),
        ("inbound/queues.py", "keeps the order of the channel"),
        ("inbound/processor.py", "decodes the row, and commits what the stages plan"),
        ("inbound/pipeline.py", "lists the stages"),
        ("inbound/echoes.py", "ends repeats and echoes of our own posts"),
        ("inbound/addressed.py", "answers direct messages, commands and pairing codes"),
        ("inbound/admission.py", "decides into which rooms the event comes"),
        ("inbound/routing.py", "names the author, places the message, plans posts and turns"),
        ("inbound/attachments.py", "fetches the files of a message that has some"),
    ),
)
TURN = (
    "From the question to the agent's answer in the outbox",
    (
        ("turns/queue.py", "takes the turns of a session one after the other"),
        ("turns/admission.py", "decides whether the turn may begin"),
        ("turns/access.py", "knows who may reach the agent"),
        ("turns/quotas.py", "counts what the turn may cost"),
        ("turns/runner.py", "lists the steps of a turn, and reads the agent's events"),
        ("turns/tools.py", "offers tools, and calls them"),
        ("turns/history.py", "reads the room for the agent"),
        ("outbound/streams.py", "shows an answer that takes long while it grows"),
        ("turns/follow_ups.py", "queues the turns that the answer calls"),
        ("turns/publisher.py", "keeps the answer, and queues the posts that show it"),
    ),
)

ROOT = Path(bridge.__file__).parents[1]
ROUTER = "bridge/router/"
ASKED = ("rooms/", "runtime/", "signals.py")
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Frames = Callable[[FrameType], bool]


@dataclass
class Way:
    """What was traced of one way.

    - `tasks`: the coroutines whose tasks belong to the way. With a `name`, the way is the first of
      these tasks whose name begins so.
    - `begins`, `ends`: whether the way begins, or ends, with this frame.
    - `steps`: the files of steps, in the order in which the way first enters them.
    - `returns`: the files that it enters again after it went on to another.
    - `backwards`: the calls from a step to one before it.
    - `asked`: the other files of the router that run.
    - `connector`: the steps in the connector, which are those files of it that coroutines run in.
    """

    tasks: tuple[str, ...]
    begins: Frames
    ends: Frames
    name: str = ""
    steps: list[str] = field(default_factory=list[str])
    returns: list[str] = field(default_factory=list[str])
    asked: set[str] = field(default_factory=set[str])
    connector: list[str] = field(default_factory=list[str])
    is_over: bool = False
    _began: bool = False
    _task: asyncio.Task[object] | None = None
    _last: str = ""
    _before: set[FrameType] = field(default_factory=set[FrameType])
    _frames: set[FrameType] = field(default_factory=set[FrameType])
    _calls: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    @property
    def backwards(self) -> set[tuple[str, str]]:
        index = self.steps.index
        return {(caller, file) for caller, file in self._calls if index(caller) > index(file)}

    @contextmanager
    def traced(self) -> Generator[None]:
        """Trace what happens inside this context."""
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            self._frames.clear()
            self._before.clear()

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or self.is_over or not self._is_of_way():
            return
        if not self._began and not self.begins(frame):
            self._before.add(frame)  # a frame calls again whenever its coroutine goes on
            return
        if not self._began:
            self._began = True
            self._task = asyncio.current_task() if self.name else None
        if self._task not in (None, asyncio.current_task()):
            return
        self.is_over = self.ends(frame)
        if not self.is_over and frame not in self._frames | self._before:
            self._note_file(frame, path_of(frame))

    def _note_file(self, frame: FrameType, path: str) -> None:
        is_coroutine = bool(frame.f_code.co_flags & _COROUTINE)
        if path.startswith("connectors/") and is_coroutine and path not in self.connector:
            self.connector.append(path)
        file = path.removeprefix(ROUTER)
        if _is_step(frame):
            self._note_step(frame, file)
        elif path.startswith(ROUTER):
            self.asked.add(file)

    def _note_step(self, frame: FrameType, file: str) -> None:
        caller = frame.f_back
        while caller is not None and caller not in self._frames:
            caller = caller.f_back
        self._frames.add(frame)
        came_from = "" if caller is None else path_of(caller).removeprefix(ROUTER)
        if came_from == file:
            return  # the file goes on by itself
        if file not in self.steps:
            self.steps.append(file)
        elif file != self._last:
            self.returns.append(file)
        self._last = file
        if came_from:
            self._calls.add((came_from, file))

    def _is_of_way(self) -> bool:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            return False
        coroutine = task and task.get_coro()
        is_among = getattr(coroutine, "__qualname__", "") in self.tasks
        return task is not None and is_among and task.get_name().startswith(self.name)


def path_of(frame: FrameType) -> str:
    """The path of the frame's file within this repository; empty for files elsewhere."""
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""


def _is_step(frame: FrameType) -> bool:
    path = path_of(frame)
    if not path.startswith(ROUTER) or path.removeprefix(ROUTER).startswith(ASKED):
        return False
    return bool(frame.f_code.co_flags & _COROUTINE)


def enters(path: str, *functions: str) -> Frames:
    """Whether a frame is one of these functions of the files whose path begins so."""
    return lambda frame: frame.f_code.co_name in functions and path_of(frame).startswith(path)


def page_section() -> str:
    """The section of docs/one-message.md that names the files of each way."""
    lines = [
        "## The files",
        "",
        "Each way in `bridge/router` passes at most ten files, in one direction. It comes back",
        "only to the file that lists its steps. Files that are merely asked, such as those of",
        "`rooms/`, are not in the lists. An answer that is shown while it grows enters",
        "`publisher.py` twice: for its first words, and when it is whole.",
        "`tests/router/test_ways.py` traces real messages and holds these lists true.",
    ]
    for title, steps in (EVENT, ROW, SEND, TURN):
        lines += ["", f"### {title}", ""]
        lines += [f"{n}. `{file}` {what}" for n, (file, what) in enumerate(steps, 1)]
    return "\n".join(lines) + "\n"
