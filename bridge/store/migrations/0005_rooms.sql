-- What is decided about rooms while the bridge runs. Actors, channels and rooms stand by their keys.

-- Who is not admitted: blocked by an admin, or by their own wish; `room` is '' for all rooms.
CREATE TABLE barred (
  room TEXT NOT NULL,
  actor TEXT NOT NULL,
  why TEXT NOT NULL CHECK (why IN ('blocked', 'opted_out')),
  by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (room, actor, why)
) WITHOUT ROWID;

-- Rooms that carry nothing, until somebody resumes them or, where it is told, until a time.
CREATE TABLE paused (
  room TEXT PRIMARY KEY,
  why TEXT NOT NULL,
  by TEXT NOT NULL,
  at REAL NOT NULL,
  until REAL
) WITHOUT ROWID;

-- Channels that a command linked to a room, or unlinked from it: above the configuration.
CREATE TABLE room_links (
  room TEXT NOT NULL,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  linked INTEGER NOT NULL,
  by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (room, channel)
) WITHOUT ROWID;

-- Since when each channel and agent of a room is in it; 0 for those that were there first.
CREATE TABLE memberships (
  room TEXT NOT NULL,
  member TEXT NOT NULL,
  joined REAL NOT NULL,
  PRIMARY KEY (room, member)
) WITHOUT ROWID;

-- A room's configurations, numbered from 1; an entry tells under which it was made.
CREATE TABLE epochs (
  room TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  digest TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (room, epoch)
) WITHOUT ROWID;
ALTER TABLE entries ADD COLUMN epoch INTEGER;
