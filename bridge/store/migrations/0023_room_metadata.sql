-- What the configuration says of a room for readers of its Conversation, as JSON.
CREATE TABLE room_metadata (
  room TEXT PRIMARY KEY,
  metadata TEXT NOT NULL
) WITHOUT ROWID;
