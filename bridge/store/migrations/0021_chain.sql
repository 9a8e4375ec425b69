-- The hash chain: one link for each state of a message in its conversation.

-- `version` is the number that the state has, or will have, among the versions of its message.
-- `salt` is NULL when the content was erased.
CREATE TABLE chain (
  timeline INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  message INTEGER NOT NULL,
  version INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('added', 'edited', 'deleted', 'reacted', 'erased')),
  at REAL NOT NULL,
  salt BLOB,
  digest BLOB NOT NULL,
  payload_digest BLOB,
  hash BLOB NOT NULL,
  PRIMARY KEY (timeline, seq)
) WITHOUT ROWID;
CREATE INDEX chain_of_message ON chain (message);
