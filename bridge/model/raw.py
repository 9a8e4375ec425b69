"""What a platform handed over, before anybody has understood it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from bridge.model.receipts import Receipt
from bridge.model.refs import AccountId, ChannelRef, OperationId


class Echo(BaseModel):
    """A post of our own. Where the platform tells which: the operation, and the copy that stands
    there; it proves that the post arrived when its answer was lost. `bridge` is the id of the store
    of the bridge that posted it, where the post names one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: OperationId | None = None
    bridge: str = ""
    receipt: Receipt | None = None


class Raw(BaseModel):
    """One payload as it came, with just enough read from it to keep it in order and once.

    - `kind`: which decoder reads it ("event_callback", "MESSAGE_CREATE", "activity", "history").
    - `dedupe_key`: the platform's id of this delivery; the same key is taken once per account.
    - `order_key`: sorts the payloads of one channel as the platform ordered them; for message
      kinds it is also the catch-up cursor. Compared as text: pad what is a number.
    - `channel`: None for what belongs to no channel.
    - `echo`: surely a post of our own that came back: evidence, and no news; not kept.
    - `volatile`: worth something at this moment alone (somebody types); not kept.
    - `payload`: the platform's JSON without its credentials.
    - `credentials`: what stood at the decoder's credential paths (JSON pointer -> value); the
      store seals them and forgets them after `credentials_ttl` seconds.
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
