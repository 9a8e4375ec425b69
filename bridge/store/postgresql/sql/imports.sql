-- name: reserve_numbers
SELECT setval(s.name, nextval(s.name) + $1) - $1, $1
FROM (SELECT pg_get_serial_sequence('message_rows', 'n') AS name) AS s;

-- name: add_message
INSERT INTO message_rows (
  n, key, id, body, author, time, channel, thread, native_id, root, reply_to, audience, state,
  changed, moment, reactions
) VALUES (
  $1, $2, coalesce($3, (SELECT c.key FROM channels AS c WHERE c.n = $7) || ':' || $9), $4, $5, $6,
  $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
);
