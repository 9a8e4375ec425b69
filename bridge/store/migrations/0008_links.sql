-- Links name channels and messages by numbers: their keys, up to 110 bytes long, stood three times
-- in each link, in the table and its indexes.
CREATE TABLE channels (
  n INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE
);
INSERT INTO channels (key) SELECT channel FROM links GROUP BY channel ORDER BY channel;

-- Posts that stand for a thread root that never came to their channel. `root` need not be archived:
-- it may be older than the bridge. `instead`: it had come, and was gone by then.
CREATE TABLE stand_ins (
  channel INTEGER NOT NULL,
  native_id TEXT NOT NULL,
  root TEXT NOT NULL,
  instead INTEGER NOT NULL DEFAULT 0,
  at REAL NOT NULL,
  PRIMARY KEY (channel, native_id, root)
) WITHOUT ROWID;
CREATE INDEX stand_ins_of_root ON stand_ins (root, channel);
INSERT INTO stand_ins (channel, native_id, root, at)
SELECT c.n, l.native_id, l.message, l.at FROM links AS l JOIN channels AS c ON c.key = l.channel
WHERE l.kind = 2;

DROP INDEX links_of_message;
DROP INDEX links_by_time;
ALTER TABLE links RENAME TO links_by_key;

-- Native ids in a channel: 0 the message was said there, 1 our copy of it. A copy that is gone
-- keeps its row, so that late events still find it.
CREATE TABLE links (
  channel INTEGER NOT NULL,
  native_id TEXT NOT NULL,
  message INTEGER NOT NULL,
  kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
  slot INTEGER NOT NULL,
  thread TEXT,
  gone INTEGER NOT NULL DEFAULT 0,
  at REAL NOT NULL,
  PRIMARY KEY (channel, native_id, message)
) WITHOUT ROWID;
INSERT INTO links (channel, native_id, message, kind, slot, thread, gone, at)
SELECT c.n, l.native_id, m.n, l.kind, l.slot, l.thread, l.gone, l.at
FROM links_by_key AS l
CROSS JOIN channels AS c ON c.key = l.channel
CROSS JOIN messages AS m ON m.id = l.message
WHERE l.kind < 2;
DROP TABLE links_by_key;
-- It holds all that is asked of a message's copies: among millions, half of a look-up is the way
-- from an index to its table.
CREATE INDEX links_of_message ON links (message, channel, kind, slot, gone, at, thread);
CREATE INDEX links_by_time ON links (channel, at);
