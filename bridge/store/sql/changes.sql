-- name: note_change
INSERT INTO changes (timeline, seq, message, kind)
SELECT e.timeline,
  1 + coalesce((SELECT max(c.seq) FROM changes AS c WHERE c.timeline = e.timeline), 0), e.message, ?
FROM entries AS e CROSS JOIN timelines AS t ON t.n = e.timeline
WHERE e.message = (SELECT n FROM messages WHERE key = message_key(?)) AND t.kind = 'room';
