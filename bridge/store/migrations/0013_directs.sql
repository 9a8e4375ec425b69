-- Who may be written to directly by people of other platforms: by their own wish, said in a room.
CREATE TABLE direct_ends (
  actor TEXT NOT NULL,
  room TEXT NOT NULL,
  account TEXT NOT NULL,
  channel TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (actor, room)
) WITHOUT ROWID;

-- Who has written to whom; `one` is the lesser of the two ids.
CREATE TABLE direct_pairs (
  one TEXT NOT NULL,
  other TEXT NOT NULL,
  PRIMARY KEY (one, other)
) WITHOUT ROWID;
