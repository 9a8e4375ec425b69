"""How patient the router is: deadlines, backoff and pauses, all in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timeouts:
    """Numbers that a test makes small and an operator may change.

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
    - `keep_patience`: how long a payload that the store does not take is waited for, before its
      platform is told that it was not kept.
    - `retry_for`, `retry_marks_for`: how old an operation (a reaction or a pin) may get that its
      platform does not take, whatever the error, before it is given up; `retry_alone_for`: how long
      one may fail before the operations behind it in its lane are tried: where one of them is
      taken, the failing one is given up.
    - `odd_failures`: attempts after which an operation that fails in ways no connector should
      have is given up, so that it does not block its lane for ever.
    - `catch_up_tries`, `catch_up_grace`: failures after which a channel goes on unread; how long
      live events may be on their way when a channel has been read.
    - `live_patience`: after a gap live events of a channel wait until it is read; where the
      platform's limits let it be read only later than in so many seconds, they go on unread.
      `clean_patience`: the same where the gap is that between a clean stop and a start within
      `clean_stop` seconds. `longest_live_wait`: they go on then whatever the reason.
    - `echo_interval`: how often what our own posts tell of how far we have heard is noted.
    - `late_after`, `late_look`: how long a lane may be behind before people are told (infinite:
      never), and how often that is looked at.
    - `stopped_look`: how often a lane whose account sends nothing looks whether it may again.
    - `mark_wait`: how often a reaction looks whether the post it belongs to stands at last.
    - `look_back`: how far back edits and deletions are looked for after a gap; 0: not at all.
      `look_back_messages` of a channel at most, with `look_back_requests` of an account in all and
      `look_back_pause` after each; channels that cannot be read yet are not waited for longer than
      `look_back_patience`.
    - `told_late`: how long ago a thing happened that is told only now, so that its channel is
      compared anew, `compare_again` later.
    - `most_posts`: how many posts of one channel are caught up with; older ones are counted and
      said to be missing. `announce_after`: how long a gap is that nothing is known of, at least,
      to be worth a word in its rooms.
    - `hearing_interval`: how often we look after the accounts' hearing. `deaf_after`,
      `deaf_to_echo`: how long one hears nothing, or not its own post, until it is probed;
      `deaf_grace`: how long what the probe found may still be on its way.
    - `other_bridge_wait`: how long a post of ours may be unknown to the store before it counts as
      another bridge's; `other_bridge_look`: how often that is looked at; `other_bridge_away`:
      how long our connection is closed then, for our words to reach the other.
    - `orphan_wait`, `orphans_remembered`: how long what happened to an unknown message waits for
      it, and for how long it is remembered after that.
    - `history_page`: places of a room that are read back at a time for an agent; `history_rows`:
      and at most for one question.
    - `file_patience`: how long a message waits for its files, and the shortest pause before they
      are tried again; `files_awaited`: how long that goes on.
    - `drain`: how long a stop waits for what has begun.
    """

    settle_grace: float = 2.0
    settle_late: float = 30.0
    send_deadline: float = 30.0
    keep_patience: float = 2.0
    retry_for: float = 86400.0
    retry_marks_for: float = 3600.0
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
    live_patience: float = 6.0
    clean_patience: float = 0.5
    longest_live_wait: float = 20.0
    clean_stop: float = 60.0
    echo_interval: float = 5.0
    first_session: float = 30.0
    odd_failures: int = 5
    stopped_look: float = 30.0
    mark_wait: float = 5.0
    thread_window: float = 7 * 86400.0
    look_back: float = 86400.0
    look_back_messages: int = 2000
    look_back_requests: int = 500
    look_back_pause: float = 2.0
    look_back_patience: float = 60.0
    told_late: float = 45.0
    compare_again: float = 30.0
    most_posts: int = 5000
    announce_after: float = 60.0
    hearing_interval: float = 15.0
    deaf_after: float = 300.0
    deaf_to_echo: float = 30.0
    deaf_grace: float = 5.0
    other_bridge_wait: float = 10.0
    other_bridge_look: float = 5.0
    other_bridge_away: float = 5.0
    orphan_wait: float = 30.0
    orphans_remembered: float = 7 * 86400.0
    file_patience: float = 10.0
    files_awaited: float = 86400.0

    def backoff(self, attempts: int) -> float:
        """Doubles with each attempt, up to the longest."""
        return min(self.longest_backoff, self.first_backoff * 2 ** min(attempts, 30))
