-- name: add
INSERT INTO words (moment, document) VALUES ($1, CAST($2 AS tsvector));

-- name: remove
DELETE FROM words WHERE moment = $1;

-- name: find
SELECT m.moment, m.body, m.reactions, m.feedback, m.author, m.time, m.channel, m.thread, m.native_id, m.root,
  m.state, m.changed, m.reply_to, m.n
FROM words JOIN messages AS m ON m.moment = words.moment
WHERE words.document @@ CAST($1 AS tsquery) AND words.moment > $2 AND words.moment < $3
ORDER BY words.moment DESC LIMIT $4;

-- name: forget_all
DELETE FROM words;

-- name: version
SELECT number FROM meta WHERE key = 'search_version';

-- name: set_version
INSERT INTO meta (key, number) VALUES ('search_version', $1)
ON CONFLICT (key) DO UPDATE SET number = excluded.number;
