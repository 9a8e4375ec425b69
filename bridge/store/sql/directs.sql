-- Direct messages between platforms: who wants them, and who writes to whom.

-- name: put_end
INSERT INTO direct_ends (actor, room, account, channel, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (actor, room) DO UPDATE SET
  account = excluded.account, channel = excluded.channel, at = excluded.at;

-- name: remove_ends
DELETE FROM direct_ends WHERE actor = ?;

-- name: ends
SELECT actor, account, channel, room, at FROM direct_ends ORDER BY at, actor, room;

-- name: put_pair
INSERT INTO direct_pairs (one, other) VALUES (?, ?) ON CONFLICT (one, other) DO NOTHING;

-- name: pairs
SELECT one, other FROM direct_pairs ORDER BY one, other;
