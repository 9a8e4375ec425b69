"""The hash chain of the archive: what a verification finds."""

from __future__ import annotations

from dataclasses import dataclass, field

CHAIN_VERSION = 1  # of the way in which links are made


@dataclass(frozen=True)
class ChainHead:
    """The newest link of a conversation's chain: its number, from 1, and its hash (SHA-256,
    hexadecimal)."""

    links: int
    hash: str


@dataclass(frozen=True)
class ChainFault:
    """A place where the archive is not what the chain says.

    - `conversation`: the id of the Conversation.
    - `link`: the number of the link; 0 if it concerns no single one.
    - `message`: a message id; "" if it concerns no single one.
    - `what`: what is wrong, for people.
    """

    conversation: str
    link: int
    message: str
    what: str


@dataclass
class ChainReport:
    """The result of a verification.

    - `links`: how many were examined; `messages`: whose content was compared.
    - `erased`: links whose content was erased; `payloads_gone`: payloads that are not kept now.
    - `faults`: the first ones found; `fault_count`: how many there are.
    - `heads`: the newest link of each conversation, by its id.
    """

    links: int = 0
    messages: int = 0
    erased: int = 0
    payloads_gone: int = 0
    fault_count: int = 0
    faults: list[ChainFault] = field(default_factory=list[ChainFault])
    heads: dict[str, ChainHead] = field(default_factory=dict[str, ChainHead])
