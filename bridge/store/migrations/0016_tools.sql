-- The tools that each agent of a room may call, as its Conversation describes them (JSON).
CREATE TABLE described_tools (
  conversation TEXT NOT NULL,
  agent TEXT NOT NULL,
  tools TEXT NOT NULL,
  PRIMARY KEY (conversation, agent)
) WITHOUT ROWID;
