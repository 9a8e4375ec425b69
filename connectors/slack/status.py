"""The status that Slack shows in a thread while an agent works on an answer. Pure.

Source: docs.slack.dev "assistant.threads.setStatus" (2026-08): since 2026-03 with `chat:write`, in
channels as well as in assistant threads; a reply in the thread clears it, as do two minutes.
"""

from __future__ import annotations

from pydantic import JsonValue

from bridge.model import AccountId, Byline, Call, ChannelRef, OperationId, RateLimitKey
from connectors.slack import ids
from connectors.slack.capabilities import SET_STATUS
from connectors.slack.encode import byline_fields

_LONGEST = 100  # characters: it is one line


def working_call(
    account: AccountId, channel: ChannelRef, thread: str, byline: Byline, words: str
) -> Call | None:
    """The call that sets the status of the thread; empty `words` clear it. None when the thread is
    not a ts."""
    if not ids.is_ts(thread):
        return None
    body: dict[str, JsonValue] = {
        "channel_id": channel.channel,
        "thread_ts": thread,
        "status": words[:_LONGEST],
        **byline_fields(byline),
    }
    return Call(
        kind="other",
        method=SET_STATUS,
        operation=OperationId("status"),
        channel=channel,
        rate_limits=(RateLimitKey(rule=SET_STATUS, of=ids.rate_limited_channel(account, channel)),),
        body=body,
    )
