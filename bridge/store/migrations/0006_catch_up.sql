-- What happened to messages that nobody knows: should one come late, this happens to it at once.
CREATE TABLE orphans (
  channel TEXT NOT NULL,
  native_id TEXT NOT NULL,
  row INTEGER NOT NULL,
  deletion INTEGER NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (channel, native_id, row)
) WITHOUT ROWID;
CREATE INDEX orphans_by_time ON orphans (at);
