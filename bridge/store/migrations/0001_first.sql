-- The first schema: inbox, archive, timelines, links, outbox, turns, sealed values.
-- Rows are never removed but from payload_credentials and shelf; so numbers that one table keeps
-- of another are found in the writing statement, and need no foreign keys.
-- Times are seconds since 1970; channels and lanes are `ChannelRef.key`; JSON is what pydantic wrote.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;

-- Payloads as they came; rows stay, so that a repeat is known for ever.
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  dedupe_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  order_key TEXT NOT NULL,
  channel TEXT,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed')),
  outcome TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  kept REAL NOT NULL,
  done REAL
);
CREATE UNIQUE INDEX inbox_once ON inbox (account, dedupe_key);
CREATE INDEX inbox_open ON inbox (state, id) WHERE state IN ('waiting', 'failed');

-- Apart, so that finishing a row does not write its payload once more.
CREATE TABLE payloads (
  row INTEGER PRIMARY KEY,
  payload BLOB NOT NULL
);

-- What stood at a payload's credential paths: JSON, sealed, forgotten after `expires`.
CREATE TABLE payload_credentials (
  row INTEGER PRIMARY KEY,
  sealed BLOB NOT NULL,
  expires REAL NOT NULL
);
CREATE INDEX payload_credentials_expire ON payload_credentials (expires);

-- How far each channel was read.
CREATE TABLE cursors (
  account TEXT NOT NULL,
  channel TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (account, channel)
) WITHOUT ROWID;

-- Messages, once, under the place where they were said; `body` is UACS JSON.
CREATE TABLE messages (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  body BLOB NOT NULL,
  author BLOB NOT NULL,
  time REAL NOT NULL,
  channel TEXT,
  thread TEXT,
  native_id TEXT,
  root TEXT,
  reply_to TEXT,
  audience TEXT,
  state TEXT NOT NULL
    CHECK (state IN ('streaming', 'complete', 'edited', 'deleted', 'interrupted')),
  row INTEGER,
  outcome TEXT NOT NULL
);

-- Native ids in a channel: 0 the message was said there, 1 our copy of it, 2 a post that stands
-- for a thread root that never came there. `message` need not be archived: a root may be older
-- than the bridge. A copy that is gone keeps its row, so that late events still find it.
CREATE TABLE links (
  channel TEXT NOT NULL,
  native_id TEXT NOT NULL,
  message TEXT NOT NULL,
  kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
  slot INTEGER NOT NULL,
  thread TEXT,
  gone INTEGER NOT NULL DEFAULT 0,
  at REAL NOT NULL,
  PRIMARY KEY (channel, native_id, message)
) WITHOUT ROWID;
CREATE INDEX links_of_message ON links (message, channel);
CREATE INDEX links_by_time ON links (channel, at);

-- Conversations, and the place of each message in them.
CREATE TABLE timelines (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'thread', 'room')),
  name TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created REAL NOT NULL,
  updated REAL NOT NULL,
  length INTEGER NOT NULL
);
CREATE TABLE entries (
  timeline INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  message INTEGER NOT NULL,
  PRIMARY KEY (timeline, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entries_of_message ON entries (message, timeline);

CREATE TABLE people (
  id TEXT PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE rooms (
  room TEXT PRIMARY KEY,
  conversation TEXT NOT NULL UNIQUE
) WITHOUT ROWID;

-- Operations; `seq` is their order, in the lane and as a whole.
CREATE TABLE operations (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  lane TEXT NOT NULL,
  type TEXT NOT NULL,
  message INTEGER NOT NULL,
  body BLOB NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting'
    CHECK (state IN ('waiting', 'sending', 'done', 'dead', 'unproved', 'cancelled')),
  attempts INTEGER NOT NULL DEFAULT 0,
  due REAL NOT NULL,
  created REAL NOT NULL,
  began REAL,
  ended REAL,
  error TEXT NOT NULL DEFAULT '',
  receipts TEXT NOT NULL DEFAULT '[]',
  losses TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX operations_open ON operations (lane, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX operations_lost ON operations (state, ended)
  WHERE state IN ('dead', 'unproved', 'cancelled');
CREATE INDEX operations_of_message ON operations (message, lane);

-- The native id of the last settled post of each lane.
CREATE TABLE lanes (
  lane TEXT PRIMARY KEY,
  last_post TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE turns (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  room TEXT NOT NULL,
  trigger_message TEXT NOT NULL,
  thread TEXT NOT NULL, -- the root of the trigger's thread; the trigger itself where it has none
  state TEXT NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'running', 'waiting', 'done', 'failed', 'interrupted')),
  attempts INTEGER NOT NULL DEFAULT 0,
  asked REAL NOT NULL,
  tool_called INTEGER NOT NULL DEFAULT 0,
  answer TEXT,
  error TEXT NOT NULL DEFAULT '',
  changed REAL NOT NULL
);
CREATE INDEX turns_by_state ON turns (state, n);
CREATE INDEX turns_of_thread ON turns (agent, thread);
CREATE INDEX turns_of_trigger ON turns (agent, trigger_message);

-- Small values of connectors; either `value` or `sealed` is set.
CREATE TABLE shelf (
  account TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT,
  sealed BLOB,
  PRIMARY KEY (account, key),
  CHECK ((value IS NULL) <> (sealed IS NULL))
) WITHOUT ROWID;

CREATE TABLE credentials (
  name TEXT PRIMARY KEY,
  sealed BLOB NOT NULL
) WITHOUT ROWID;
