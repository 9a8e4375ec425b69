"""Multipart forms with one file (RFC 7578) for the file APIs of vendors. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def multipart_form(
    fields: Mapping[str, str], name: str, media_type: str, content: bytes
) -> tuple[str, bytes]:
    """Return the content type and the body. The boundary is derived from the content."""
    boundary = f"uacs-{hashlib.sha256(content).hexdigest()[:32]}"
    body_parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{_safe(name)}"'
    body_parts.append(f"{head}\r\nContent-Type: {_line(media_type)}\r\n\r\n".encode())
    body_parts += [content, f"\r\n--{boundary}--\r\n".encode()]
    return f"multipart/form-data; boundary={boundary}", b"".join(body_parts)


def _line(value: str) -> str:
    return "".join(item for item in value if item.isprintable())


def _safe(name: str) -> str:
    return _line(name).replace("\\", "_").replace('"', "_") or "file"
