-- When each channel and agent of a room was in it: from configuration `since` (0: from the beginning)
-- up to, and without, `until`; `joined` is the time of its beginning, 0 for those who were there first.
CREATE TABLE periods (
  room TEXT NOT NULL,
  member TEXT NOT NULL,
  joined REAL NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,
  PRIMARY KEY (room, member, since)
) WITHOUT ROWID;
INSERT INTO periods (room, member, joined, since)
SELECT room, member, joined, coalesce(
  (SELECT max(epoch) FROM epochs AS e WHERE e.room = m.room AND e.at <= m.joined), 0
)
FROM memberships AS m;
DROP TABLE memberships;
