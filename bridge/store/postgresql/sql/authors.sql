-- name: find
SELECT n FROM authors WHERE sha256(body) = sha256($1) AND body = $1;
