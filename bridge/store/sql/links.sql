-- Which native ids show a message in a channel.

-- name: link_said
INSERT INTO links (channel, native_id, message, kind, slot, thread, at) VALUES (?, ?, ?, 0, 0, ?, ?)
ON CONFLICT (message, channel, native_id) DO NOTHING;

-- name: link_copy
INSERT INTO links (channel, native_id, message, kind, slot, thread, gone, at)
VALUES (?, ?, ?, 1, ?, ?, ?, ?)
ON CONFLICT (message, channel, native_id) DO UPDATE SET
  slot = excluded.slot,
  thread = coalesce(excluded.thread, links.thread),
  gone = excluded.gone;

-- name: unlink_replaced
UPDATE links SET gone = 1
WHERE message = ? AND channel = ? AND kind = 1 AND slot = ? AND native_id <> ? AND gone = 0;

-- name: note_gone
UPDATE links SET gone = 1
WHERE channel = (SELECT n FROM channels WHERE key = ?) AND native_id = ? AND kind = 1;

-- name: removed_by_us
SELECT 1 FROM links
WHERE channel = (SELECT n FROM channels WHERE key = ?) AND native_id = ? AND kind = 1 AND gone = 1
UNION ALL
SELECT 1 FROM operations
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND lane = ?
  AND (
    (type = 'delete_message' AND state NOT IN ('dead', 'cancelled'))
    OR (type = 'edit_message' AND state = 'sending')
  )
LIMIT 1;

-- name: resolve
SELECT m.id FROM links CROSS JOIN messages AS m ON m.n = links.message
WHERE links.channel = (SELECT n FROM channels WHERE key = ?) AND links.native_id = ?
ORDER BY links.kind, m.id LIMIT 1;

-- name: resolve_stand_in
SELECT root FROM stand_ins
WHERE channel = (SELECT n FROM channels WHERE key = ?) AND native_id = ? ORDER BY root LIMIT 1;

-- name: copies
SELECT slot, native_id, thread FROM links
WHERE message = (SELECT n FROM messages WHERE key = message_key(?))
  AND channel = (SELECT n FROM channels WHERE key = ?) AND gone = 0
ORDER BY slot, at, native_id;
