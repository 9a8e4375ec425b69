"""Modals: their owners and stacks; how an app opens, pushes and updates them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from connectors.slack.sandbox.arguments import ApiError
from connectors.slack.sandbox.blocks import Faults, checked_view_blocks, need_shallow, refusal
from connectors.slack.sandbox.blocks.checks import (
    anything,
    boolean,
    one_of,
    shape,
    string,
)
from connectors.slack.sandbox.blocks.elements import plain
from connectors.slack.sandbox.blocks.walk import Control, controls
from connectors.slack.sandbox.state import App, Json
from connectors.slack.sandbox.values import State, state_of

TRIGGER_SECONDS = 3.0
MAX_STACKED = 3
MAX_BYTES = 250_000
_MAX_TRIGGERS = 10_000
_VIEW = shape(
    {"type": one_of("modal"), "title": plain(24), "blocks": anything},
    {
        "submit": plain(24), "close": plain(24), "private_metadata": string(3000),
        "callback_id": string(255), "external_id": string(255), "clear_on_close": boolean,
        "notify_on_close": boolean, "submit_disabled": boolean,
    },
)  # fmt: skip
_COPIED_MEMBERS = (
    "title", "submit", "close", "private_metadata", "callback_id", "external_id", "clear_on_close",
    "notify_on_close", "submit_disabled", "blocks",
)  # fmt: skip


@dataclass(slots=True)
class Trigger:
    """The right to open one modal for one person within three seconds."""

    app: App
    person: str
    until: float
    view: str | None = None  # the modal with the used element
    used: bool = False


@dataclass(slots=True, eq=False)
class View:
    """One modal of one person."""

    id: str
    app: App
    person: str
    body: Json
    hash: str
    root: str
    previous: str | None = None
    entered: State = field(default_factory=dict[str, dict[str, Json]])

    @property
    def controls(self) -> list[Control]:
        return list(controls(self.body["blocks"]))

    @property
    def external_id(self) -> str:
        return self.body.get("external_id") or ""


class Views:
    """All open modals; `knows_file` is passed to the checks of blocks."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._triggers: dict[str, Trigger] = {}
        self._stacks: dict[tuple[str, str], list[View]] = {}  # (team, person) -> bottom first

    def trigger(self, app: App, person: str, view: str | None = None) -> str:
        """A new trigger_id; very many replace the oldest."""
        own_id = f"{secrets.randbelow(10**13)}.{secrets.randbelow(10**13)}.{secrets.token_hex(16)}"
        self._triggers[own_id] = Trigger(app, person, self._now() + TRIGGER_SECONDS, view)
        while len(self._triggers) > _MAX_TRIGGERS:
            del self._triggers[next(iter(self._triggers))]
        return own_id

    def open(self, app: App, trigger_id: str, body: Json, faults: Faults) -> View:
        trigger = self._trigger(app, trigger_id)
        checked = self._checked(app, body, faults)
        trigger.used = True
        return self._add(app, trigger.person, checked, on=None)

    def push(self, app: App, trigger_id: str, body: Json, faults: Faults) -> View:
        """Put a view on top of the modal with the used element; a stack has at most three views."""
        trigger = self._trigger(app, trigger_id)
        checked = self._checked(app, body, faults)
        below = self.find(app, trigger.view or "")
        if below is None:
            raise ApiError("not_found")
        if len(self.stack(app.team, trigger.person)) >= MAX_STACKED:
            raise ApiError("push_limit_reached")
        trigger.used = True
        return self._add(app, trigger.person, checked, on=below)

    def update(
        self,
        app: App,
        view_id: str,
        external_id: str,
        expected_hash: str,
        body: Json,
        faults: Faults,
    ) -> View:
        view = self.find(app, view_id, external_id)
        if view is None:
            raise ApiError("not_found")
        if expected_hash and expected_hash != view.hash:
            raise ApiError("hash_conflict")
        return self.change(view, body, faults)

    def change(self, view: View, body: Json, faults: Faults) -> View:
        """Replace a view; entered values stay in the inputs that the new view also has."""
        view.body = self._checked(view.app, body, faults, instead_of=view)
        view.hash = self._new_hash()
        view.entered = {
            block: values
            for block, values in view.entered.items()
            if any(c.block_id == block and c.action_id in values for c in view.controls)
        }
        return view

    def put_on(self, below: View, body: Json, faults: Faults) -> View:
        """Push the view that an app returns for a submission."""
        if len(self.stack(below.app.team, below.person)) >= MAX_STACKED:
            raise ApiError("push_limit_reached")
        checked = self._checked(below.app, body, faults)
        return self._add(below.app, below.person, checked, on=below)

    def close(self, view: View, *, all_of_them: bool = False) -> list[View]:
        """Close a view, or its whole stack, and return the closed views."""
        stack = self._stacks[view.app.team, view.person]
        closed_views = list(stack) if all_of_them else [view]
        for closed in closed_views:
            stack.remove(closed)
        return closed_views

    def stack(self, team: str, person: str) -> list[View]:
        return list(self._stacks.get((team, person), ()))

    def find(self, app: App, view_id: str, external_id: str = "") -> View | None:
        for (team, _person), stack in self._stacks.items():
            for view in stack if team == app.team else ():
                named = view.id == view_id or (external_id and view.external_id == external_id)
                if named and view.app is app:
                    return view
        return None

    def _trigger(self, app: App, trigger_id: str) -> Trigger:
        trigger = self._triggers.get(trigger_id)
        if trigger is None or trigger.app is not app:
            raise ApiError("invalid_trigger_id")
        if trigger.used:
            raise ApiError("exchanged_trigger_id")
        if self._now() > trigger.until:
            raise ApiError("expired_trigger_id")
        return trigger

    def _checked(
        self, app: App, body: Json, faults: Faults, instead_of: View | None = None
    ) -> Json:
        need_shallow(body, "invalid_arguments", "/view")
        if len(orjson.dumps(body)) > MAX_BYTES:
            raise ApiError("view_too_large")
        faults.surface = "modal"
        _VIEW(body, "/view", faults)
        if faults.messages:
            raise refusal("invalid_arguments", faults.messages)
        checked = dict(body) | {"blocks": checked_view_blocks(body["blocks"], faults)}
        if not body.get("submit") and any(b["type"] == "input" for b in checked["blocks"]):
            complaints = ["missing required field: submit [json-pointer:/view]"]
            raise refusal("invalid_arguments", complaints)
        external = body.get("external_id")
        other = self.find(app, "", external) if external else None
        if other is not None and other is not instead_of:
            raise ApiError("duplicate_external_id")
        return checked

    def _add(self, app: App, person: str, body: Json, *, on: View | None) -> View:
        own_id = f"V0{secrets.token_hex(5).upper()}"
        view = View(
            own_id, app, person, body, self._new_hash(), root=on.root if on else own_id,
            previous=on.id if on else None,
        )  # fmt: skip
        stack = self._stacks.setdefault((app.team, person), [])
        if on is None:
            stack.clear()  # a new modal replaces the open stack
        stack.append(view)
        return view

    def _new_hash(self) -> str:
        return f"{int(self._now())}.{secrets.token_urlsafe(6)[:8]}"


def view_json(view: View) -> Json:
    """A view as in `views.*` answers and payloads."""
    body = view.body
    shape: Json = {"id": view.id, "team_id": view.app.team, "type": "modal"}
    shape |= {name: body.get(name) for name in _COPIED_MEMBERS}
    shape |= {
        "private_metadata": body.get("private_metadata") or "",
        "callback_id": body.get("callback_id") or "",
        "external_id": view.external_id,
        "clear_on_close": bool(body.get("clear_on_close")),
        "notify_on_close": bool(body.get("notify_on_close")),
        "submit_disabled": bool(body.get("submit_disabled")),
    }
    return shape | {
        "state": {"values": state_of(view.controls, view.entered)}, "hash": view.hash,
        "previous_view_id": view.previous, "root_view_id": view.root, "app_id": view.app.id,
        "app_installed_team_id": view.app.team, "bot_id": view.app.bot_id,
    }  # fmt: skip


def field_names(view: View) -> dict[str, str]:
    """The inputs of a modal: action_id -> label."""
    names: dict[str, Any] = {}
    for control in view.controls:
        if control.in_input:
            names[control.action_id] = control.words
    return names
