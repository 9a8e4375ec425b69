"""Where the objects are: bucket, prefix, server and keys. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# docs.aws.amazon.com, "General purpose bucket naming rules" (2026-11); other servers follow them.
_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
_PREFIX = re.compile(
    r"[A-Za-z0-9!_.*'()-]+(?:/[A-Za-z0-9!_.*'()-]+)*"
)  # safe characters, same page


@dataclass(frozen=True)
class S3Keys:
    """The keys with which requests are signed; never shown."""

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class S3Place:
    """A bucket on a server. Without `endpoint` the server is that of AWS in the region; without
    `keys` the standard variables of the environment have them, or the machine's role."""

    bucket: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None
    keys: S3Keys | None = None

    def __str__(self) -> str:
        url = f"s3://{self.bucket}{'/' if self.prefix else ''}{self.prefix}"
        return f"{url} at {self.endpoint}" if self.endpoint else url


def split_url(url: str) -> tuple[str, str]:
    """Return the bucket and the prefix of `s3://bucket/prefix`.

    Raises:
        ValueError: it is no such URL.
    """
    match = _URL.fullmatch(url)
    bucket, prefix = (match[1], (match[2] or "").strip("/")) if match else ("", "")
    if not bucket or (prefix and not _PREFIX.fullmatch(prefix)):
        raise ValueError("this is no s3://BUCKET or s3://BUCKET/PREFIX")
    return bucket, prefix
