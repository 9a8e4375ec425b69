"""Errors of an S3 server -> our own errors, which say what to do. Quotes no answer of the server:
it may hold key ids."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from obstore import exceptions

from bridge.errors import StoreError, StoreFull, StoreUnreachable
from bridge.store.s3.place import S3Place

NotThere = FileNotFoundError  # obstore raises Python's own
AlreadyThere = exceptions.AlreadyExistsError
Changed = exceptions.PreconditionError

_CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,60})</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_NO_ROOM = {"QuotaExceeded", "QuotaExceededException", "XMinioStorageFull", "InsufficientCapacity",
            "XMinioAdminBucketQuotaExceeded", "InsufficientStorage"}  # fmt: skip
_NOT_NOW = {"", "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "429"}
_WRONG_KEYS = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
               "TokenRefreshRequired", "AuthorizationHeaderMalformed"}  # fmt: skip
# Addresses that are asked for keys of a machine's role when the environment has none.
_ROLES = ("169.254.", "[fd00:ec2::")
_WRONG_REGION = {"PermanentRedirect", "IllegalLocationConstraintException",
                 "AuthorizationHeaderMalformed"}  # fmt: skip


class S3Failed(StoreError):
    """A server refused a request, or did not answer; `code` is S3's own word for it, or an HTTP
    status."""

    def __init__(self, text: str, code: str) -> None:
        self.code = code
        super().__init__(text)


class S3Unreachable(S3Failed, StoreUnreachable):
    """A server does not answer, or not now."""


@contextmanager
def s3_errors(place: S3Place) -> Generator[None]:
    """Turn what obstore raises into StoreError; what the caller handles itself passes: `NotThere`
    of an object, `AlreadyThere` and `Changed`."""
    try:
        yield
    except (AlreadyThere, Changed):
        raise
    except (exceptions.BaseError, OSError) as error:
        text = str(error)
        if isinstance(error, NotThere) and code_of(text) != "NoSuchBucket":
            raise
        raise _translated(text, place) from None


def code_of(text: str) -> str:
    """Return S3's own word for an error, or its HTTP status, or nothing."""
    if match := _CODE.search(text):
        return match[1]
    if match := _STATUS.search(text):
        return match[1]
    return "PermanentRedirect" if "redirect" in text else ""


def _translated(text: str, place: S3Place) -> StoreError:
    code = code_of(text)
    if code in _NO_ROOM or code == "507":
        return StoreFull(
            f"No room left for files in {place} ({code}); make room: the bridge goes on by itself"
        )
    kind = S3Unreachable if code in _NOT_NOW or code.startswith("50") else S3Failed
    return kind(_problem(text, code, place), code)


def _problem(text: str, code: str, place: S3Place) -> str:
    if code == "NoSuchBucket":
        return (
            f"There is no bucket {place.bucket!r} for files ({place}); create it, or correct "
            "store.blobs.url"
        )
    if any(address in text for address in _ROLES):
        return (
            f"No keys for the files in {place}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "or store.blobs.access_key_id and secret_access_key, or give the machine a role"
        )
    if code in _WRONG_REGION:
        return (
            f"The bucket {place.bucket!r} is in another region ({code}); correct store.blobs.region"
        )
    if code in _WRONG_KEYS or code == "401":
        return (
            f"The keys for the files in {place} are not accepted ({code}); correct "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or those of store.blobs"
        )
    if code in ("AccessDenied", "403", "AllAccessDisabled"):
        return (
            f"The keys may not use the files in {place} ({code}); give them s3:GetObject, "
            "s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload and s3:ListBucket"
        )
    if code in _NOT_NOW or code.startswith("50"):
        answer = f" (it answers {code})" if code else ""
        return (
            f"The files in {place} cannot be reached{answer}; check store.blobs.endpoint and the "
            "network: the bridge goes on by itself"
        )
    return f"The files in {place} failed: the server answered {code}"
