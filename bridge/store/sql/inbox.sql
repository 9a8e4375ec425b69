-- `state IN (...)` is said as the partial index says it: so SQLite knows that it may use it.

-- name: keep_row
INSERT INTO inbox (account, dedupe_key, kind, order_key, channel, received_at)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (account, dedupe_key) DO NOTHING RETURNING id;

-- name: keep_done_row
INSERT INTO inbox (account, dedupe_key, kind, order_key, channel, received_at, state, outcome, done)
VALUES (?, ?, ?, ?, ?, ?, 'done', ?, ?)
ON CONFLICT (account, dedupe_key) DO NOTHING RETURNING id;

-- name: keep_payload
INSERT INTO payloads (row, payload) VALUES (?, ?);

-- name: keep_credentials
INSERT INTO payload_credentials (row, sealed, expires) VALUES (?, ?, ?);

-- name: credentials_of_row
SELECT sealed FROM payload_credentials WHERE row = ? AND expires > ?;

-- name: forget_credentials
DELETE FROM payload_credentials WHERE expires <= ?;

-- name: move_cursor
INSERT INTO cursors (account, channel, value) VALUES (?, ?, ?)
ON CONFLICT (account, channel) DO UPDATE SET value = excluded.value
WHERE excluded.value > cursors.value;

-- name: cursor
SELECT value FROM cursors WHERE account = ? AND channel = ?;

-- name: waiting_rows
SELECT id, account, kind, dedupe_key, order_key, channel, payload
FROM inbox JOIN payloads ON row = id WHERE state IN ('waiting', 'failed') AND state = 'waiting' ORDER BY id;

-- name: waiting_by_account
SELECT account, count(*)
FROM inbox WHERE state IN ('waiting', 'failed') AND state = 'waiting' GROUP BY account;

-- name: failed_rows
SELECT id, account, kind, dedupe_key, order_key, channel, payload, error
FROM inbox JOIN payloads ON row = id WHERE state IN ('waiting', 'failed') AND state = 'failed' ORDER BY id LIMIT ?;

-- name: row
SELECT id, account, kind, dedupe_key, order_key, channel, payload, received_at, outcome
FROM inbox JOIN payloads ON row = id WHERE id = ?;

-- name: retry_failed_rows
UPDATE inbox SET state = 'waiting', error = ''
WHERE state IN ('waiting', 'failed') AND state = 'failed';

-- name: fail_row
UPDATE inbox SET state = 'failed', error = ?, done = ? WHERE id = ?;

-- name: finish_row
UPDATE inbox SET state = 'done', outcome = ?, error = '', done = ? WHERE id = ?;
