"""Messages of IRC written by hand: seeds of the fuzzer, and examples in docs/fidelity.md."""

from __future__ import annotations

from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = {
    "text": {"text": "Is the release ready? https://example.org/plan"},
    "formatting": {
        "text": "\x02Bold\x02, \x1dslanted\x1d, \x1funder\x1f, \x1egone\x1e and \x11code\x11"
    },
    "overlapping": {"text": "\x02bold \x1dboth\x02 slanted\x1d and plain\x0f"},
    "colour": {"text": "\x0304Red\x03, \x0303,01green on black\x03 and \x04ff7f00orange\x04"},
    "spoiler": {"text": "The end: \x0301,01everybody lives\x03 happily"},
    "lines": {"text": "first line\nsecond line\nthird line"},
    "signs": {"text": "*stars*, _lines_, `ticks`, a < b & c stay as they are"},
}
