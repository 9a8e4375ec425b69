-- What is decided about rooms while the bridge runs.

-- name: put_ban
INSERT INTO bans (room, actor, reason, by, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (room, actor, reason) DO UPDATE SET by = excluded.by, at = excluded.at;

-- name: remove_ban
DELETE FROM bans WHERE room = ? AND actor = ? AND reason = ?;

-- name: bans
SELECT room, actor, reason, by, at FROM bans ORDER BY at, room, actor;

-- name: pause
INSERT INTO pauses (room, reason, by, at, until) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (room) DO UPDATE SET
  reason = excluded.reason, by = excluded.by, at = excluded.at, until = excluded.until;

-- name: resume
DELETE FROM pauses WHERE room = ?;

-- name: paused
SELECT room, reason, by, at, until FROM pauses ORDER BY room;

-- name: link
INSERT INTO room_links (room, channel, account, linked, by, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (room, channel) DO UPDATE SET
  account = excluded.account, linked = excluded.linked, by = excluded.by, at = excluded.at;

-- name: links
SELECT room, channel, account, linked, by, at FROM room_links ORDER BY at, room, channel;

-- name: newest_epochs
SELECT stood.room, stood.epoch, stood.digest
FROM json_each(?) AS one JOIN epochs AS stood ON stood.room = one.value
WHERE stood.epoch = (SELECT max(epoch) FROM epochs WHERE room = stood.room);

-- name: begin_epoch
INSERT INTO epochs (room, epoch, digest, at) VALUES (?, ?, ?, ?);

-- name: periods
SELECT during.room, during.member, during.joined, during.until IS NOT NULL
FROM json_each(?) AS one JOIN periods AS during ON during.room = one.value;

-- name: enter
INSERT INTO periods (room, member, joined, since) VALUES (?, ?, ?, ?)
ON CONFLICT (room, member, since) DO UPDATE SET until = NULL;

-- name: leave
UPDATE periods SET until = ? WHERE room = ? AND member = ? AND until IS NULL;

-- name: put_metadata
INSERT INTO room_metadata (room, metadata) VALUES (?, ?)
ON CONFLICT (room) DO UPDATE SET metadata = excluded.metadata
WHERE room_metadata.metadata <> excluded.metadata;

-- name: metadata_of_rooms
SELECT about.room, about.metadata
FROM json_each(?) AS one JOIN room_metadata AS about ON about.room = one.value;

-- name: metadata
SELECT metadata FROM room_metadata WHERE room = ?;

-- name: memberships
SELECT p.member, nullif(p.joined, 0), (
  SELECT e.at FROM epochs AS e WHERE e.room = p.room AND e.epoch = p.until
), json_extract(CAST(d.body AS TEXT), '$.name'), json_extract(CAST(d.body AS TEXT), '$.topic')
FROM periods AS p LEFT JOIN descriptions AS d ON d.kind = 'channel' AND d.id = p.member
WHERE p.room = ? ORDER BY p.since, p.member;
