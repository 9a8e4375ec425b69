-- A store of half the size: bodies are compressed, authors and channels of messages stored once, and
-- native messages of imports in blocks.

-- Authors as they were when they wrote: JSON of a Person.
CREATE TABLE authors (
  n INTEGER PRIMARY KEY,
  body BLOB NOT NULL UNIQUE
);
INSERT INTO authors (body) SELECT DISTINCT CAST(author AS BLOB) FROM messages;
INSERT OR IGNORE INTO channels (key) SELECT DISTINCT channel FROM messages WHERE channel IS NOT NULL;

-- Messages as they are stored: `body` and `reactions` are packed, `author` and `channel` are numbers
-- in their tables, `key` is a digest of the id, and `id` NULL where it is the channel's key and the
-- native id. `outcome` is NULL for a message that came by an import. `messages` shows them as they are
-- read.
CREATE TABLE message_rows (
  n INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  id TEXT,
  body BLOB NOT NULL,
  author INTEGER NOT NULL,
  time REAL NOT NULL,
  channel INTEGER,
  thread TEXT,
  native_id TEXT,
  root TEXT,
  reply_to TEXT,
  audience TEXT,
  state TEXT NOT NULL
    CHECK (state IN ('streaming', 'complete', 'edited', 'deleted', 'interrupted')),
  row INTEGER,
  outcome TEXT,
  changed REAL,
  reactions BLOB,
  feedback TEXT,
  moment INTEGER
);
INSERT INTO message_rows
SELECT m.n, message_key(m.id),
  CASE WHEN m.id = m.channel || ':' || m.native_id THEN NULL ELSE m.id END, packed(m.body), a.n, m.time, c.n, m.thread, m.native_id, m.root, m.reply_to,
  m.audience, m.state, m.row, nullif(m.outcome, 'imported'), m.changed, packed(m.reactions), m.feedback, m.moment
FROM messages AS m JOIN authors AS a ON a.body = CAST(m.author AS BLOB)
LEFT JOIN channels AS c ON c.key = m.channel ORDER BY m.n;
DROP TABLE messages;
CREATE UNIQUE INDEX messages_by_key ON message_rows (key);
CREATE UNIQUE INDEX messages_by_moment ON message_rows (moment);
CREATE VIEW messages AS
SELECT n, key,
  coalesce(
    id, (SELECT place.key FROM channels AS place WHERE place.n = channel) || ':' || native_id
  ) AS id,
  unpacked(body) AS body, (SELECT writer.body FROM authors AS writer WHERE writer.n = author) AS author,
  time, (SELECT place.key FROM channels AS place WHERE place.n = channel) AS channel, thread, native_id, root,
  reply_to, audience, state, row, coalesce(outcome, 'imported') AS outcome, changed,
  CAST(unpacked(reactions) AS TEXT) AS reactions, feedback, moment
FROM message_rows;

CREATE TABLE version_rows (
  message INTEGER NOT NULL,
  version INTEGER NOT NULL,
  body BLOB NOT NULL,
  until REAL NOT NULL,
  actor TEXT,
  PRIMARY KEY (message, version)
) WITHOUT ROWID;
INSERT INTO version_rows SELECT message, version, packed(body), until, actor FROM versions;
DROP TABLE versions;
CREATE VIEW versions AS
SELECT message, version, unpacked(body) AS body, until, actor FROM version_rows;

UPDATE operations SET body = packed(CAST(body AS BLOB));

-- Native messages of imports, those of consecutive message numbers from `first` on in one value.
CREATE TABLE payload_blocks (
  first INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  payloads BLOB NOT NULL
);
INSERT INTO payload_blocks SELECT message, 1, payload_block(format, payload) FROM imported_payloads;
DROP TABLE imported_payloads;

-- Reactions name channels by their numbers; `reactions` shows their keys.
CREATE TABLE reaction_rows (
  message INTEGER NOT NULL,
  emoji TEXT NOT NULL,
  channel INTEGER NOT NULL,
  target TEXT NOT NULL,
  actor TEXT NOT NULL,
  present INTEGER NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (message, emoji, channel, target, actor)
) WITHOUT ROWID;
INSERT OR IGNORE INTO channels (key) SELECT DISTINCT channel FROM reactions;
INSERT INTO reaction_rows
SELECT r.message, r.emoji, c.n, r.target, r.actor, r.present, r.at
FROM reactions AS r JOIN channels AS c ON c.key = r.channel;
DROP TABLE reactions;
CREATE VIEW reactions AS
SELECT message, emoji, (SELECT place.key FROM channels AS place WHERE place.n = channel) AS channel,
  target, actor, present, at
FROM reaction_rows;

-- Links are found by their message first; only their ids are stored twice.
ALTER TABLE links RENAME TO old_links;
CREATE TABLE links (
  message INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  native_id TEXT NOT NULL,
  kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
  slot INTEGER NOT NULL,
  thread TEXT,
  gone INTEGER NOT NULL DEFAULT 0,
  at REAL NOT NULL,
  PRIMARY KEY (message, channel, native_id)
) WITHOUT ROWID;
INSERT INTO links (message, channel, native_id, kind, slot, thread, gone, at)
SELECT message, channel, native_id, kind, slot, thread, gone, at FROM old_links;
DROP TABLE old_links;
CREATE INDEX links_of_native_id ON links (channel, native_id);
CREATE INDEX links_by_time ON links (channel, at);

-- No search ranks by the length of a document: the index need not know it. It is built anew.
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5(
  text, facets, content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
);
DELETE FROM meta WHERE key = 'search_version';
