-- name: put
INSERT INTO payload_blocks (first, count, payloads) VALUES (?, ?, ?)
ON CONFLICT (first) DO UPDATE SET count = excluded.count, payloads = excluded.payloads;

-- name: drop
DELETE FROM payload_blocks WHERE first = ?;

-- name: place
SELECT first, count FROM payload_blocks WHERE first <= ? ORDER BY first DESC LIMIT 1;

-- name: block
SELECT first, count, payloads FROM payload_blocks WHERE first <= ? ORDER BY first DESC LIMIT 1;

-- name: payloads
SELECT payloads FROM payload_blocks WHERE first = ?;

-- name: blocks
SELECT first, payloads FROM payload_blocks ORDER BY first;
