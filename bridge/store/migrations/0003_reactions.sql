-- Who reacts with what, once for each native message that they react on: `target` in `channel`. An
-- older event never wins, so what was taken back keeps its row (present 0). A row without actor says
-- until when all reactions, or all with its emoji, were cleared there.
CREATE TABLE reactions (
  message INTEGER NOT NULL,
  emoji TEXT NOT NULL,
  channel TEXT NOT NULL,
  target TEXT NOT NULL,
  actor TEXT NOT NULL,
  present INTEGER NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (message, emoji, channel, target, actor)
) WITHOUT ROWID;
-- The same as JSON beside the message, for its readers: [{"emoji": ..., "actors": [...]}].
ALTER TABLE messages ADD COLUMN reactions TEXT;
-- Whether a message is pinned, by whom, and since when that is so.
CREATE TABLE pins (
  message INTEGER PRIMARY KEY,
  pinned INTEGER NOT NULL,
  actor TEXT NOT NULL,
  at REAL NOT NULL
);
