"""The one error tree. Each error says what happened, which value, and what to do.

BridgeError
├── ConfigError          the configuration is wrong; nothing was started
├── InvalidData          a value is not what its schema asks for
│   ├── InvalidUacs      ... a UACS document: JSON path, value, rule
│   ├── CodecError       ... rich content that is to be translated: JSON pointer, reason
│   ├── UndecodableEvent ... a platform's payload: kept in the inbox, shown by `status`
│   └── ExportUnreadable ... an export, or one file of it, that is to be imported
├── StoreError           the store cannot do its work
│   ├── SchemaTooNew     written by a newer version of the bridge
│   ├── StoreCorrupt     the file is damaged
│   ├── StoreFull        no room left on the disk
│   ├── StoreGone        its file was removed or replaced
│   ├── StoreUnreachable the server that has the files does not answer now
│   ├── NotOpen          an operation is over already: settled by its echo, or cancelled
│   └── ErasureForbidden a legal hold protects what is to be erased
├── PlatformError        a platform answered with an error
│   ├── RateLimited      wait `retry_after` seconds, then the same request again
│   ├── Unavailable      it did not take the request (connection refused, 5xx): try again later
│   ├── Unsettled        nobody knows whether it took the request (a broken or late answer)
│   └── Refused          it will never take this request as it stands
│       ├── AuthFailed   the token is wrong, expired or lacks a permission
│       │   └── TokenRefused  it is wrong, expired or revoked: nothing at all is done with it
│       ├── NotFound     the channel, message or person is not there
│       ├── StreamStopped  a person stopped what was being written, by the platform's own button
│       ├── NoHistory    it keeps nothing that could be read back, so nothing can be looked for
│       ├── FormRefused  it does not take what the message is made of; its words alone may pass
│       └── ThreadClosed it takes no posts in this thread any more; in its channel it may
├── FileError            a file cannot be had
│   ├── FileTooLarge     larger than the limit
│   ├── FileMissing      nothing is kept under this id
│   ├── FileDamaged      the bytes on the disk are not those that were kept
│   ├── FileRefused      its address is none that the bridge asks (private, no http, too many moves)
│   ├── FileGone         whoever has it will not give it: no such file, no permission
│   └── FileUnavailable  not now (no connection, 5xx, too slow): try again later
├── Unauthorized         a request to us is not signed as it must be
├── AgentError           an agent failed, hung or broke its contract
└── ContentRefused       a content policy of an agent refuses a question or an answer
"""

from __future__ import annotations


class BridgeError(Exception):
    """Root of every error that the bridge raises on purpose."""

    @property
    def public(self) -> str:
        """What may be told to people in rooms and to programs elsewhere."""
        return str(self)


class ConfigError(BridgeError):
    """The configuration is wrong; nothing was started."""


class InvalidData(BridgeError):
    """A value is not what its schema asks for."""


class InvalidUacs(InvalidData):
    """A UACS document breaks the schema; `path` is a JSON path such as `$.messages[0].content`."""

    def __init__(self, path: str, value: object, rule: str) -> None:
        self.path = path
        self.value = value
        self.rule = rule
        super().__init__(f"{path}: {_short(value)} {rule}")


class CodecError(InvalidData):
    """Rich content cannot be read; `pointer` is a JSON pointer to the value that is wrong."""

    def __init__(self, pointer: str, reason: str) -> None:
        self.pointer = pointer
        self.reason = reason
        super().__init__(f"{pointer or '/'}: {reason}")


class UndecodableEvent(InvalidData):
    """A platform's payload that no decoder understands; the row stays in the inbox as `failed`."""


class ExportUnreadable(InvalidData):
    """An export, or one file of it, cannot be read: the text names the file, what is wrong with it,
    and what to do."""


class StoreError(BridgeError):
    """The store cannot do its work. Its text names files of this machine."""

    @property
    def public(self) -> str:
        return "The bridge's store cannot be used now; the bridge's log says why"


class SchemaTooNew(StoreError):
    """The store was written by a newer version of the bridge."""


class StoreCorrupt(StoreError):
    """The store's file is damaged."""


class StoreFull(StoreError):
    """No room is left on the disk."""

    @property
    def public(self) -> str:
        return "The bridge's store has no room left on its disk"


class StoreGone(StoreError):
    """The store's file is not there any more, or another stands in its place."""


class StoreUnreachable(StoreError):
    """The server that has the files of messages does not answer, or not now."""

    @property
    def public(self) -> str:
        return "The server that has the bridge's files does not answer now"


class NotOpen(StoreError):
    """An operation is over already: its echo settled it, or a deletion cancelled it."""

    @property
    def public(self) -> str:
        return str(self)


class ErasureForbidden(StoreError):
    """A legal hold protects what is to be erased."""

    @property
    def public(self) -> str:
        return str(self)


class PlatformError(BridgeError):
    """A platform answered with an error; `code` is the platform's own word for it. `answer` is what
    it answered, as JSON or plain text, for code that can mend the request; it is never shown or
    logged."""

    def __init__(self, text: str, *, code: str = "") -> None:
        self.code = code
        self.answer: object = None
        super().__init__(text)


class RateLimited(PlatformError):
    """The platform asks us to wait `retry_after` seconds.

    `scope` names the rules among the call's rate limits that must wait (see
    `bridge.model.operations.Call`); empty means its first, which is its narrowest.
    """

    def __init__(
        self, text: str, *, retry_after: float, code: str = "", scope: tuple[str, ...] = ()
    ) -> None:
        self.retry_after = retry_after
        self.scope = scope
        super().__init__(text, code=code)


class Unavailable(PlatformError):
    """The platform certainly did not take the request; the same request may be sent again."""


class Unsettled(PlatformError):
    """The request may or may not have been taken: settle it before the lane goes on.

    `late`: no answer came in time, so the platform may still be working on the request and take it
    after a first look.
    """

    def __init__(self, text: str, *, code: str = "", late: bool = False) -> None:
        self.late = late
        super().__init__(text, code=code)


class Refused(PlatformError):
    """The platform will never take this request as it stands."""


class AuthFailed(Refused):
    """The token is wrong, expired, or lacks a permission."""


class TokenRefused(AuthFailed):
    """The platform takes no request with this token: it is wrong, expired or revoked."""


class NotFound(Refused):
    """The channel, message or person is not there (or the bot cannot see it)."""


class ThreadClosed(Refused):
    """The platform takes no more posts in a thread, and it is not for us to open it."""


class NoHistory(Refused):
    """The platform, or this server of it, keeps no history: what was said cannot be read back."""


class StreamStopped(Refused):
    """Somebody pressed the platform's own button to stop what is being written."""


class FormRefused(Refused):
    """The platform does not take the blocks, components or cards that a message is made of."""


class FileError(BridgeError):
    """A file cannot be had. Never quotes an address: it may be signed."""


class FileTooLarge(FileError):
    """It is larger than the limit."""


class FileMissing(FileError):
    """Nothing is kept under this id."""


class FileDamaged(FileError):
    """The bytes on the disk are not those that were kept."""


class FileRefused(FileError):
    """Its address is none that the bridge asks: private, not http, too many redirects."""


class FileGone(FileError):
    """Whoever has it will not give it: there is no such file, or no permission for it."""


class FileUnavailable(FileError):
    """It cannot be had now; the same may be tried again, after `retry_after` seconds if given."""

    def __init__(self, text: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(text)


class Unauthorized(BridgeError):
    """A request to us is not signed as it must be."""


class AgentError(BridgeError):
    """An agent failed, hung or broke its contract."""


def _short(value: object, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class ContentRefused(BridgeError):
    """A content policy refuses a question or an answer; people see the error's text."""
