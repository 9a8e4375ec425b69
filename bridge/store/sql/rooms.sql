-- What is decided about rooms while the bridge runs.

-- name: bar
INSERT INTO barred (room, actor, why, by, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (room, actor, why) DO UPDATE SET by = excluded.by, at = excluded.at;

-- name: unbar
DELETE FROM barred WHERE room = ? AND actor = ? AND why = ?;

-- name: barred
SELECT room, actor, why, by, at FROM barred ORDER BY at, room, actor;

-- name: pause
INSERT INTO paused (room, why, by, at, until) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (room) DO UPDATE SET
  why = excluded.why, by = excluded.by, at = excluded.at, until = excluded.until;

-- name: resume
DELETE FROM paused WHERE room = ?;

-- name: paused
SELECT room, why, by, at, until FROM paused ORDER BY room;

-- name: link
INSERT INTO room_links (room, channel, account, linked, by, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (room, channel) DO UPDATE SET
  account = excluded.account, linked = excluded.linked, by = excluded.by, at = excluded.at;

-- name: links
SELECT room, channel, account, linked, by, at FROM room_links ORDER BY at, room, channel;

-- name: newest_epoch
SELECT epoch, digest FROM epochs WHERE room = ? ORDER BY epoch DESC LIMIT 1;

-- name: begin_epoch
INSERT INTO epochs (room, epoch, digest, at) VALUES (?, ?, ?, ?);

-- name: members
SELECT member, joined FROM periods WHERE room = ? AND until IS NULL;

-- name: had_members
SELECT 1 FROM periods WHERE room = ? LIMIT 1;

-- name: enter
INSERT INTO periods (room, member, joined, since) VALUES (?, ?, ?, ?)
ON CONFLICT (room, member, since) DO UPDATE SET until = NULL;

-- name: leave
UPDATE periods SET until = ? WHERE room = ? AND member = ? AND until IS NULL;
