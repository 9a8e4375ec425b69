-- What happened in a room to messages that were said before, numbered from 1 in each room, for
-- those who read it from outside. What was said is numbered by `entries`.
CREATE TABLE changes (
  timeline INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  message INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('changed', 'reacted')),
  PRIMARY KEY (timeline, seq)
) WITHOUT ROWID;

-- Tokens of programs that read and speak from outside; of each only a digest.
CREATE TABLE api_tokens (
  name TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('human', 'assistant')),
  rooms TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created REAL NOT NULL,
  expires REAL,
  per_minute INTEGER NOT NULL
) WITHOUT ROWID;
