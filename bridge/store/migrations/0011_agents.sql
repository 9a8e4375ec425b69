-- Agents in rooms: who answers where, what was spent, and who may reach whom.

-- Who began the conversation in which a turn was asked ('' is its own trigger), and what called it.
ALTER TABLE turns ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN called_by TEXT NOT NULL DEFAULT 'person';
CREATE INDEX turns_of_room ON turns (room, n);

-- Spots of rooms that somebody took over; `agent` is '' where a person answers there.
CREATE TABLE holdings (
  room TEXT NOT NULL,
  spot TEXT NOT NULL,
  agent TEXT NOT NULL,
  by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (room, spot)
) WITHOUT ROWID;

-- What was spent, in sums over five minutes; money in millionths.
CREATE TABLE spending (
  purse TEXT NOT NULL,
  at INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  micros INTEGER NOT NULL,
  PRIMARY KEY (purse, at)
) WITHOUT ROWID;

-- Who gave a code, and may reach an agent by that; codes stand as digests.
CREATE TABLE pairings (
  actor TEXT NOT NULL,
  agent TEXT NOT NULL,
  by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (actor, agent)
) WITHOUT ROWID;
CREATE TABLE pairing_codes (
  digest TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  by TEXT NOT NULL,
  expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE pairing_attempts (
  actor TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  since REAL NOT NULL
) WITHOUT ROWID;
