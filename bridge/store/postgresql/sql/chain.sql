-- name: version
SELECT number FROM meta WHERE key = 'chain_version';

-- name: set_version
INSERT INTO meta (key, number) VALUES ('chain_version', $1)
ON CONFLICT (key) DO UPDATE SET number = excluded.number;
