"""Settings of traces: where their spans go, and how many."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from bridge.app.settings.strict import StrictSettings


class TraceSettings(StrictSettings):
    """Settings of OpenTelemetry traces."""

    endpoint: str | None = Field(
        default=None,
        description="The address of an OpenTelemetry collector that accepts OTLP over HTTP, such "
        "as http://localhost:4318; null: no traces.",
    )
    sample: float = Field(
        default=1.0, ge=0, le=1, description="The share of messages that are traced: 0 to 1."
    )

    @field_validator("endpoint")
    @classmethod
    def _address(cls, endpoint: str | None) -> str | None:
        if endpoint is None:
            return None
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("this is no address of a collector: http://HOST:4318")
        if parts.username or parts.password or parts.query:
            raise ValueError(
                "this file never contains secrets; put them into the environment variable "
                "OTEL_EXPORTER_OTLP_HEADERS"
            )
        return endpoint
