-- name: imported_units
SELECT unit, fingerprint FROM imported_units WHERE export = ?;

-- name: finish_unit
INSERT INTO imported_units (export, unit, fingerprint, at) VALUES (?, ?, ?, ?)
ON CONFLICT (export, unit) DO UPDATE SET fingerprint = excluded.fingerprint, at = excluded.at;

-- name: describe
INSERT INTO descriptions (kind, id, body) VALUES (?, ?, ?)
ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body;

-- name: add_person
INSERT INTO people (id, body) VALUES (?, ?) ON CONFLICT (id) DO NOTHING;

-- name: add_name
INSERT INTO person_names (actor, skeleton) VALUES (?, ?) ON CONFLICT (actor) DO NOTHING;

-- name: descriptions
SELECT id, body FROM descriptions WHERE kind = ? ORDER BY id;

-- name: known
SELECT m.id, m.n, m.state, m.changed, m.reactions, m.outcome
FROM json_each(?) AS wanted CROSS JOIN messages AS m ON m.key = message_key(wanted.value);

-- The number before the first of as many as are needed.
-- name: reserve_numbers
SELECT coalesce(max(n), 0), ?1 FROM messages;

-- name: add_message
INSERT INTO message_rows (
  n, key, id, body, author, time, channel, thread, native_id, root, reply_to, audience, state,
  changed, moment, reactions
) VALUES (?, ?, ?, packed(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, packed(?));

-- name: add_link
INSERT INTO links (channel, native_id, message, kind, slot, thread, at) VALUES (?, ?, ?, 0, 0, ?, ?)
ON CONFLICT (message, channel, native_id) DO NOTHING;

-- name: add_version
INSERT INTO version_rows (message, version, body, until, actor) VALUES (?, ?, packed(?), ?, ?);

-- name: forget_reactions
DELETE FROM reaction_rows WHERE message = ?;

-- name: add_reaction
INSERT INTO reaction_rows (message, emoji, channel, target, actor, present, at)
VALUES (?, ?, ?, ?, ?, 1, ?)
ON CONFLICT (message, emoji, channel, target, actor) DO NOTHING;

-- name: show_reactions
UPDATE message_rows SET reactions = packed(?) WHERE n = ?;

-- name: add_pin
INSERT INTO pins (message, pinned, actor, at) VALUES (?, 1, ?, ?) ON CONFLICT (message) DO NOTHING;

-- name: timeline
SELECT n, length, created, updated FROM timelines WHERE id = ?;

-- name: make_timeline
INSERT INTO timelines (id, kind, name, metadata, created, updated, length)
VALUES (?, ?, ?, ?, ?, ?, 0) RETURNING n;

-- name: grow_timeline
UPDATE timelines SET length = ?, created = ?, updated = ? WHERE n = ?;

-- name: enter_timeline
INSERT INTO entries (timeline, seq, message, epoch, moment) VALUES (?, ?, ?, NULL, ?);

-- name: people
SELECT id, body FROM people ORDER BY id;

-- name: channels
SELECT name, length FROM timelines WHERE kind = 'channel' ORDER BY name;

-- name: rooms
SELECT name, id, length FROM timelines WHERE kind = 'room' ORDER BY name;

-- name: members
SELECT DISTINCT room, member FROM periods ORDER BY room, member;

-- name: messages_of
SELECT e.moment, m.body, m.author, m.time, m.channel, m.thread, m.native_id, m.root, m.reply_to,
  m.state, m.changed, m.audience, m.n, coalesce(received.kind, ''), live.payload,
  pins.pinned, coalesce(v.version, 0), v.actor, e.epoch
FROM entries AS e CROSS JOIN messages AS m ON m.n = e.message
LEFT JOIN inbox AS received ON received.id = m.row
LEFT JOIN payloads AS live ON live.row = m.row
LEFT JOIN pins ON pins.message = m.n
LEFT JOIN versions AS v ON v.message = m.n AND v.version = (
  SELECT max(former.version) FROM versions AS former WHERE former.message = m.n
)
WHERE e.timeline = (SELECT n FROM timelines WHERE id = ?1) AND e.moment > ?2 AND e.moment < ?3
  AND (?4 = 1 OR m.state <> 'deleted')
  AND (m.audience IS NULL OR EXISTS (
    SELECT 1 FROM json_each(m.audience) AS actor WHERE instr(?5, '"' || actor.value || '"')
  ))
ORDER BY e.moment LIMIT ?6;

-- name: messages_with_ids
SELECT m.id, m.body, m.author, m.time, m.channel, m.thread, m.native_id, m.root, m.reply_to,
  m.state, m.changed, m.audience, m.n, '', NULL, pins.pinned,
  coalesce(v.version, 0), v.actor, (SELECT max(e.epoch) FROM entries AS e WHERE e.message = m.n)
FROM json_each(?) AS wanted CROSS JOIN messages AS m ON m.key = message_key(wanted.value)
LEFT JOIN pins ON pins.message = m.n
LEFT JOIN versions AS v ON v.message = m.n AND v.version = (
  SELECT max(former.version) FROM versions AS former WHERE former.message = m.n
);

-- name: reactions_of
SELECT message, emoji, actor, at
FROM json_each(?) AS wanted CROSS JOIN reactions ON message = CAST(wanted.value AS INTEGER)
WHERE present = 1 AND actor <> '' ORDER BY message, at, emoji, actor;
