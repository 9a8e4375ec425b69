-- Rows of inbox and messages are never deleted, and are numbered without a gap: their last number is
-- how many there are. Counting them would read whole tables.
-- name: inbox_total
SELECT coalesce(max(id), 0) FROM inbox;

-- name: inbox_open
SELECT state, count(*) FROM inbox WHERE state IN ('waiting', 'failed') GROUP BY state;

-- name: operations_total
SELECT count(*) FROM operations;

-- name: operations_open
SELECT state, count(*) FROM operations WHERE state IN ('waiting', 'sending') GROUP BY state;

-- name: operations_lost
SELECT state, count(*) FROM operations WHERE state IN ('dead', 'unproved', 'cancelled')
GROUP BY state;

-- name: turns
SELECT state, count(*) FROM turns GROUP BY state;

-- name: messages
SELECT coalesce(max(n), 0) FROM messages;

-- name: some_open
SELECT count(*) FROM (
  SELECT 1 FROM operations WHERE state IN ('waiting', 'sending') LIMIT ?
) AS counted;

-- name: some_lost
SELECT count(*) FROM (
  SELECT 1 FROM operations
  WHERE state IN ('dead', 'unproved', 'cancelled') AND state = ? LIMIT ?
) AS counted;

-- name: proof
INSERT INTO meta (key, value) VALUES ('proof', ?1)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: lanes
SELECT o.lane, o.body, open.waiting, open.oldest, o.state, o.error
FROM (
  SELECT lane, min(seq) AS first, count(*) AS waiting, min(created) AS oldest
  FROM operations WHERE state IN ('waiting', 'sending') GROUP BY lane
) AS open JOIN operations AS o ON o.seq = open.first
ORDER BY open.oldest, o.lane;
