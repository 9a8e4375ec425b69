-- name: replay
UPDATE operations SET
  seq = nextval(pg_get_serial_sequence('operations', 'seq')), state = 'waiting', attempts = 0,
  due = $1, created = $2, began = NULL, ended = NULL, error = '', losses = '[]'
WHERE id = $3 AND state IN ('dead', 'unproved')
RETURNING lane;
