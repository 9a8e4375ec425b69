-- name: next_message
SELECT nextval(pg_get_serial_sequence('message_rows', 'n')),
  EXISTS (SELECT 1 FROM message_rows WHERE id = $1);

-- name: keep_message
INSERT INTO message_rows (
  n, key, id, body, author, time, channel, thread, native_id, root, reply_to, audience, state, row,
  outcome, changed, moment
) VALUES (
  $1, $2, coalesce($3, (SELECT c.key FROM channels AS c WHERE c.n = $7) || ':' || $9), $4, $5, $6,
  $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
);
