"""Messages that go through a connector as a lane sends them."""

from __future__ import annotations

import itertools
from typing import Any

from bridge.model import Byline, Delivery, EditMessage, MessageId, OperationId, PostMessage, Receipt
from bridge.model.refs import RoomId
from bridge.uacs import Actor, Message, TextPart
from connectors.irc.connector import IrcConnector
from tests.connectors.irc.conftest import Local

_numbers = itertools.count(1)


def delivery_of(
    connector: IrcConnector, local: Local, message: Message | str, *, name: str = "Ann",
    kind: type[PostMessage | EditMessage] = PostMessage, **more: Any,
) -> Delivery:  # fmt: skip
    """A delivery into the local channel."""
    if isinstance(message, str):
        message = Message(
            message_id=f"x:y:z:{next(_numbers)}", timestamp="2026-11-25T00:00:00.000Z",
            actor=Actor(id="x:y:ann", role="human", name=name),
            content=(TextPart(text=message),),
        )  # fmt: skip
    operation = kind(
        id=OperationId(f"op-{next(_numbers)}"), account=connector.account, channel=local.channel,
        room=RoomId("room"), message=MessageId(message.message_id), byline=Byline(name=name),
    )  # fmt: skip
    return Delivery(operation=operation, message=message, **more)


async def post(
    connector: IrcConnector, local: Local, message: Message | str, **more: Any
) -> list[Receipt]:
    """Encoded and sent."""
    calls = connector.encode(delivery_of(connector, local, message, **more)).calls
    return [await connector.send(call) for call in calls]
