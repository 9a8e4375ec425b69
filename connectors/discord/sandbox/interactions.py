"""Interactions, from the user's action to the application's answers, with Discord's deadlines."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import orjson

from bridge.sandbox.faults import Faults
from connectors.discord.sandbox.checks import Form
from connectors.discord.sandbox.drafts import EPHEMERAL, Draft
from connectors.discord.sandbox.errors import (
    already_acknowledged,
    bad_webhook_token,
    unknown_interaction,
    unknown_message,
    unknown_webhook,
)
from connectors.discord.sandbox.gateway import Gateway
from connectors.discord.sandbox.interaction_shapes import interaction_json, metadata_json
from connectors.discord.sandbox.shapes import Json, message_json
from connectors.discord.sandbox.state import (
    App,
    Channel,
    Interaction,
    Message,
    MessageType,
    State,
    User,
)
from connectors.discord.sandbox.state_changes import StateChanges, reference_to
from connectors.discord.sandbox.text import USERS_ONLY, allowed_from, find_mentions

FIRST_ANSWER_S = 3.0
TOKEN_LASTS_S = 15 * 60
MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, MODAL = 4, 5, 6, 7, 9
LOADING = 1 << 7
_MAX_INTERACTIONS = 10_000


class InteractionDispatcher:
    """Sends interactions to applications; `deadline_s` is how long a user's client waits.

    Faults: `discord:interaction:<channel>` with `drop`, `delay` and `duplicate`.
    """

    def __init__(self, changes: StateChanges, gateway: Gateway, faults: Faults) -> None:
        self.deadline_s = FIRST_ANSWER_S
        self._changes = changes
        self._state: State = changes.state
        self._gateway = gateway
        self._faults = faults

    async def dispatch(
        self, kind: int, app: App, user: User, channel: Channel, data: Json, source: Message | None
    ) -> Interaction:
        """Send an interaction to the application and wait for its first answer or the deadline."""
        interaction = Interaction(
            id=self._state.ids.next(), token="aW" + secrets.token_urlsafe(90), kind=kind, app=app,
            user=user, channel=channel, data=data, created_at=self._state.now(),
            first_answer=asyncio.get_running_loop().create_future(), source=source,
        )  # fmt: skip
        interactions = self._state.interactions
        interactions[interaction.token] = interaction
        while len(interactions) > _MAX_INTERACTIONS:
            del interactions[next(iter(interactions))]
        payload = orjson.dumps(interaction_json(interaction, self._state))
        if await self._send(app, channel, payload):
            await asyncio.wait([interaction.first_answer], timeout=self.deadline_s)
        interaction.first_answer.cancel()
        return interaction

    async def _send(self, app: App, channel: Channel, payload: bytes) -> bool:
        """Send the payload; returns whether an answer may come."""
        fault_key = f"discord:interaction:{channel.id}"
        fault = self._faults.take(fault_key, "drop", "delay", "duplicate")
        if fault is not None and fault.kind == "drop":
            return True
        if fault is not None and fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        is_delivered = self._gateway.deliver_to_app(app, "INTERACTION_CREATE", payload)
        if fault is not None and fault.kind == "duplicate":
            self._gateway.deliver_to_app(app, "INTERACTION_CREATE", payload)
        return is_delivered


class InteractionAnswers:
    """The answers of applications; the routes call it."""

    def __init__(self, changes: StateChanges) -> None:
        self._changes = changes
        self._state: State = changes.state

    def of(self, interaction_id: int, token: str) -> Interaction:
        """Return the interaction that waits for its first answer; raises ApiError."""
        interaction = self._state.interactions.get(token)
        if interaction is None or interaction.id != interaction_id:
            raise unknown_interaction()
        if interaction.answer is not None:
            raise already_acknowledged()
        if interaction.first_answer.cancelled():  # the client already showed a failure
            raise unknown_interaction()
        return interaction

    def hook(self, app_id: int, token: str) -> Interaction | None:
        """Return the interaction of a webhook address; None if it is a real webhook's."""
        if not any(app.id == app_id for app in self._state.apps.values()):
            return None
        interaction = self._state.interactions.get(token)
        if interaction is None or interaction.app.id != app_id:
            raise bad_webhook_token()
        if self._state.now() - interaction.created_at > TOKEN_LASTS_S:
            raise bad_webhook_token()
        if interaction.answer is None:
            raise unknown_webhook()
        return interaction

    def settle(self, interaction: Interaction, kind: int) -> None:
        interaction.answer = kind
        if not interaction.first_answer.done():
            interaction.first_answer.set_result(kind)

    def post(self, interaction: Interaction, draft: Draft, *, loading: bool = False) -> Message:
        """Post an answer: to the channel, or with EPHEMERAL to the user alone."""
        message = self._changes.compose(interaction.channel, interaction.app.user, draft)
        message.webhook_id = message.application_id = interaction.app.id
        message.interaction = metadata_json(interaction)
        source = interaction.source
        if source is not None and source.audience is None:
            message.type = MessageType.REPLY
            message.reference = reference_to(source)
        message.flags |= LOADING if loading else 0
        find_mentions(message, self._state, allowed_from(draft.allowed_mentions, USERS_ONLY))
        if (draft.flags or 0) & EPHEMERAL:
            self._changes.whisper(message, interaction.user.id)
        else:
            self._changes.publish(message)
        return message

    def complete(self, interaction: Interaction, draft: Draft) -> Json:
        """Put the draft's content into the "thinking" message."""
        message = self.original(interaction)
        interaction.loading = False
        message.flags &= ~LOADING
        return self.change(message, draft)

    def change(self, message: Message, draft: Draft) -> Json:
        return self._changes.edit(message, draft, allowed_from(draft.allowed_mentions, USERS_ONLY))

    def original(self, interaction: Interaction) -> Message:
        """Return `@original`: the answer, or the updated message with the component."""
        message = interaction.original
        if message is None or not self._exists(message):
            raise unknown_message()
        return message

    def followup(self, interaction: Interaction, message_id: int) -> Message:
        original = interaction.original
        if original is not None and original.id == message_id:
            return self.original(interaction)
        message = interaction.followups.get(message_id)
        if message is None or not self._exists(message):
            raise unknown_message()
        return message

    def delete(self, message: Message) -> None:
        self._changes.delete(message)

    def json(self, message: Message) -> Json:
        return message_json(message, self._state)

    def _exists(self, message: Message) -> bool:
        if message.audience is not None:
            return message.id in self._state.whispers
        return message.id in message.channel.messages


def data_form(body: Form) -> Form:
    """Return the `data` of a callback as a form of its own."""
    data: Any = body.body.get("data")
    return Form({} if data is None else data)
