-- name: queue
INSERT INTO turns (id, agent, room, trigger_message, thread, session, origin, called_by, asked_at,
  changed, reason)
VALUES (?, ?, ?, ?, coalesce((SELECT root FROM messages WHERE key = message_key(?)), ?), ?, ?, ?, ?, ?,
  ?);

-- name: is_known
SELECT 1 FROM turns WHERE id = ?;

-- name: was_called
SELECT 1 FROM turns WHERE agent = ? AND thread = ?
UNION ALL SELECT 1 FROM turns WHERE agent = ? AND trigger_message = ?
LIMIT 1;

-- name: last_answer
SELECT turns.answer FROM turns CROSS JOIN messages AS m ON m.key = message_key(turns.answer)
WHERE turns.session = ? AND turns.answer IS NOT NULL AND turns.id <> ? AND m.state <> 'deleted'
ORDER BY turns.n DESC LIMIT 1;

-- name: open_turns
SELECT id, agent, room, trigger_message, state, attempts, asked_at, tool_called, answer, session,
  origin, called_by, error, reason
FROM turns WHERE state IN ('queued', 'running', 'waiting') ORDER BY n;

-- name: turns_about
SELECT id, agent, room, trigger_message, state, attempts, asked_at, tool_called, answer, session,
  origin, called_by, error, reason
FROM turns WHERE trigger_message = ? OR (origin = ? AND origin <> '') ORDER BY n;

-- name: turn
SELECT id, agent, room, trigger_message, state, attempts, asked_at, tool_called, answer, session,
  origin, called_by, error, reason
FROM turns WHERE id = ?;

-- name: turns_of_room
SELECT id, agent, room, trigger_message, state, attempts, asked_at, tool_called, answer, session,
  origin, called_by, error, reason
FROM turns WHERE room = ? AND asked_at >= ? ORDER BY n DESC LIMIT ?;

-- name: set_turn
UPDATE turns SET
  attempts = attempts + CASE WHEN ?1 = 'running' AND state <> 'running' THEN 1 ELSE 0 END,
  state = ?1,
  tool_called = CASE WHEN ?2 = 1 THEN 1 ELSE tool_called END,
  answer = coalesce(?3, answer),
  error = ?4,
  changed = ?5
WHERE id = ?6;
