-- name: position
SELECT t.length, coalesce((SELECT max(c.seq) FROM changes AS c WHERE c.timeline = t.n), 0)
FROM timelines AS t WHERE t.id = ?;

-- name: said_since
SELECT e.seq, 'said', m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id,
  m.root, m.state, m.changed
FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
WHERE e.timeline = (SELECT n FROM timelines WHERE id = ?) AND e.seq > ?
  AND (m.audience IS NULL OR instr(m.audience, ?))
ORDER BY e.seq LIMIT ?;

-- name: changed_since
SELECT c.seq, c.kind, m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id,
  m.root, m.state, m.changed
FROM changes AS c CROSS JOIN messages AS m ON m.n = c.message
WHERE c.timeline = (SELECT n FROM timelines WHERE id = ?) AND c.seq > ?
  AND (m.audience IS NULL OR instr(m.audience, ?))
ORDER BY c.seq LIMIT ?;

-- name: page
SELECT e.seq, m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id, m.root,
  m.state, m.changed
FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
WHERE e.timeline = (SELECT n FROM timelines WHERE id = ?) AND e.seq < ? AND m.state <> 'deleted'
  AND (m.audience IS NULL OR instr(m.audience, ?))
ORDER BY e.seq DESC LIMIT ?;

-- name: rooms_of_message
SELECT t.id
FROM messages AS m CROSS JOIN entries AS e ON e.message = m.n
CROSS JOIN timelines AS t ON t.n = e.timeline
WHERE m.key = message_key(?) AND t.kind = 'room' AND (m.audience IS NULL OR instr(m.audience, ?));

-- name: put_token
INSERT INTO api_tokens (name, digest, role, rooms, scopes, created, expires, per_minute, actors)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
  digest = excluded.digest, role = excluded.role, rooms = excluded.rooms,
  scopes = excluded.scopes, created = excluded.created, expires = excluded.expires,
  per_minute = excluded.per_minute, actors = excluded.actors;

-- name: token
SELECT name, digest, role, rooms, scopes, created, expires, per_minute, actors FROM api_tokens
WHERE name = ?;

-- name: tokens
SELECT name, digest, role, rooms, scopes, created, expires, per_minute, actors FROM api_tokens
ORDER BY name;

-- name: revoke_token
DELETE FROM api_tokens WHERE name = ?;
