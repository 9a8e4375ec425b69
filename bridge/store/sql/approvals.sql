-- name: ask
INSERT INTO approvals
  (id, turn, call, room, agent, tool, arguments, reason, trigger_message, asker, approvers, quorum,
   created, expires)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING;

-- name: of_call
SELECT id FROM approvals WHERE turn = ? AND call = ?;

-- name: one
SELECT id, turn, room, agent, tool, call, arguments, reason, trigger_message, asker, approvers,
  quorum, created, expires, state, ended
FROM approvals WHERE id = ?;

-- name: several
SELECT id FROM approvals
WHERE (?1 IS NULL OR turn = ?1) AND (?2 IS NULL OR room = ?2) AND (?3 = 0 OR state = 'open')
ORDER BY n DESC LIMIT ?4;

-- name: decisions
SELECT actor, allowed, at, place FROM approval_decisions WHERE approval = ? ORDER BY n;

-- name: decide
INSERT INTO approval_decisions (approval, actor, allowed, at, place) VALUES (?, ?, ?, ?, ?);

-- name: end
UPDATE approvals SET state = ?, ended = ? WHERE id = ? AND state = 'open';
