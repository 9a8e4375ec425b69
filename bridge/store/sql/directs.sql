-- Direct messages between platforms: who wants them, and who writes to whom.

-- name: put_end
INSERT INTO direct_message_consents (actor, room, account, channel, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (actor, room) DO UPDATE SET
  account = excluded.account, channel = excluded.channel, at = excluded.at;

-- name: remove_ends
DELETE FROM direct_message_consents WHERE actor = ?;

-- name: ends
SELECT actor, account, channel, room, at FROM direct_message_consents ORDER BY at, actor, room;

-- name: put_pair
INSERT INTO direct_message_pairs (first, second) VALUES (?, ?) ON CONFLICT (first, second) DO NOTHING;

-- name: pairs
SELECT first, second FROM direct_message_pairs ORDER BY first, second;
