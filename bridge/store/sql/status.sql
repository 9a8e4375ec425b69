-- name: inbox_total
SELECT count(*) FROM inbox;

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
SELECT count(*) FROM messages;

-- name: lanes
SELECT o.lane, o.body, open.waiting, open.oldest, o.state, o.error
FROM (
  SELECT lane, min(seq) AS first, count(*) AS waiting, min(created) AS oldest
  FROM operations WHERE state IN ('waiting', 'sending') GROUP BY lane
) AS open JOIN operations AS o ON o.seq = open.first
ORDER BY open.oldest, o.lane;
