-- The messages of one erasure are in a temporary table: `erased (n, id, row)`.

-- name: make_erased
CREATE TEMP TABLE erased (n INTEGER PRIMARY KEY, id TEXT NOT NULL, row INTEGER);

-- name: drop_erased
DROP TABLE IF EXISTS temp.erased;

-- name: choose_message
INSERT INTO erased SELECT n, id, row FROM messages WHERE key = message_key(?);

-- name: choose_person
INSERT OR IGNORE INTO erased
SELECT m.n, m.id, m.row FROM message_rows AS r CROSS JOIN messages AS m ON m.n = r.n
WHERE r.author IN (
  SELECT a.n FROM authors AS a WHERE json_extract(CAST(a.body AS TEXT), '$.id') = ?
);

-- name: choose_workspace
INSERT OR IGNORE INTO erased
SELECT m.n, m.id, m.row FROM message_rows AS r CROSS JOIN messages AS m ON m.n = r.n
WHERE r.channel IN (SELECT c.n FROM channels AS c WHERE c.key >= ? AND c.key < ?);

-- name: choose_room
INSERT OR IGNORE INTO erased
SELECT m.n, m.id, m.row FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
WHERE e.timeline IN (SELECT t.n FROM timelines AS t WHERE t.kind = 'room' AND t.name = ?);

-- name: actors_of
SELECT id FROM people WHERE id >= ?1 AND id < ?2
UNION
SELECT json_extract(CAST(body AS TEXT), '$.id') AS id FROM authors
WHERE json_extract(CAST(body AS TEXT), '$.id') >= ?1
  AND json_extract(CAST(body AS TEXT), '$.id') < ?2
ORDER BY id;

-- name: rows_of_workspace
SELECT id FROM inbox WHERE channel >= ? AND channel < ?;

-- name: forget_cursors
DELETE FROM cursors WHERE channel >= ? AND channel < ?;

-- name: forget_links_to_rooms
DELETE FROM room_links WHERE channel >= ? AND channel < ?;

-- name: forget_descriptions
DELETE FROM descriptions WHERE id >= ? AND id < ?;

-- name: forget_consents
DELETE FROM direct_message_consents WHERE channel >= ? AND channel < ?;

-- name: forget_orphans
DELETE FROM orphans WHERE channel >= ? AND channel < ?;

-- name: forget_periods
DELETE FROM periods WHERE member >= ? AND member < ?;

-- name: forget_account
DELETE FROM key_values WHERE account = ?;

-- name: touch
INSERT OR IGNORE INTO erased SELECT n, id, row FROM messages WHERE n = ?;

-- name: numbers_of_rows
SELECT n FROM messages WHERE row IN (SELECT CAST(one.value AS INTEGER) FROM json_each(?) AS one);

-- name: chosen
SELECT m.n, m.id, m.body, m.author, m.channel, m.native_id, m.state
FROM erased AS e CROSS JOIN messages AS m ON m.n = e.n ORDER BY m.n;

-- name: holding
SELECT h.name, h.reason FROM legal_holds AS h, erased AS e
CROSS JOIN messages AS m ON m.n = e.n
WHERE (h.channel IS NULL OR h.channel = m.channel)
  AND (h.actor IS NULL OR h.actor = json_extract(CAST(m.author AS TEXT), '$.id'))
  AND (h.since IS NULL OR m.time >= h.since) AND (h.until IS NULL OR m.time < h.until)
  AND (h.room IS NULL OR m.channel IN (SELECT p.member FROM periods AS p WHERE p.room = h.room)
    OR EXISTS (
      SELECT 1 FROM entries AS x JOIN timelines AS t ON t.n = x.timeline
      JOIN rooms AS r ON r.conversation = t.id WHERE x.message = m.n AND r.room = h.room
    ))
LIMIT 1;

-- name: leave_held
DELETE FROM erased WHERE n IN (
SELECT e.n FROM legal_holds AS h, erased AS e
CROSS JOIN messages AS m ON m.n = e.n
WHERE (h.channel IS NULL OR h.channel = m.channel)
  AND (h.actor IS NULL OR h.actor = json_extract(CAST(m.author AS TEXT), '$.id'))
  AND (h.since IS NULL OR m.time >= h.since) AND (h.until IS NULL OR m.time < h.until)
  AND (h.room IS NULL OR m.channel IN (SELECT p.member FROM periods AS p WHERE p.room = h.room)
    OR EXISTS (
      SELECT 1 FROM entries AS x JOIN timelines AS t ON t.n = x.timeline
      JOIN rooms AS r ON r.conversation = t.id WHERE x.message = m.n AND r.room = h.room
    ))
);

-- name: choose_number
INSERT INTO erased SELECT n, id, row FROM messages WHERE n = ?;

-- name: older_messages
SELECT m.n, m.moment, m.time, m.channel,
  (SELECT group_concat(t.id) FROM entries AS e JOIN timelines AS t ON t.n = e.timeline
   WHERE e.message = m.n AND t.kind = 'room')
FROM messages AS m
WHERE m.moment > ? AND m.moment < ? AND m.outcome <> 'erased' AND m.state <> 'streaming'
ORDER BY m.moment LIMIT ?;

-- name: done_payloads
SELECT i.id, i.channel, i.received_at FROM inbox AS i JOIN payloads AS p ON p.row = i.id
WHERE i.id > ? AND i.state = 'done' ORDER BY i.id LIMIT ?;

-- name: imported_payloads
SELECT m.n, m.channel, m.time
FROM payload_blocks AS b CROSS JOIN messages AS m ON m.n >= b.first AND m.n < b.first + b.count
WHERE b.first + b.count > ?1 AND m.n > ?1 ORDER BY b.first, m.n LIMIT ?2;

-- name: naming_files
SELECT m.channel, m.time,
  (SELECT group_concat(t.id) FROM entries AS e JOIN timelines AS t ON t.n = e.timeline
   WHERE e.message = m.n AND t.kind = 'room'),
  m.body
FROM messages AS m WHERE instr(m.body, ?1) AND m.state <> 'deleted'
UNION ALL
SELECT m.channel, m.time,
  (SELECT group_concat(t.id) FROM entries AS e JOIN timelines AS t ON t.n = e.timeline
   WHERE e.message = m.n AND t.kind = 'room'),
  v.body
FROM versions AS v JOIN messages AS m ON m.n = v.message
WHERE instr(v.body, ?1) AND m.state <> 'deleted';

-- name: forget_translations
DELETE FROM translations WHERE message IN (SELECT n FROM erased);

-- name: forget_all_translations
DELETE FROM translations;

-- name: bodies_of_erased
SELECT m.body, m.author FROM erased AS e CROSS JOIN messages AS m ON m.n = e.n
UNION ALL SELECT v.body, x'' FROM erased AS e CROSS JOIN versions AS v ON v.message = e.n;

-- name: rows_of_erased
SELECT row FROM erased WHERE row IS NOT NULL;

-- name: person
SELECT body FROM people WHERE id = ?;

-- name: display_names
SELECT name FROM display_names WHERE actor = ?;

-- name: near
SELECT n, id, body, state FROM messages
WHERE n NOT IN (SELECT n FROM erased) AND (
  reply_to IN (SELECT id FROM erased) OR root IN (SELECT id FROM erased)
  OR (id >= 'bridge:' AND id < 'bridge;')
);

-- name: naming
SELECT n, id, body, state FROM messages
WHERE n NOT IN (SELECT n FROM erased) AND instr(CAST(body AS BLOB), ?);

-- name: versions_naming
SELECT message, version, body FROM versions WHERE instr(CAST(body AS BLOB), ?);

-- name: descriptions_naming
SELECT kind, id, body FROM descriptions WHERE instr(CAST(body AS BLOB), ?);

-- name: set_description
UPDATE descriptions SET body = ? WHERE kind = ? AND id = ?;

-- name: whispers_to
SELECT n, audience FROM messages WHERE audience IS NOT NULL AND instr(audience, ?);

-- name: set_audience
UPDATE message_rows SET audience = ? WHERE n = ?;

-- name: set_body
UPDATE message_rows SET body = packed(?) WHERE n = ?;

-- name: set_version
UPDATE version_rows SET body = packed(?) WHERE message = ? AND version = ?;

-- name: erase_body
UPDATE message_rows SET
  body = packed(?), author = ?, state = 'deleted', changed = ?, reactions = NULL, feedback = NULL,
  outcome = 'erased'
WHERE n = ?;

-- name: erase_versions
DELETE FROM version_rows WHERE message IN (SELECT n FROM erased);

-- name: erased
SELECT n FROM erased;

-- name: erase_reactions
DELETE FROM reaction_rows WHERE message IN (SELECT n FROM erased);

-- name: erase_pins
DELETE FROM pins WHERE message IN (SELECT n FROM erased);

-- name: erase_feedback
DELETE FROM feedback WHERE message IN (SELECT n FROM erased);

-- name: erase_errors_of_operations
UPDATE operations SET error = '', losses = '[]' WHERE message IN (SELECT n FROM erased);

-- name: operations_of_erased
SELECT o.id, o.body FROM operations AS o WHERE o.message IN (SELECT n FROM erased);

-- name: set_operation
UPDATE operations SET body = ? WHERE id = ?;

-- name: erase_errors_of_turns
UPDATE turns SET error = '' WHERE trigger_message IN (SELECT id FROM erased)
  OR answer IN (SELECT id FROM erased);

-- name: erase_decisions
DELETE FROM approval_decisions WHERE approval IN (
  SELECT id FROM approvals WHERE trigger_message IN (SELECT id FROM erased)
);

-- name: erase_approvals
DELETE FROM approvals WHERE trigger_message IN (SELECT id FROM erased);

-- name: payloads_of_channel
SELECT i.id, p.payload FROM inbox AS i JOIN payloads AS p ON p.row = i.id WHERE i.channel = ?;

-- name: all_payloads
SELECT i.id, p.payload FROM inbox AS i JOIN payloads AS p ON p.row = i.id;

-- name: erase_payload
DELETE FROM payloads WHERE row = ?;

-- name: erase_credentials
DELETE FROM payload_credentials WHERE row = ?;

-- name: end_row
UPDATE inbox SET
  error = '', outcome = CASE state WHEN 'done' THEN outcome ELSE 'erased' END, state = 'done'
WHERE id = ?;

-- name: forget_derived
DELETE FROM key_values WHERE key GLOB ?;

-- name: forget_author
DELETE FROM authors WHERE json_extract(CAST(body AS TEXT), '$.id') = ?;

-- name: reactions_by
SELECT DISTINCT message FROM reactions WHERE actor = ?;

-- name: erase_reactions_by
DELETE FROM reaction_rows WHERE actor = ?;

-- name: rated_by
SELECT message FROM feedback WHERE actor = ?;

-- name: erase_feedback_by
DELETE FROM feedback WHERE actor = ?;

-- name: record
INSERT INTO erasures (id, at, by, reason, subject, counts, files) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: files_to_remove
SELECT files FROM erasures WHERE cleaned IS NULL;

-- name: records
SELECT id, at, by, reason, subject, counts, cleaned IS NOT NULL FROM erasures ORDER BY at, id;

-- name: set_cleaned
UPDATE erasures SET cleaned = ?, files = '[]' WHERE cleaned IS NULL;

-- name: merge_index
INSERT INTO words (words, rank) VALUES ('merge', ?);

-- name: overwrites
SELECT 1 FROM meta WHERE key = 'overwrites_freed';

-- name: set_overwrites
INSERT OR IGNORE INTO meta (key, value) VALUES ('overwrites_freed', 1);

-- name: add_hold
INSERT INTO legal_holds (name, by, reason, at, room, channel, actor, since, until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: holds
SELECT name, by, reason, at, room, channel, actor, since, until FROM legal_holds ORDER BY name;

-- name: remove_hold
DELETE FROM legal_holds WHERE name = ?;
