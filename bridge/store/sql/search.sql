-- name: document
SELECT moment, body, author, root, audience, state FROM messages WHERE n = ?;

-- name: conversations_of
SELECT t.id FROM entries AS e JOIN timelines AS t ON t.n = e.timeline WHERE e.message = ?
ORDER BY t.n;

-- name: add
INSERT INTO words (rowid, text, facets) VALUES (?, ?, ?);

-- name: remove
INSERT INTO words (words, rowid, text, facets) VALUES ('delete', ?, ?, ?);

-- name: find
SELECT m.moment, m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id, m.root,
  m.state, m.changed, m.reply_to, m.n
FROM words CROSS JOIN messages AS m ON m.moment = words.rowid
WHERE words MATCH ? AND words.rowid > ? AND words.rowid < ?
ORDER BY words.rowid DESC LIMIT ?;

-- name: earlier
SELECT m.moment, m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id, m.root,
  m.state, m.changed, m.reply_to, m.n
FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
WHERE e.timeline = (SELECT n FROM timelines WHERE id = ?1) AND e.moment < ?2
  AND m.state <> 'streaming' AND (?3 = 1 OR m.state <> 'deleted')
  AND (m.audience IS NULL OR EXISTS (
    SELECT 1 FROM json_each(m.audience) AS actor WHERE instr(?4, '"' || actor.value || '"')
  ))
ORDER BY e.moment DESC LIMIT ?5;

-- name: later
SELECT m.moment, m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id, m.root,
  m.state, m.changed, m.reply_to, m.n
FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
WHERE e.timeline = (SELECT n FROM timelines WHERE id = ?1) AND e.moment > ?2
  AND m.state <> 'streaming' AND (?3 = 1 OR m.state <> 'deleted')
  AND (m.audience IS NULL OR EXISTS (
    SELECT 1 FROM json_each(m.audience) AS actor WHERE instr(?4, '"' || actor.value || '"')
  ))
ORDER BY e.moment ASC LIMIT ?5;

-- name: unindexed
SELECT n FROM messages WHERE n > ? AND state <> 'streaming' ORDER BY n LIMIT 1000;

-- name: forget_all
INSERT INTO words (words) VALUES ('delete-all');

-- name: version
SELECT value FROM meta WHERE key = 'search_version';

-- name: set_version
INSERT INTO meta (key, value) VALUES ('search_version', ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: described_names
SELECT id, json_extract(CAST(body AS TEXT), '$.name') FROM descriptions WHERE kind = 'channel';

-- name: timeline_names
SELECT id, name FROM timelines WHERE kind <> 'thread';
