-- name: totals
SELECT count(*), count(DISTINCT json_extract(CAST(author AS TEXT), '$.id')),
  coalesce(sum(state = 'edited'), 0), coalesce(sum(state = 'deleted'), 0),
  coalesce(sum(audience IS NOT NULL), 0), coalesce(sum(root IS NOT NULL), 0),
  coalesce(sum(json_extract(CAST(author AS TEXT), '$.bot') IS 1), 0), min(time), max(time)
FROM messages WHERE time >= ?1 AND time < ?2;

-- name: reactions
SELECT count(*) FROM reactions WHERE present = 1 AND actor <> '' AND at >= ?1 AND at < ?2;

-- name: by_month
SELECT strftime('%Y-%m', time, 'unixepoch'), count(*) FROM messages
WHERE time >= ?1 AND time < ?2 GROUP BY 1 ORDER BY 1;

-- name: by_hour
SELECT CAST(strftime('%H', time, 'unixepoch') AS INTEGER), count(*) FROM messages
WHERE time >= ?1 AND time < ?2 GROUP BY 1;

-- name: by_weekday
SELECT (CAST(strftime('%w', time, 'unixepoch') AS INTEGER) + 6) % 7, count(*) FROM messages
WHERE time >= ?1 AND time < ?2 GROUP BY 1;

-- name: by_platform
SELECT coalesce(substr(channel, 1, instr(channel, ':') - 1), ''), count(*) FROM messages
WHERE time >= ?1 AND time < ?2 GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: by_channel
SELECT coalesce(json_extract(CAST(d.body AS TEXT), '$.name'), m.channel), count(*)
FROM messages AS m LEFT JOIN descriptions AS d ON d.kind = 'channel' AND d.id = m.channel
WHERE m.channel IS NOT NULL AND m.time >= ?1 AND m.time < ?2
GROUP BY m.channel ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: speakers
SELECT json_extract(CAST(author AS TEXT), '$.id'), max(json_extract(CAST(author AS TEXT), '$.name')),
  max(json_extract(CAST(author AS TEXT), '$.bot') IS 1), count(*)
FROM messages WHERE time >= ?1 AND time < ?2 GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT ?3;

-- name: losses
SELECT json_extract(loss.value, '$.kind'), count(*)
FROM operations AS o JOIN json_each(o.losses) AS loss
WHERE o.losses <> '[]' AND o.created >= ?1 AND o.created < ?2 GROUP BY 1 ORDER BY 2 DESC, 1;
