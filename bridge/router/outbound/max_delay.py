"""Posts that are later than their channel wants them become dead letters. Pure."""

from __future__ import annotations

from bridge.model import PostMessage
from bridge.model.archive_records import NewMessage
from bridge.model.outbox_records import Settlement
from bridge.router.rooms.options import MemberOptions
from bridge.router.rooms.rooms import Member


def too_late(options: MemberOptions, seconds: float) -> str:
    """Why a post of this age is given up; empty when it is shown, if only with its time."""
    if options.late != "refuse" or options.max_delay is None or seconds <= options.max_delay:
        return ""
    return (
        f"it is {seconds:.0f} s late, and the channel wants none after {options.max_delay:g} s "
        "(max_delay); replay it if it is still wanted"
    )


def given_up_if_late(
    post: PostMessage, member: Member, new: NewMessage, now: float
) -> tuple[Settlement, ...]:
    """The end of a post whose message was said too long ago when it came in."""
    error = too_late(member.options, now - new.time)
    return (Settlement(post.id, "dead", error=error),) if error else ()
