"""The router's deadlines, backoff and pauses, all in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timeouts:
    """Durations and limits that tests make small and operators may change.

    - `settle_grace`: how long after a broken answer a post may still arrive before we look for it.
    - `settle_late`: how long a post may still arrive whose answer did not come in time; the lane
      looks for it that long before it sends it again.
    - `send_deadline`: how long one native call may take, whatever its connector thinks; files that
      go along may take longer, at `upload_pace` bytes a second.
    - `auth_pause`: the longest pause between two attempts with credentials that were refused.
    - `turn_idle`, `turn_total`: how long an agent may be silent, and work.
    - `stop_grace`: how long an agent that shall stop may take to end by itself.
    - `typing_again`: how often it is shown that an agent works, before its first words.
    - `stream_open`: how long an answer's first words are gathered before they are shown.
    - `first_session`: how long, after a start, rows from before wait for what catch-up may find
      between them; an account that cannot connect by then lets them go.
    - `keep_timeout`: how long the inbox retries a payload that the store does not take, before it
      tells the platform that the payload was not kept.
    - `retry_for`, `retry_reactions_for`: the age at which a failing operation (a failing reaction
      or pin) becomes a dead letter, whatever its error; `retry_alone_for`: how long one may fail
      before its lane tries the operations behind it: where the platform takes one of them, the
      failing operation becomes a dead letter.
    - `odd_failures`: attempts after which an operation that fails in ways no connector should
      have is given up, so that it does not block its lane for ever.
    - `catch_up_tries`, `catch_up_grace`: failures after which a channel goes on unread; how long
      live events may be on their way when a channel has been read.
    - `live_wait`: after a gap live events of a channel wait until the channel is read; where the
      platform's limits delay that for longer than this, they go on before it.
      `live_wait_after_clean_stop`: the same after a clean stop and a start within `clean_stop`
      seconds. `longest_live_wait`: how long they wait at most, whatever the reason.
    - `echo_interval`: how often echoes of our own posts move the stored cursors.
    - `late_after`, `late_look`: how long a lane may be behind before it is announced (infinite:
      never), and how often that is looked at.
    - `stopped_look`: how often a lane whose account sends nothing looks whether it may again.
    - `reaction_wait`: how often a reaction checks whether its post was sent.
    - `reconcile_window`: how old the messages are at most whose edits and deletions are looked for
      after a gap; 0: no comparison. `reconcile_messages`: the most messages of one channel;
      `reconcile_requests`: the most requests of one account, with `reconcile_pause` after each;
      `reconcile_read_timeout`: how long a comparison waits for channels that are still being read.
    - `late_event_age`: the age of an event that makes it late: its channel is compared again,
      `compare_again` later.
    - `most_posts`: the most posts of one channel that catch-up reads; it counts older ones and
      reports them as missing. `announce_after`: the shortest gap that is announced in its rooms.
    - `watchdog_interval`: how often the watchdog checks the connections. `stalled_after`,
      `stalled_after_post`: how long a connection receives nothing, or not the echo of its own post,
      until it is probed; `stalled_grace`: how long an event that the probe found may still be on
      its way.
    - `other_bridge_wait`: how long a post of ours may be unknown to the store before it counts as
      another bridge's; `other_bridge_look`: how often that is looked at; `other_bridge_away`:
      how long our connection is closed then, for our words to reach the other.
    - `orphan_wait`, `orphans_remembered`: how long what happened to an unknown message waits for
      it, and for how long it is remembered after that.
    - `history_page`: places of a room that are read back at a time for an agent; `history_rows`:
      and at most for one question.
    - `file_timeout`: how long a message waits for its files, and the shortest pause before they
      are tried again; `files_awaited`: how long that goes on.
    - `drain`: how long a stop waits for what has begun.
    """

    settle_grace: float = 2.0
    settle_late: float = 30.0
    send_deadline: float = 30.0
    keep_timeout: float = 2.0
    retry_for: float = 86400.0
    retry_reactions_for: float = 3600.0
    retry_alone_for: float = 600.0
    upload_pace: float = 256 * 1024
    first_backoff: float = 0.5
    longest_backoff: float = 60.0
    auth_pause: float = 60.0
    turn_idle: float = 60.0
    turn_total: float = 600.0
    turn_attempts: int = 2
    stop_grace: float = 2.0
    typing_again: float = 6.0
    stream_open: float = 0.15
    drain: float = 5.0
    late_after: float = 120.0
    late_look: float = 15.0
    history_page: int = 100
    history_rows: int = 5000
    catch_up_tries: int = 5
    catch_up_grace: float = 2.0
    live_wait: float = 6.0
    live_wait_after_clean_stop: float = 0.5
    longest_live_wait: float = 20.0
    clean_stop: float = 60.0
    echo_interval: float = 5.0
    first_session: float = 30.0
    odd_failures: int = 5
    stopped_look: float = 30.0
    reaction_wait: float = 5.0
    thread_window: float = 7 * 86400.0
    reconcile_window: float = 86400.0
    reconcile_messages: int = 2000
    reconcile_requests: int = 500
    reconcile_pause: float = 2.0
    reconcile_read_timeout: float = 60.0
    late_event_age: float = 45.0
    compare_again: float = 30.0
    most_posts: int = 5000
    announce_after: float = 60.0
    watchdog_interval: float = 15.0
    stalled_after: float = 300.0
    stalled_after_post: float = 30.0
    stalled_grace: float = 5.0
    other_bridge_wait: float = 10.0
    other_bridge_look: float = 5.0
    other_bridge_away: float = 5.0
    orphan_wait: float = 30.0
    orphans_remembered: float = 7 * 86400.0
    file_timeout: float = 10.0
    files_awaited: float = 86400.0

    def backoff(self, attempts: int) -> float:
        """Doubles with each attempt, up to the longest."""
        return min(self.longest_backoff, self.first_backoff * 2 ** min(attempts, 30))
