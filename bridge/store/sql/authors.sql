-- name: find
SELECT n FROM authors WHERE body = ?;

-- name: add
INSERT INTO authors (body) VALUES (?) RETURNING n;
