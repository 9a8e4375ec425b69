-- Erasures, and legal holds that forbid them.

-- `subject` says what kind of thing was erased; nothing here tells what it was. `cleaned` is NULL
-- until free space is overwritten and the `files` that only erased messages had are removed.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,
  at REAL NOT NULL,
  by TEXT NOT NULL,
  reason TEXT NOT NULL,
  subject TEXT NOT NULL,
  counts TEXT NOT NULL,
  files TEXT NOT NULL,
  cleaned REAL
) WITHOUT ROWID;

CREATE TABLE legal_holds (
  name TEXT PRIMARY KEY,
  by TEXT NOT NULL,
  reason TEXT NOT NULL,
  at REAL NOT NULL,
  room TEXT,
  channel TEXT,
  actor TEXT,
  since REAL,
  until REAL
) WITHOUT ROWID;
