-- name: totals
SELECT count(*), count(DISTINCT json_field(a.body, 'id')),
  count(*) FILTER (WHERE state = 'edited'), count(*) FILTER (WHERE state = 'deleted'),
  count(audience), count(root),
  count(*) FILTER (WHERE json_field(a.body, 'bot') = 'true'), min(time), max(time)
FROM message_rows AS m JOIN authors AS a ON a.n = m.author WHERE time >= $1 AND time < $2;

-- name: by_month
SELECT to_char(to_timestamp(time) AT TIME ZONE 'UTC', 'YYYY-MM'), count(*) FROM messages
WHERE time >= $1 AND time < $2 GROUP BY 1 ORDER BY 1;

-- name: by_hour
SELECT CAST(extract(hour FROM to_timestamp(time) AT TIME ZONE 'UTC') AS bigint), count(*)
FROM messages WHERE time >= $1 AND time < $2 GROUP BY 1;

-- name: by_weekday
SELECT CAST(extract(isodow FROM to_timestamp(time) AT TIME ZONE 'UTC') AS bigint) - 1, count(*)
FROM messages WHERE time >= $1 AND time < $2 GROUP BY 1;

-- name: by_platform
SELECT coalesce(split_part(c.key, ':', 1), ''), sum(own.messages)
FROM (
  SELECT channel, count(*) AS messages FROM message_rows WHERE time >= $1 AND time < $2 GROUP BY 1
) AS own LEFT JOIN channels AS c ON c.n = own.channel GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: speakers
SELECT json_field(a.body, 'id'), max(json_field(a.body, 'name')),
  max(CASE json_field(a.body, 'bot') WHEN 'true' THEN 1 ELSE 0 END), sum(own.messages)
FROM (
  SELECT author, count(*) AS messages FROM message_rows WHERE time >= $1 AND time < $2 GROUP BY 1
) AS own JOIN authors AS a ON a.n = own.author
GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT $3;

-- name: losses
SELECT loss.value ->> 'kind', count(*)
FROM operations AS o, json_array_elements(CAST(o.losses AS json)) AS loss(value)
WHERE o.losses <> '[]' AND o.created >= $1 AND o.created < $2 GROUP BY 1 ORDER BY 2 DESC, 1;
