-- name: home
SELECT t.n, t.id FROM entries AS e JOIN timelines AS t ON t.n = e.timeline
WHERE e.message = ? ORDER BY e.timeline LIMIT 1;

-- name: content
SELECT m.key, m.id, m.body, m.author, m.time, m.channel, m.thread, m.native_id, m.root, m.reply_to,
  m.audience, m.state, (SELECT count(*) FROM versions AS v WHERE v.message = m.n), live.payload
FROM messages AS m
LEFT JOIN payloads AS live ON live.row = m.row
WHERE m.n = ?;

-- name: id
SELECT id FROM messages WHERE n = ?;

-- name: versions
SELECT version, body FROM versions WHERE message = ? ORDER BY version;

-- name: reactions
SELECT emoji, channel, target, actor, present, at FROM reactions WHERE message = ?
ORDER BY emoji, channel, target, actor;

-- name: last
SELECT seq, hash FROM chain WHERE timeline = ? ORDER BY seq DESC LIMIT 1;

-- name: last_of_first
SELECT seq, hash FROM chain
WHERE timeline = (
  SELECT min(n) FROM timelines WHERE id IN (SELECT one.value FROM json_each(?) AS one)
)
ORDER BY seq DESC LIMIT 1;

-- name: add
INSERT INTO chain (timeline, seq, message, version, kind, at, salt, digest, payload_digest, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: forget_content
UPDATE chain SET salt = NULL WHERE message = ? AND kind <> 'reacted';

-- name: forget_reactions
UPDATE chain SET salt = NULL WHERE message = ? AND kind = 'reacted';

-- name: unlinked
SELECT n FROM message_rows WHERE n > ? AND state <> 'streaming' ORDER BY n LIMIT 1000;

-- name: forget_all
DELETE FROM chain;

-- name: version
SELECT value FROM meta WHERE key = 'chain_version';

-- name: set_version
INSERT INTO meta (key, value) VALUES ('chain_version', ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: conversations
SELECT n, id FROM timelines ORDER BY n;

-- name: links
SELECT seq, message, version, kind, at, salt, digest, payload_digest, hash FROM chain
WHERE timeline = ? ORDER BY seq;

-- name: links_of_message
SELECT seq, version, kind, salt, digest, payload_digest FROM chain
WHERE timeline = ? AND message = ? ORDER BY seq;

-- name: messages_of
SELECT e.message FROM entries AS e WHERE e.timeline = ?1
  AND ?1 = (SELECT min(o.timeline) FROM entries AS o WHERE o.message = e.message)
ORDER BY e.seq;

-- name: strays
SELECT DISTINCT c.message FROM chain AS c WHERE c.timeline = ?
  AND NOT EXISTS (SELECT 1 FROM entries AS e WHERE e.timeline = c.timeline AND e.message = c.message);
