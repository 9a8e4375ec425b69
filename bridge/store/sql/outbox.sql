-- Four statements end a post that is open and has no receipts yet, and change nothing otherwise:
-- link_first_copy, unlink_replaced_by_first, note_first_post and, last, settle_first, which tells.

-- name: queue
INSERT INTO operations (id, lane, type, message, body, state, attempts, began, due, created)
VALUES (?, ?, ?, (SELECT n FROM messages WHERE key = message_key(?)), ?, ?, ?, ?, ?, ?);

-- name: same_waiting
SELECT 1 FROM operations
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND lane = ? AND state = 'waiting'
  AND (type = 'edit_message' OR (type = 'post_message' AND receipts = '[]'))
LIMIT 1;

-- name: cancel_waiting
UPDATE operations SET state = 'cancelled', error = 'deleted before it was sent', ended = ?
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND lane = ? AND state = 'waiting'
  AND type = 'post_message' AND receipts = '[]';

-- name: posts_of
SELECT body FROM operations AS o
WHERE o.message = (SELECT n FROM messages WHERE key = message_key(?)) AND o.type = 'post_message'
  AND o.state NOT IN ('dead', 'unproved', 'cancelled')
  AND (
    o.state <> 'done' OR o.receipts = '[]' OR EXISTS (
      SELECT 1 FROM links
      WHERE message = o.message AND channel = (SELECT n FROM channels WHERE key = o.lane)
        AND kind = 1 AND gone = 0
    )
  )
ORDER BY o.seq;

-- name: unproved_post
SELECT 1 FROM operations
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND lane = ?
  AND state = 'unproved' AND type IN ('post_message', 'edit_message')
LIMIT 1;

-- name: open_lanes
SELECT DISTINCT lane FROM operations WHERE state IN ('waiting', 'sending');

-- name: is_known
SELECT 1 FROM operations WHERE id = ?;

-- name: head
SELECT o.body, o.state, o.attempts, o.due, o.created, o.began, m.body, m.state, l.last_post,
  EXISTS (
    SELECT 1 FROM links
    WHERE message = o.message AND channel = (SELECT place.n FROM channels AS place WHERE place.key = o.lane)
  )
FROM operations AS o
JOIN messages AS m ON m.n = o.message
LEFT JOIN lanes AS l ON l.lane = o.lane
WHERE o.lane = ? AND o.state IN ('waiting', 'sending')
ORDER BY o.seq LIMIT 1;

-- name: head_besides
SELECT o.body, o.state, o.attempts, o.due, o.created, o.began, m.body, m.state, l.last_post,
  EXISTS (
    SELECT 1 FROM links
    WHERE message = o.message AND channel = (SELECT place.n FROM channels AS place WHERE place.key = o.lane)
  )
FROM operations AS o
JOIN messages AS m ON m.n = o.message
LEFT JOIN lanes AS l ON l.lane = o.lane
WHERE o.lane = ? AND o.state IN ('waiting', 'sending')
  AND m.id NOT IN (SELECT one.value FROM json_each(?) AS one)
ORDER BY o.seq LIMIT 1;

-- name: notice
SELECT o.body, o.state, o.attempts, o.due, o.created, o.began, m.body, m.state, l.last_post,
  EXISTS (
    SELECT 1 FROM links
    WHERE message = o.message AND channel = (SELECT place.n FROM channels AS place WHERE place.key = o.lane)
  )
FROM operations AS o
JOIN messages AS m ON m.n = o.message
LEFT JOIN lanes AS l ON l.lane = o.lane
WHERE o.lane = ? AND o.state IN ('waiting', 'sending') AND m.id >= 'bridge:' AND m.id < 'bridge;'
ORDER BY o.seq LIMIT 1;

-- name: begin
UPDATE operations SET state = 'sending', attempts = attempts + 1, began = ?
WHERE id = ? AND state IN ('waiting', 'sending');

-- name: postpone
UPDATE operations SET state = 'waiting', due = ?, error = ?
WHERE id = ? AND state IN ('waiting', 'sending');

-- name: operation
SELECT state, lane, type, message, receipts, (SELECT place.n FROM channels AS place WHERE place.key = lane)
FROM operations WHERE id = ?;

-- name: note_receipts
UPDATE operations SET receipts = ? WHERE id = ?;

-- name: settle
UPDATE operations SET state = ?, error = ?, receipts = ?, losses = ?, ended = ? WHERE id = ?;

-- name: link_first_copy
INSERT INTO links (channel, native_id, message, kind, slot, thread, gone, at)
SELECT place.n, ?, o.message, 1, ?, ?, 0, ?
FROM operations AS o JOIN channels AS place ON place.key = o.lane
WHERE o.id = ? AND o.type = 'post_message'
  AND o.state IN ('waiting', 'sending') AND o.receipts = '[]'
ON CONFLICT (message, channel, native_id) DO UPDATE SET
  slot = excluded.slot,
  thread = coalesce(excluded.thread, links.thread),
  gone = excluded.gone;

-- name: unlink_replaced_by_first
UPDATE links SET gone = 1
WHERE (message, channel) = (
    SELECT o.message, place.n FROM operations AS o JOIN channels AS place ON place.key = o.lane
    WHERE o.id = ? AND o.type = 'post_message'
      AND o.state IN ('waiting', 'sending') AND o.receipts = '[]'
  )
  AND kind = 1 AND slot = ? AND native_id <> ? AND gone = 0;

-- name: note_first_post
INSERT INTO lanes (lane, last_post)
SELECT o.lane, ? FROM operations AS o JOIN channels AS place ON place.key = o.lane
WHERE o.id = ? AND o.type = 'post_message'
  AND o.state IN ('waiting', 'sending') AND o.receipts = '[]'
ON CONFLICT (lane) DO UPDATE SET last_post = excluded.last_post;

-- name: settle_first
UPDATE operations SET state = 'done', error = ?, receipts = ?, losses = ?, ended = ?
WHERE id = ? AND type = 'post_message' AND state IN ('waiting', 'sending') AND receipts = '[]'
  AND EXISTS (SELECT 1 FROM channels AS place WHERE place.key = lane);

-- name: note_last_post
INSERT INTO lanes (lane, last_post) VALUES (?, ?)
ON CONFLICT (lane) DO UPDATE SET last_post = excluded.last_post;

-- name: dead_letters
SELECT o.body, o.state, o.error, o.attempts, o.ended, m.body, m.state
FROM operations AS o JOIN messages AS m ON m.n = o.message
WHERE o.state IN ('dead', 'unproved', 'cancelled') AND o.state <> 'cancelled' ORDER BY o.ended, o.seq;

-- name: held_up
SELECT
  operations.body, operations.state, operations.error, operations.attempts, operations.created,
  m.body, m.state
FROM operations CROSS JOIN messages AS m ON m.n = operations.message
WHERE operations.state IN ('waiting', 'sending')
  AND (operations.error <> '' OR (operations.state = 'sending' AND operations.began < ?))
ORDER BY operations.lane, operations.seq;

-- name: hasten
UPDATE operations SET due = CASE state WHEN 'waiting' THEN 0.0 ELSE due END
WHERE id = ? AND state IN ('waiting', 'sending') RETURNING lane;

-- name: replay
UPDATE operations SET
  seq = (SELECT max(seq) + 1 FROM operations), state = 'waiting', attempts = 0, due = ?,
  created = ?, began = NULL, ended = NULL, error = '', losses = '[]'
WHERE id = ? AND state IN ('dead', 'unproved')
RETURNING lane;

-- name: operations_of_message
SELECT body, state, attempts, error, created, began, ended, losses, receipts
FROM operations WHERE message = ? ORDER BY seq;
