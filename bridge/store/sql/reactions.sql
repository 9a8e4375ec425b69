-- name: standing_message
SELECT n FROM messages WHERE key = message_key(?) AND state <> 'deleted';

-- name: reacted_before
SELECT present FROM reactions
WHERE message = ? AND emoji = ? AND channel = ? AND target = ? AND actor = ?;

-- name: cleared_since
SELECT 1 FROM reactions
WHERE message = ? AND emoji IN ('', ?) AND channel = ? AND target = ? AND actor = '' AND at >= ?
LIMIT 1;

-- name: react
INSERT INTO reaction_rows (message, emoji, channel, target, actor, present, at)
VALUES (?, ?, (SELECT n FROM channels WHERE key = ?), ?, ?, ?, ?)
ON CONFLICT (message, emoji, channel, target, actor) DO UPDATE SET
  present = excluded.present, at = excluded.at
WHERE excluded.at > reaction_rows.at;

-- name: reacted_elsewhere
SELECT count(*) FROM (
  SELECT 1 FROM reactions
  WHERE message = ? AND emoji = ? AND channel <> ? AND present = 1 LIMIT 2
) AS counted;

-- name: reactions
SELECT emoji, actor, channel, target, at FROM reactions
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND present = 1
ORDER BY at, emoji, actor, channel, target;

-- name: reactions_of_number
SELECT emoji, actor FROM reactions WHERE message = ? AND present = 1 ORDER BY at, emoji, actor;

-- name: show_reactions
UPDATE message_rows SET reactions = packed(?) WHERE n = ?;

-- name: pinned_before
SELECT pinned FROM pins WHERE message = ?;

-- name: pin
INSERT INTO pins (message, pinned, actor, at) VALUES (?, ?, ?, ?)
ON CONFLICT (message) DO UPDATE SET
  pinned = excluded.pinned, actor = excluded.actor, at = excluded.at
WHERE excluded.at > pins.at;

-- name: pinned_by
SELECT actor FROM pins WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND pinned = 1;

-- name: waiting_marks
SELECT id, body FROM operations
WHERE message = ? AND lane = ? AND state = 'waiting' AND attempts = 0 ORDER BY seq;

-- name: cancel_mark
UPDATE operations SET state = 'cancelled', error = 'taken back before it was done', ended = ?
WHERE id = ?;

-- name: cancel_marks
UPDATE operations SET state = 'cancelled', error = 'the message was deleted', ended = ?
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND state = 'waiting' AND type IN (
  'add_reaction', 'remove_reaction', 'note_reactions', 'pin_message', 'unpin_message'
);

-- name: marks_in_lane
SELECT body, state, losses FROM operations
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND lane = ? ORDER BY seq;

-- name: post_is_open
SELECT 1 FROM operations
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND lane = ? AND type = 'post_message'
  AND state IN ('waiting', 'sending')
LIMIT 1;
