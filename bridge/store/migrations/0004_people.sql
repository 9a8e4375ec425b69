-- Who is who: accounts of one person, names as rooms show them, and names that look alike.

-- Accounts that are one person's; whoever has one account alone has no row.
CREATE TABLE accounts (
  actor TEXT PRIMARY KEY,
  person TEXT NOT NULL,
  how TEXT NOT NULL CHECK (how IN ('email', 'command', 'code')),
  linked REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX accounts_of_person ON accounts (person, actor);

-- Keyed digests of e-mail addresses, never the addresses.
CREATE TABLE emails (
  actor TEXT PRIMARY KEY,
  digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX emails_by_digest ON emails (digest, actor);

-- Codes that link two accounts: one open code for each account, as a digest.
CREATE TABLE link_codes (
  digest TEXT PRIMARY KEY,
  actor TEXT NOT NULL UNIQUE,
  expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE link_attempts (
  actor TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  since REAL NOT NULL
) WITHOUT ROWID;

-- The skeleton of each known person's name (bridge.content.alike).
CREATE TABLE person_names (
  actor TEXT PRIMARY KEY,
  skeleton TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX person_names_alike ON person_names (skeleton, actor);

-- Each author's name in a room, and as the room shows it; with the skeletons of both.
CREATE TABLE shown_names (
  room TEXT NOT NULL,
  actor TEXT NOT NULL,
  name TEXT NOT NULL,
  name_skeleton TEXT NOT NULL,
  shown TEXT NOT NULL,
  shown_skeleton TEXT NOT NULL,
  PRIMARY KEY (room, actor)
) WITHOUT ROWID;
CREATE INDEX shown_names_alike ON shown_names (room, name_skeleton);
CREATE INDEX shown_names_taken ON shown_names (room, shown_skeleton);
CREATE INDEX shown_names_of_actor ON shown_names (actor);
