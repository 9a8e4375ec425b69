-- The archive: the order of messages by time, their former versions, native payloads of imports,
-- channels and people as their platform described them, and the progress of imports.

-- When a message was posted, unique: seconds since 1970 times 1024, plus a counter. Exports and
-- searches go in this order, whenever a message came into the store.
ALTER TABLE messages ADD COLUMN moment INTEGER;
UPDATE messages SET moment = ranked.moment FROM (
  SELECT n, CAST(time AS INTEGER) * 1024
    + row_number() OVER (PARTITION BY CAST(time AS INTEGER) ORDER BY n) - 1 AS moment
  FROM messages
) AS ranked
WHERE ranked.n = messages.n;
CREATE UNIQUE INDEX messages_by_moment ON messages (moment);
ALTER TABLE entries ADD COLUMN moment INTEGER;
UPDATE entries SET moment = (SELECT m.moment FROM messages AS m WHERE m.n = entries.message);
CREATE INDEX entries_by_moment ON entries (timeline, moment);

-- Bodies that an edit or a deletion replaced, from 1, oldest first; `until` is when they ended and
-- `actor` who ended them, where the platform says it.
CREATE TABLE versions (
  message INTEGER NOT NULL,
  version INTEGER NOT NULL,
  body BLOB NOT NULL,
  until REAL NOT NULL,
  actor TEXT,
  PRIMARY KEY (message, version)
) WITHOUT ROWID;

-- Native messages of imports, as their format has them; live ones are in `payloads`.
CREATE TABLE imported_payloads (
  message INTEGER PRIMARY KEY,
  format TEXT NOT NULL,
  payload BLOB NOT NULL
);

-- Channels and people as an export described them: JSON of an ExportedChannel or ExportedPerson.
CREATE TABLE descriptions (
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'person')),
  id TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;

-- Files and tables of exports that were imported whole.
CREATE TABLE imported_units (
  export TEXT NOT NULL,
  unit TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (export, unit)
) WITHOUT ROWID;
