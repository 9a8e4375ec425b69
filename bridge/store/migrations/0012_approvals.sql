-- Calls of tools that somebody must allow, and the audit of who decided.
CREATE TABLE approvals (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  turn TEXT NOT NULL,
  call TEXT NOT NULL,
  room TEXT NOT NULL,
  agent TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  reason TEXT NOT NULL,
  trigger_message TEXT NOT NULL,
  asker TEXT NOT NULL,
  approvers TEXT NOT NULL,
  quorum INTEGER NOT NULL,
  created REAL NOT NULL,
  expires REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'open',
  ended REAL,
  UNIQUE (turn, call)
);
CREATE TABLE approval_decisions (
  n INTEGER PRIMARY KEY,
  approval TEXT NOT NULL REFERENCES approvals (id),
  actor TEXT NOT NULL,
  allowed INTEGER NOT NULL,
  at REAL NOT NULL,
  place TEXT NOT NULL
);
CREATE INDEX approval_decisions_of ON approval_decisions (approval);
