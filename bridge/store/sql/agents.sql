-- Agents in rooms: who answers where, what was spent, and who may reach whom.

-- name: hold
INSERT INTO handovers (room, spot, agent, by, at, earlier) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (room, spot) DO UPDATE SET
  agent = excluded.agent, by = excluded.by, at = excluded.at, earlier = excluded.earlier;

-- name: release
DELETE FROM handovers WHERE room = ? AND spot = ?;

-- name: holdings
SELECT room, spot, agent, by, at, earlier FROM handovers ORDER BY at, room, spot;

-- name: called_by_others
SELECT count(*) FROM turns WHERE room = ?1 AND asked_at >= ?2 AND called_by IN ('agent', 'bot')
  AND n > coalesce((SELECT max(n) FROM turns WHERE room = ?1 AND called_by = 'person'), 0);

-- name: spend
INSERT INTO quota_usage (quota, at, messages, tokens, micros) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (quota, at) DO UPDATE SET
  messages = quota_usage.messages + excluded.messages,
  tokens = quota_usage.tokens + excluded.tokens,
  micros = quota_usage.micros + excluded.micros;

-- name: spent
SELECT at, messages, tokens, micros FROM quota_usage WHERE quota = ? AND at >= ? ORDER BY at;

-- name: spending
SELECT quota, min(at), sum(messages), sum(tokens), sum(micros) FROM quota_usage WHERE at >= ?
GROUP BY quota ORDER BY quota;

-- name: forget_spending
DELETE FROM quota_usage WHERE quota = ?;

-- name: forget_old_spending
DELETE FROM quota_usage WHERE quota = ? AND at < ?;

-- name: put_code
INSERT INTO pairing_codes (digest, agent, by, expires) VALUES (?, ?, ?, ?);

-- name: forget_codes
DELETE FROM pairing_codes WHERE expires <= ?;

-- name: codes
SELECT digest, agent, by, expires FROM pairing_codes WHERE expires > ? ORDER BY expires;

-- name: use_code
DELETE FROM pairing_codes WHERE digest = ?;

-- name: attempts
SELECT failures, since FROM pairing_attempts WHERE actor = ?;

-- name: note_attempt
INSERT INTO pairing_attempts (actor, failures, since) VALUES (?, ?, ?)
ON CONFLICT (actor) DO UPDATE SET failures = excluded.failures, since = excluded.since;

-- name: forget_attempts
DELETE FROM pairing_attempts WHERE actor = ?;

-- name: pair
INSERT INTO pairings (actor, agent, by, at) VALUES (?, ?, ?, ?)
ON CONFLICT (actor, agent) DO UPDATE SET by = excluded.by, at = excluded.at;

-- name: pairings
SELECT actor, agent, by, at FROM pairings ORDER BY at, actor, agent;

-- name: unpair
DELETE FROM pairings WHERE actor = ?1 AND (?2 IS NULL OR agent = ?2);

-- name: put_tools
INSERT INTO tool_catalogue (conversation, agent, tools) VALUES (?, ?, ?)
ON CONFLICT (conversation, agent) DO UPDATE SET tools = excluded.tools;

-- name: drop_tools
DELETE FROM tool_catalogue WHERE conversation = ? AND agent = ?;

-- name: described
SELECT conversation, agent FROM tool_catalogue;

-- name: tools
SELECT agent, tools FROM tool_catalogue WHERE conversation = ? ORDER BY agent;
