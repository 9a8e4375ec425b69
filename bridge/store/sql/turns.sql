-- name: queue
INSERT INTO turns (id, agent, room, trigger_message, thread, asked, changed)
VALUES (?1, ?2, ?3, ?4, coalesce((SELECT root FROM messages WHERE id = ?4), ?4), ?5, ?5);

-- name: was_called
SELECT 1 FROM turns WHERE agent = ?1 AND thread = ?2
UNION ALL SELECT 1 FROM turns WHERE agent = ?1 AND trigger_message = ?2
LIMIT 1;

-- name: open_turns
SELECT id, agent, room, trigger_message, state, attempts, asked, tool_called, answer
FROM turns WHERE state IN ('queued', 'running', 'waiting') ORDER BY n;

-- name: set_turn
UPDATE turns SET
  attempts = attempts + (?1 = 'running' AND state <> 'running'),
  state = ?1,
  tool_called = tool_called OR ?2,
  answer = coalesce(?3, answer),
  error = ?4,
  changed = ?5
WHERE id = ?6;
