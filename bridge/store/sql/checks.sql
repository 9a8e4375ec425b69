-- Queries of `db check`, which reads the whole store.

-- name: timelines
SELECT count(*) FROM timelines;

-- name: wrong_lengths
SELECT t.id, t.length, coalesce(own.entries, 0), coalesce(own.last, 0)
FROM timelines AS t LEFT JOIN (
  SELECT timeline, count(*) AS entries, max(seq) AS last FROM entries GROUP BY timeline
) AS own ON own.timeline = t.n
WHERE t.length <> coalesce(own.entries, 0) OR t.length <> coalesce(own.last, 0)
ORDER BY t.n;

-- name: to_be_indexed
SELECT count(*) FROM message_rows WHERE state <> 'streaming';

-- name: not_indexed
SELECT id FROM messages WHERE state <> 'streaming' AND (moment IS NULL OR moment NOT IN (
  SELECT rowid FROM words WHERE words MATCH 'facets : xall'
)) ORDER BY n LIMIT ?;

-- name: indexed_alone
SELECT rowid FROM words WHERE words MATCH 'facets : xall' AND rowid NOT IN (
  SELECT moment FROM message_rows WHERE moment IS NOT NULL
) LIMIT ?;

-- name: credentials
SELECT name, sealed FROM credentials ORDER BY name;

-- name: sealed_values
SELECT account, key, sealed FROM key_values WHERE sealed IS NOT NULL ORDER BY account, key;

-- name: payload_credentials
SELECT row, sealed FROM payload_credentials ORDER BY row;

-- name: key_check
SELECT value FROM meta WHERE key = 'key_check';

-- name: bodies
SELECT id, body FROM messages WHERE state <> 'deleted' ORDER BY n;
