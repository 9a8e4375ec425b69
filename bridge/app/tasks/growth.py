"""What an answer has now beyond what a reader has of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.uacs import ContentPart, TextPart


def grown(
    before: Sequence[ContentPart], after: Sequence[ContentPart]
) -> Sequence[ContentPart] | None:
    """Return the parts that continue `before` to `after`: the rest of the last text, and further
    parts. None where `after` is no continuation, so that the reader has to begin anew."""
    if not before:
        return after
    *kept, last = before
    if list(after[: len(kept)]) != kept or len(after) < len(before):
        return None
    now, further = after[len(kept)], after[len(before) :]
    if now == last:
        return further
    if isinstance(now, TextPart) and isinstance(last, TextPart) and now.text.startswith(last.text):
        return (now.model_copy(update={"text": now.text[len(last.text) :]}), *further)
    return None
