-- name: find
SELECT t.body FROM message_rows AS m CROSS JOIN translations AS t ON t.message = m.n
WHERE m.key = message_key(?) AND t.language = ? AND t.digest = ?;

-- name: put
INSERT INTO translations (message, language, digest, body)
SELECT n, ?2, ?3, ?4 FROM message_rows WHERE key = message_key(?1)
ON CONFLICT (message, language) DO UPDATE SET digest = excluded.digest, body = excluded.body;
