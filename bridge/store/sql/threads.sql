-- name: link_stand_in
INSERT INTO stand_ins (channel, native_id, root, instead, at)
VALUES (?1, ?2, ?3, CASE WHEN EXISTS (
  SELECT 1 FROM links
  WHERE message = (SELECT n FROM messages WHERE key = message_key(?3)) AND channel = ?1
) THEN 1 ELSE 0 END, ?4)
ON CONFLICT (channel, native_id, root) DO NOTHING;

-- name: root_in_channel
SELECT native_id FROM (
  SELECT native_id, gone AS rank, kind, slot, at FROM links
  WHERE message = (SELECT n FROM messages WHERE key = message_key(?1))
    AND channel = (SELECT n FROM channels WHERE key = ?2)
  UNION ALL
  SELECT native_id, -instead, 2, 0, at FROM stand_ins INDEXED BY stand_ins_of_root
  WHERE root = ?1 AND channel = (SELECT n FROM channels WHERE key = ?2)
) AS found ORDER BY rank, kind, slot, at, native_id LIMIT 1;

-- name: live_threads
SELECT thread FROM (
  SELECT coalesce(thread, native_id) AS thread, at FROM links
  WHERE channel = (SELECT n FROM channels WHERE key = ?) AND at >= ?
  ORDER BY at DESC LIMIT 5000
) AS newest GROUP BY thread ORDER BY max(at) DESC, thread DESC LIMIT 200;
