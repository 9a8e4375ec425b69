-- name: get
SELECT value, sealed FROM key_values WHERE account = ? AND key = ?;

-- name: put
INSERT INTO key_values (account, key, value, sealed) VALUES (?, ?, ?, ?)
ON CONFLICT (account, key) DO UPDATE SET value = excluded.value, sealed = excluded.sealed;

-- name: put_first
INSERT INTO key_values (account, key, value) VALUES (?, ?, ?) ON CONFLICT (account, key) DO NOTHING;

-- name: keys
SELECT key FROM key_values WHERE account = ?1 AND key >= ?2 AND substr(key, 1, length(?2)) = ?2
ORDER BY key;

-- name: values
SELECT key, value FROM key_values
WHERE account = ?1 AND key >= ?2 AND substr(key, 1, length(?2)) = ?2 AND value IS NOT NULL;

-- name: remove
DELETE FROM key_values WHERE account = ? AND key = ?;

-- name: credential
SELECT sealed FROM credentials WHERE name = ?;

-- name: credential_names
SELECT name FROM credentials ORDER BY name;

-- name: put_credential
INSERT INTO credentials (name, sealed) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed;
