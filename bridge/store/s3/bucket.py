"""Objects of one bucket: whole writes, reads of ranges, listing. Every request is retried."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import obstore
from obstore.store import S3Store

from bridge.store.s3.errors import AlreadyThere, Changed, NotThere, S3Failed, s3_errors
from bridge.store.s3.place import S3Place

PART = 8 * 1024 * 1024  # bytes of one part of a large object: 10,000 of them are the most
_PARTS_AT_ONCE = 2
_PAGE = 1000  # objects of one answer to a listing, the most that S3 gives
_REQUEST = timedelta(seconds=60)  # of one request, which carries PART bytes at most
_CONNECT = timedelta(seconds=5)
_BINARY = "application/octet-stream"  # nothing that a browser would run
_NO_RANGE = ("InvalidRange", "416")
_NOT_IMPLEMENTED = ("NotImplemented", "501")


@dataclass(frozen=True)
class Retries:
    """How often a request is repeated after 5xx, a broken connection or no answer, with growing
    pauses (seconds)."""

    most: int = 5
    seconds: float = 30.0
    first_pause: float = 0.2
    longest_pause: float = 5.0


@dataclass(frozen=True)
class Found:
    """An object, and the bytes of it that were asked for."""

    size: int
    tag: str | None
    modified: float
    notes: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Listed:
    """The name and the size of an object."""

    name: str
    size: int


class Bucket:
    """The objects below the prefix of a place. Raises StoreError."""

    def __init__(self, place: S3Place, retries: Retries) -> None:
        self.place = place
        self._conditional = True  # until the server says that it cannot
        with s3_errors(place):
            self._store = S3Store(
                place.bucket,
                prefix=place.prefix or None,
                config=_config(place),
                credential_provider=_keys(place),
                client_options={
                    "allow_http": (place.endpoint or "").startswith("http:"),
                    "timeout": _REQUEST,
                    "connect_timeout": _CONNECT,
                    "user_agent": "uacs-bridge",
                },
                retry_config={
                    "max_retries": retries.most,
                    "retry_timeout": timedelta(seconds=retries.seconds),
                    "backoff": {
                        "init_backoff": timedelta(seconds=retries.first_pause),
                        "max_backoff": timedelta(seconds=retries.longest_pause),
                        "base": 2,
                    },
                },
            )

    async def create(self, name: str, content: bytes, notes: Mapping[str, str]) -> bool:
        """Write an object unless there is one. Returns whether it was written, as always by a
        server that cannot tell."""
        if self._conditional:
            try:
                with s3_errors(self.place):
                    await obstore.put_async(
                        self._store, name, content, mode="create", attributes=_attributes(notes)
                    )
            except AlreadyThere:
                return False
            except S3Failed as error:
                if error.code not in _NOT_IMPLEMENTED:
                    raise
                self._conditional = False
            else:
                return True
        if await self.read(name, 0, 1) is not None:
            return False
        await self.write(name, content, notes)
        return True

    async def write(self, name: str, content: bytes | Path, notes: Mapping[str, str]) -> str | None:
        """Write an object, whatever was there: bytes in one request, a file in parts. Returns the
        version that a bucket with versions gave it."""
        with s3_errors(self.place):
            result = await obstore.put_async(
                self._store,
                name,
                content,
                attributes=_attributes(notes),
                use_multipart=isinstance(content, Path),
                chunk_size=PART,
                max_concurrency=_PARTS_AT_ONCE,
            )
        version = result["version"]
        return None if version in (None, "null") else version

    async def read(
        self, name: str, start: int, end: int | None, tag: str | None = None
    ) -> Found | None:
        """Return an object with its bytes from `start` to before `end`, all without `end`; a range
        begins within the object. None when it is not there; `tag`: or when it is another one."""
        options: dict[str, Any] = {} if end is None else {"range": (start, end)}
        if tag is not None:
            options["if_match"] = tag
        try:
            with s3_errors(self.place):
                result = await obstore.get_async(
                    self._store, name, options=cast("obstore.GetOptions", options)
                )
                content = bytes(await result.bytes_async())
        except (NotThere, Changed):
            return None
        except S3Failed as error:
            if error.code in _NO_RANGE and (start, end) != (0, None):
                return await self.read(name, 0, None, tag)  # an empty object has no range
            raise
        meta = result.meta
        notes = {str(key): value for key, value in result.attributes.items()}
        return Found(meta["size"], meta["e_tag"], meta["last_modified"].timestamp(), notes, content)

    async def remove(self, names: Sequence[str]) -> None:
        """Delete objects; one that is not there is no error."""
        for name in names:
            try:
                with s3_errors(self.place):
                    await obstore.delete_async(self._store, name)
            except NotThere:
                continue

    async def listed(self) -> AsyncGenerator[Sequence[Listed]]:
        """Yield all objects in the order of their names, a page at a time."""
        with s3_errors(self.place):
            async for page in obstore.list(self._store, chunk_size=_PAGE):
                yield [Listed(meta["path"], meta["size"]) for meta in page]


def _config(place: S3Place) -> Any:
    config: dict[str, Any] = {"disable_bulk_delete": True}  # not every server has it
    if place.endpoint:
        config["endpoint"] = place.endpoint
    if place.region:
        config["region"] = place.region
    return config


def _keys(place: S3Place) -> Any:
    """The keys of the place as a provider, so that a session's token of the environment is not
    sent with them."""
    keys = place.keys
    if keys is None:
        return None
    return lambda: {
        "access_key_id": keys.access_key_id,
        "secret_access_key": keys.secret_access_key,
        "token": keys.session_token,
        "expires_at": None,
    }


def _attributes(notes: Mapping[str, str]) -> dict[str, str]:
    return {"Content-Type": _BINARY, **notes}
