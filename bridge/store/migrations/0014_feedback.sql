-- What people think of answers: the latest of each person holds. `tells` is the agent that must
-- still hear of it, NULL where none does.
CREATE TABLE feedback (
  message INTEGER NOT NULL,
  actor TEXT NOT NULL,
  sense TEXT NOT NULL,
  comment TEXT NOT NULL,
  at REAL NOT NULL,
  channel TEXT NOT NULL,
  room TEXT NOT NULL,
  tells TEXT,
  PRIMARY KEY (message, actor)
) WITHOUT ROWID;
CREATE INDEX feedback_untold ON feedback (at) WHERE tells IS NOT NULL;
-- The same as JSON beside the message, for its readers.
ALTER TABLE messages ADD COLUMN feedback TEXT;
-- A third kind of change.
CREATE TABLE changes_new (
  timeline INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  message INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('changed', 'reacted', 'rated')),
  PRIMARY KEY (timeline, seq)
) WITHOUT ROWID;
INSERT INTO changes_new SELECT timeline, seq, message, kind FROM changes;
DROP TABLE changes;
ALTER TABLE changes_new RENAME TO changes;
