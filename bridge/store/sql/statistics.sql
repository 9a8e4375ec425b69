-- name: refused
SELECT received_at, account, channel, kind, outcome FROM inbox
WHERE received_at >= ?1 AND outcome LIKE 'not admitted%'
  AND channel IN (SELECT one.value FROM json_each(?2) AS one) ORDER BY id DESC LIMIT ?3;

-- name: totals
SELECT count(*), count(DISTINCT json_extract(CAST(a.body AS TEXT), '$.id')),
  coalesce(sum(state = 'edited'), 0), coalesce(sum(state = 'deleted'), 0),
  coalesce(sum(audience IS NOT NULL), 0), coalesce(sum(root IS NOT NULL), 0),
  coalesce(sum(json_extract(CAST(a.body AS TEXT), '$.bot') IS 1), 0), min(time), max(time)
FROM message_rows AS m JOIN authors AS a ON a.n = m.author WHERE time >= ?1 AND time < ?2;

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
SELECT coalesce(substr(c.key, 1, instr(c.key, ':') - 1), ''), sum(own.messages)
FROM (
  SELECT channel, count(*) AS messages FROM message_rows WHERE time >= ?1 AND time < ?2 GROUP BY 1
) AS own LEFT JOIN channels AS c ON c.n = own.channel GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: by_channel
SELECT coalesce(json_extract(CAST(d.body AS TEXT), '$.name'), c.key), own.messages
FROM (
  SELECT channel, count(*) AS messages FROM message_rows WHERE time >= ?1 AND time < ?2 GROUP BY 1
) AS own JOIN channels AS c ON c.n = own.channel
LEFT JOIN descriptions AS d ON d.kind = 'channel' AND d.id = c.key
ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: speakers
SELECT json_extract(CAST(a.body AS TEXT), '$.id'), max(json_extract(CAST(a.body AS TEXT), '$.name')),
  max(json_extract(CAST(a.body AS TEXT), '$.bot') IS 1), sum(own.messages)
FROM (
  SELECT author, count(*) AS messages FROM message_rows WHERE time >= ?1 AND time < ?2 GROUP BY 1
) AS own JOIN authors AS a ON a.n = own.author
GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT ?3;

-- name: losses
SELECT json_extract(loss.value, '$.kind'), count(*)
FROM operations AS o JOIN json_each(o.losses) AS loss
WHERE o.losses <> '[]' AND o.created >= ?1 AND o.created < ?2 GROUP BY 1 ORDER BY 2 DESC, 1;
