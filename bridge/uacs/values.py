"""The strings of UACS: text, UUID, timestamp, URI, media type.

The input is a string from JSON or from code. The output is the same string, character for
character, or an error in words. pydantic's Rust regex checks the patterns: linear time, whole text,
ASCII classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from bridge.errors import InvalidUacs
from bridge.uacs.invalid import refused


def checked_unicode(text: str) -> str:
    """Returns the text unchanged.

    Raises:
        PydanticCustomError: The text holds a lone surrogate, which UTF-8 cannot encode. JSON input
            never does, Python strings may.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refused(text, "must be Unicode without lone surrogates") from None
    return text


@dataclass(frozen=True)
class _TextSchema:
    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        del source, handler
        plain = core_schema.str_schema(strict=True)
        checked = core_schema.no_info_after_validator_function(checked_unicode, plain)
        return core_schema.json_or_python_schema(plain, checked)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        del schema, handler
        return {"type": "string"}


@dataclass(frozen=True)
class _PatternSchema:
    """A string that matches one pattern, or one of the `rare` cases that no regex can check."""

    pattern: str
    words: str
    keyword: tuple[str, str]
    rare: Callable[[str], str] | None = None

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        del source, handler
        schema: CoreSchema = core_schema.str_schema(strict=True, pattern=self.pattern)
        if self.rare is not None:
            text = core_schema.str_schema(strict=True)
            rare = core_schema.no_info_after_validator_function(self.rare, text)
            schema = core_schema.union_schema([schema, rare], mode="left_to_right")
        return core_schema.custom_error_schema(
            schema, custom_error_type="pattern", custom_error_message=self.words
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        del schema, handler
        name, value = self.keyword
        return {"type": "string", name: value}


Text = Annotated[str, _TextSchema()]
"""Any string of Unicode characters, also the empty one."""

# RFC 4122 section 3. Narrower than uuid.UUID(): no braces, no "urn:uuid:", every hyphen.
_HEX = "[0-9A-Fa-f]"
_UUID = f"^{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}$"

UuidText = Annotated[
    str,
    _PatternSchema(
        pattern=_UUID,
        words="must be a UUID such as '0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11'",
        keyword=("format", "uuid"),
    ),
]

# RFC 3339 section 5.6, calendar and leap years included. Years begin at 0001: ISO 8601, which the
# seed's prose names, has the year 0000 only by agreement, and no datetime holds it.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_MONTH_AND_DAY = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE = f"(?:{_YEAR}-{_MONTH_AND_DAY}|{_LEAP_YEAR}-02-29)"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_TIMESTAMP = f"^{_DATE}[Tt]{_CLOCK}{_OFFSET}$"
_TIMESTAMP_REGEX = re.compile(_TIMESTAMP.replace("$", r"\Z"))
_TIMESTAMP_WORDS = (
    "must be a date and time with an offset (RFC 3339) such as '2026-11-21T12:00:00Z'"
)


def _leap_second(text: str) -> str:
    """Accepts second 60 where RFC 3339 has it: at the end of a UTC day, whatever the offset."""
    before = f"{text[:17]}59{text[19:]}"
    if text[17:19] != "60" or not _TIMESTAMP_REGEX.match(before) or not _ends_utc_day(before):
        raise refused(text, _TIMESTAMP_WORDS)
    return text


def _ends_utc_day(text: str) -> bool:
    minutes = int(text[11:13]) * 60 + int(text[14:16])
    if text[-1] not in "Zz":
        offset = int(text[-5:-3]) * 60 + int(text[-2:])
        minutes += offset if text[-6] == "-" else -offset
    return minutes % 1440 == 1439


Timestamp = Annotated[
    str,
    _PatternSchema(
        pattern=_TIMESTAMP,
        words=_TIMESTAMP_WORDS,
        keyword=("format", "date-time"),
        rare=_leap_second,
    ),
]
"""RFC 3339 text, kept as written; `to_datetime` gives the moment."""


def to_datetime(timestamp: str) -> datetime:
    """Returns the moment of a timestamp, with the offset as written.

    A leap second becomes the first moment after it. Digits beyond microseconds are cut off.

    Args:
        timestamp: RFC 3339 text, as `Timestamp` accepts it.

    Raises:
        InvalidUacs: The text is no timestamp, or its moment is after the year 9999.
    """
    leap = timestamp[17:19] == "60"
    text = f"{timestamp[:17]}59{timestamp[19:]}" if leap else timestamp
    if not _TIMESTAMP_REGEX.match(text):
        raise InvalidUacs("$", timestamp, _TIMESTAMP_WORDS)
    clock, offset = (text[:-1], "+00:00") if text[-1] in "Zz" else (text[:-6], text[-6:])
    moment = datetime.fromisoformat(clock[:19].upper() + offset)
    try:
        moment += timedelta(seconds=leap)
    except OverflowError:
        raise InvalidUacs("$", timestamp, "is after the year 9999") from None
    return moment if leap else moment.replace(microsecond=int(f"{clock[20:26]:0<6}"))


def to_timestamp(moment: datetime) -> str:
    """Writes a datetime as RFC 3339 text with its offset, `Z` for UTC, and no needless fraction.

    Args:
        moment: An aware datetime whose offset is a whole number of minutes.

    Raises:
        InvalidUacs: The datetime has no time zone, or its offset has seconds.
    """
    offset = moment.utcoffset()
    if offset is None or offset % timedelta(minutes=1):
        raise InvalidUacs("$", moment, "needs a time zone, with an offset of whole minutes")
    text = moment.isoformat()
    return f"{text[:-6]}Z" if not offset else text


# RFC 3986 appendix A: a scheme, then any hierarchical part, query and fragment; ASCII only.
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_REG_NAME = r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_USERINFO = r"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = rf"(?:{_H16}:{_H16}|(?:{_OCTET}\.){{3}}{_OCTET})"
_IPV6 = "|".join(
    [
        f"(?:{_H16}:){{6}}{_LS32}",
        f"::(?:{_H16}:){{5}}{_LS32}",
        *(
            f"(?:(?:{_H16}:){{0,{before}}}{_H16})?::(?:{_H16}:){{{4 - before}}}{_LS32}"
            for before in range(5)
        ),
        f"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
        f"(?:(?:{_H16}:){{0,6}}{_H16})?::",
    ]
)
_IP_FUTURE = r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+"
_AUTHORITY = rf"(?:{_USERINFO}@)?(?:\[(?:{_IPV6}|{_IP_FUTURE})\]|{_REG_NAME})(?::[0-9]*)?"
_SEGMENTS = f"(?:/{_PCHAR}*)*"
_HIERARCHY = f"(?://{_AUTHORITY}{_SEGMENTS}|/?(?:{_PCHAR}+{_SEGMENTS})?)"
_TAIL = f"(?:{_PCHAR}|[/?])*"
_URI = rf"^[A-Za-z][A-Za-z0-9+.-]*:{_HIERARCHY}(?:\?{_TAIL})?(?:#{_TAIL})?$"

Uri = Annotated[
    str,
    _PatternSchema(
        pattern=_URI,
        words="must be an absolute URI (RFC 3986, ASCII only) such as 'https://example.com/a.png'",
        keyword=("format", "uri"),
    ),
]


def _media_type(kind: str) -> _PatternSchema:
    return _PatternSchema(
        pattern=f"^{kind}/",
        words=f"must begin with '{kind}/'",
        keyword=("pattern", f"^{kind}/"),
    )


ImageType = Annotated[str, _media_type("image")]
VideoType = Annotated[str, _media_type("video")]
AudioType = Annotated[str, _media_type("audio")]
