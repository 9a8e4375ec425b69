-- The numbers of channels.

-- name: find
SELECT n FROM channels WHERE key = ?;

-- name: add
INSERT INTO channels (key) VALUES (?) RETURNING n;
