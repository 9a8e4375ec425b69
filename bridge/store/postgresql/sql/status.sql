-- Numbers of rows have gaps here. Counting is exact while a table is small, and the server's own
-- estimate from there on.
-- name: inbox_total
SELECT CASE WHEN c.reltuples < 100000 THEN (SELECT count(*) FROM inbox)
  ELSE CAST(c.reltuples AS bigint) END
FROM pg_class AS c WHERE c.oid = CAST('inbox' AS regclass);

-- name: operations_total
SELECT CASE WHEN c.reltuples < 100000 THEN (SELECT count(*) FROM operations)
  ELSE CAST(c.reltuples AS bigint) END
FROM pg_class AS c WHERE c.oid = CAST('operations' AS regclass);

-- name: messages
SELECT CASE WHEN c.reltuples < 100000 THEN (SELECT count(*) FROM message_rows)
  ELSE CAST(c.reltuples AS bigint) END
FROM pg_class AS c WHERE c.oid = CAST('message_rows' AS regclass);
