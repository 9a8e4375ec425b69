-- name: ask
INSERT OR IGNORE INTO approvals
  (id, turn, call, room, agent, tool, arguments, reason, trigger_message, asker, approvers, quorum,
   created, expires)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: of_call
SELECT id FROM approvals WHERE turn = ? AND call = ?;

-- name: one
SELECT id, turn, room, agent, tool, call, arguments, reason, trigger_message, asker, approvers,
  quorum, created, expires, state, ended
FROM approvals WHERE id = ?;

-- name: several
SELECT id FROM approvals
WHERE (? IS NULL OR turn = ?) AND (? IS NULL OR room = ?) AND (NOT ? OR state = 'open')
ORDER BY n DESC LIMIT ?;

-- name: decisions
SELECT actor, allowed, at, place FROM approval_decisions WHERE approval = ? ORDER BY n;

-- name: decide
INSERT INTO approval_decisions (approval, actor, allowed, at, place) VALUES (?, ?, ?, ?, ?);

-- name: end
UPDATE approvals SET state = ?, ended = ? WHERE id = ? AND state = 'open';
