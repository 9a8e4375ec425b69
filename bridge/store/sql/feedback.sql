-- name: give
INSERT INTO feedback (message, actor, sense, comment, at, channel, room, pending_agent)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (message, actor) DO UPDATE SET
  sense = excluded.sense, comment = excluded.comment, at = excluded.at,
  channel = excluded.channel, room = excluded.room, pending_agent = excluded.pending_agent
WHERE excluded.at > feedback.at;

-- name: of_message
SELECT actor, sense, comment, at FROM feedback WHERE message = ? ORDER BY at, actor;

-- name: show
UPDATE message_rows SET feedback = ? WHERE n = ?;

-- name: undelivered
SELECT m.id, f.actor, f.sense, f.comment, f.at, f.channel, f.room, f.pending_agent
FROM feedback AS f CROSS JOIN messages AS m ON m.n = f.message
WHERE f.pending_agent IS NOT NULL ORDER BY f.at, m.n, f.actor;

-- name: set_delivered
UPDATE feedback SET pending_agent = NULL
WHERE message = (SELECT n FROM messages WHERE key = message_key(?)) AND actor = ? AND at = ?;
