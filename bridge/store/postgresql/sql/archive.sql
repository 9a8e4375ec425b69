-- name: keep_message
INSERT INTO message_rows (
  key, id, body, author, time, channel, thread, native_id, root, reply_to, audience, state, row,
  outcome, changed, moment
) VALUES (
  $1, coalesce($2, (SELECT c.key FROM channels AS c WHERE c.n = $6) || ':' || $8), $3, $4, $5, $6,
  $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
)
ON CONFLICT (id) DO NOTHING RETURNING n;
