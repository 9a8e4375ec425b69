"""Settings of the blob store: where the bytes of files are, if not in a folder beside the store."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from bridge.app.settings.strict import StrictSettings
from bridge.model.secret_refs import SecretRef


class BlobSettings(StrictSettings):
    """Settings of a bucket on an S3 server; needs the extra `s3`."""

    url: str = Field(description="s3://BUCKET or s3://BUCKET/PREFIX; each bridge has its own.")
    endpoint: str | None = Field(
        default=None,
        description="The server's address; null: that of AWS in the region (or the one in "
        "AWS_ENDPOINT_URL).",
    )
    region: str | None = Field(
        default=None, description="The bucket's region; null: the one in AWS_REGION, or us-east-1."
    )
    access_key_id: SecretRef | None = Field(
        default=None,
        description="The id of the key; null: the one in AWS_ACCESS_KEY_ID, or the machine's role.",
    )
    secret_access_key: SecretRef | None = Field(
        default=None, description="The key itself; null: as `access_key_id`."
    )
    session_token: SecretRef | None = Field(
        default=None, description="The token that belongs to a key for a while."
    )

    @field_validator("url")
    @classmethod
    def _is_bucket(cls, url: str) -> str:
        from bridge.store.s3.place import split_url

        split_url(url)
        return url

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, endpoint: str | None) -> str | None:
        if endpoint is None:
            return None
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise ValueError("this is no https://HOST or http://HOST:PORT")
        if parts.username or parts.password:
            raise ValueError("an address holds no keys: access_key_id and secret_access_key do")
        return endpoint.rstrip("/")

    @model_validator(mode="after")
    def _has_both_keys(self) -> BlobSettings:
        if (self.access_key_id is None) != (self.secret_access_key is None):
            raise ValueError("give both access_key_id and secret_access_key, or neither")
        for ref in self.refs().values():
            if ref.sealed is not None:
                raise ValueError("commands need these keys without the store: name env or file")
        return self

    def refs(self) -> dict[str, SecretRef]:
        """Return the references to secrets, by their keys."""
        named = {
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
            "session_token": self.session_token,
        }
        return {key: ref for key, ref in named.items() if ref is not None}
