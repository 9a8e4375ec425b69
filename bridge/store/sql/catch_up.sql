-- name: note_orphan
INSERT INTO orphans (channel, native_id, row, deletion, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (channel, native_id, row) DO NOTHING;

-- name: orphans
SELECT channel, native_id, row, deletion FROM orphans WHERE at >= ? ORDER BY at DESC LIMIT ?;

-- name: forget_orphans
DELETE FROM orphans WHERE at < ?;

-- name: expected_messages
SELECT links.native_id, links.thread, links.kind, links.at, m.changed, m.id
FROM links CROSS JOIN messages AS m ON m.n = links.message
WHERE links.channel = (SELECT n FROM channels WHERE key = ?1) AND links.at >= ?2 AND links.gone = 0
  AND (?3 IS NULL OR links.thread = ?3) AND m.state <> 'deleted'
ORDER BY links.at DESC LIMIT ?4;

-- name: row
SELECT id, account, kind, dedupe_key, order_key, channel, payload
FROM inbox JOIN payloads ON row = id WHERE id = ?;

-- name: pins
SELECT links.native_id, links.thread, m.id, pins.pinned, pins.actor, pins.at
FROM pins CROSS JOIN messages AS m ON m.n = pins.message
CROSS JOIN links ON links.message = pins.message
WHERE links.channel = (SELECT n FROM channels WHERE key = ?) AND links.gone = 0
  AND m.state <> 'deleted' AND links.slot = (
    SELECT min(f.slot) FROM links AS f
    WHERE f.message = links.message AND f.channel = links.channel AND f.gone = 0
  );
