"""A platform's payload before it is decoded."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from bridge.model.receipts import Receipt
from bridge.model.refs import AccountId, ChannelRef, OperationId


class Echo(BaseModel):
    """One of our own posts that came back.

    It may name the operation and the copy, which proves that the post arrived although its answer
    was lost. `bridge` is the id of the store of the bridge that posted it, if the post names one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: OperationId | None = None
    bridge: str = ""
    receipt: Receipt | None = None


class Raw(BaseModel):
    """One payload as it arrived, with just enough metadata to store it once and in order.

    - `kind`: the decoder that reads it ("event_callback", "MESSAGE_CREATE", "activity", "history").
    - `dedupe_key`: the platform's id of this delivery; an account accepts each key once.
    - `order_key`: orders the payloads of one channel as the platform does; for messages it is also
      the catch-up cursor. Compared as text: pad numbers.
    - `channel`: None for a payload of no channel.
    - `echo`: it is certainly one of our own posts: evidence, and not stored.
    - `volatile`: only useful at this moment (a person types); not stored.
    - `payload`: the platform's JSON without its credentials.
    - `credentials`: the values at the decoder's credential paths (JSON pointer -> value); the store
      seals them and deletes them after `credentials_ttl` seconds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    account: AccountId
    kind: str
    dedupe_key: str
    order_key: str
    channel: ChannelRef | None = None
    echo: Echo | None = None
    volatile: bool = False
    payload: bytes
    credentials: dict[str, str] = {}
    credentials_ttl: float = 1800.0
