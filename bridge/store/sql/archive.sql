-- A number for a new message, and whether it is archived already.
-- name: next_message
SELECT (SELECT coalesce(max(n), 0) + 1 FROM message_rows),
  EXISTS (SELECT 1 FROM messages WHERE key = message_key(?));

-- name: keep_message
INSERT INTO message_rows (
  n, key, id, body, author, time, channel, thread, native_id, root, reply_to, audience, state, row,
  outcome, changed, moment
) VALUES (?, ?, ?, packed(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: message
SELECT body, reactions, feedback, author, time, channel, thread, native_id, root, state, changed, n, row,
  outcome
FROM messages WHERE key = message_key(?);

-- name: quoted
SELECT body, author, state, audience FROM messages WHERE key = message_key(?);

-- name: change_message
UPDATE message_rows SET body = packed(?), state = ? WHERE key = message_key(?);

-- name: change_later
UPDATE message_rows SET body = packed(?), state = ?, changed = ?
WHERE key = message_key(?) AND state <> 'deleted' AND (coalesce(changed, 0) < ? OR ? = 'deleted');

-- name: state_of
SELECT n, state FROM messages WHERE key = message_key(?);

-- name: is_later
SELECT n, state FROM messages
WHERE key = message_key(?) AND state <> 'deleted' AND (coalesce(changed, 0) < ? OR ? = 'deleted');

-- name: keep_version
INSERT INTO version_rows (message, version, body, until, actor)
SELECT n, 1 + coalesce((SELECT max(v.version) FROM version_rows AS v WHERE v.message = n), 0), body, ?, ?
FROM message_rows WHERE key = message_key(?) AND state <> 'streaming';

-- name: grow_timeline
INSERT INTO timelines (id, kind, name, metadata, created, updated, length)
VALUES (?, ?, ?, ?, ?, ?, 1)
ON CONFLICT (id) DO UPDATE SET
  length = timelines.length + 1,
  created = CASE WHEN timelines.length > 0 AND timelines.created < excluded.created
    THEN timelines.created ELSE excluded.created END,
  updated = CASE WHEN timelines.length > 0 AND timelines.updated > excluded.updated
    THEN timelines.updated ELSE excluded.updated END;

-- name: make_timeline
INSERT INTO timelines (id, kind, name, metadata, created, updated, length)
VALUES (?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (id) DO NOTHING;

-- name: enter_timeline
INSERT INTO entries (timeline, seq, message, epoch, moment)
SELECT n, length, ?, ?, ? FROM timelines WHERE id = ?;

-- name: known_timelines
SELECT n, id FROM timelines WHERE id IN (SELECT one.value FROM json_each(?) AS one);

-- name: payload_of_row
SELECT payload FROM payloads WHERE row = ?;

-- name: timeline
SELECT n, kind, name, metadata, created, updated FROM timelines WHERE id = ?;

-- name: timelines
SELECT id, kind, name, metadata, length FROM timelines ORDER BY n;

-- name: timelines_of_message
SELECT t.id, t.kind, t.name, t.metadata, e.seq, e.epoch
FROM entries AS e JOIN timelines AS t ON t.n = e.timeline
WHERE e.message = ? ORDER BY t.n;

-- name: newest_in_timeline
SELECT m.body, m.reactions, m.feedback FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
WHERE e.timeline = ? AND m.state <> 'deleted' AND m.audience IS NULL
ORDER BY e.seq DESC LIMIT ?;

-- An answer of an agent, which stands in no channel, belongs to what it answers.
-- name: in_view
SELECT m.body, m.reactions, m.feedback FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
LEFT JOIN messages AS asked ON m.channel IS NULL AND asked.key = message_key(m.reply_to)
WHERE e.timeline = ?1 AND e.seq > ?8 AND e.seq < ?9 AND m.state <> 'deleted'
  AND (?2 IS NULL OR coalesce(m.channel, asked.channel) = ?2)
  AND (?3 IS NULL OR ?3 IN (m.id, m.root, asked.id, asked.root))
  AND (?4 IS NULL
       OR json_extract(CAST(coalesce(asked.author, m.author) AS TEXT), '$.id') = ?4)
  AND (m.audience IS NULL OR EXISTS (
    SELECT 1 FROM json_each(m.audience) AS one WHERE instr(?5, '"' || one.value || '"')
  ))
  AND (?6 IS NULL OR EXISTS (
    SELECT 1 FROM periods AS during
    WHERE during.room = ?7 AND during.member = ?6 AND during.since <= coalesce(e.epoch, 0)
      AND (during.until IS NULL OR during.until > coalesce(e.epoch, 0))
  ))
ORDER BY e.seq DESC LIMIT ?10;

-- name: length
SELECT n, name, length FROM timelines WHERE id = ?;

-- name: number_of
SELECT seq FROM entries
WHERE message = (SELECT n FROM messages WHERE key = message_key(?))
  AND timeline = (SELECT n FROM timelines WHERE id = ?);

-- name: relations
SELECT id, root, reply_to FROM messages WHERE key IN (SELECT message_key(one.value) FROM json_each(?) AS one);

-- name: changed_since
SELECT 1 FROM changes AS c CROSS JOIN messages AS m ON m.n = c.message
CROSS JOIN entries AS e ON e.message = c.message AND e.timeline = c.timeline
WHERE c.timeline = (SELECT n FROM timelines WHERE id = ?1) AND c.seq > ?2 AND c.kind = 'changed'
  AND m.state IN ('edited', 'deleted')
  AND (e.seq <= ?3 OR json_extract(CAST(m.author AS TEXT), '$.id') = ?4)
LIMIT 1;

-- name: was_present
SELECT 1 FROM messages AS m
JOIN entries AS e ON e.message = m.n
JOIN timelines AS t ON t.n = e.timeline
JOIN periods AS during ON during.room = t.name
WHERE m.key = message_key(?1) AND t.kind = 'room' AND t.name = ?2 AND during.member = ?3
  AND during.since <= coalesce(e.epoch, 0)
  AND (during.until IS NULL OR during.until > coalesce(e.epoch, 0))
LIMIT 1;

-- name: person
SELECT body FROM people WHERE id = ?;

-- name: save_person
INSERT INTO people (id, body) VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET body = excluded.body;

-- name: rooms
SELECT named.room, named.conversation
FROM json_each(?) AS one JOIN rooms AS named ON named.room = one.value;

-- name: make_room
INSERT INTO rooms (room, conversation) VALUES (?, ?) ON CONFLICT (room) DO NOTHING;
