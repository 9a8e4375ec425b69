-- Names that say what is stored. Each line `Renamed:` is what `uacs-bridge db migrate` prints.
-- SQLite renames in the schema alone: no row is written, however large the table is (indexes keep
-- their names, because a new name would mean to build them again). The table of
-- bans is copied, because a constraint names its values; it has a row for each ban.

-- Renamed: table shelf -> key_values
ALTER TABLE shelf RENAME TO key_values;

-- Renamed: table barred -> bans
-- Renamed: column barred.why -> bans.reason
-- Renamed: value 'blocked' of barred.why -> 'banned'
CREATE TABLE bans (
  room TEXT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('banned', 'opted_out')),
  by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (room, actor, reason)
) WITHOUT ROWID;
INSERT INTO bans (room, actor, reason, by, at)
SELECT room, actor, CASE why WHEN 'blocked' THEN 'banned' ELSE why END, by, at FROM barred;
DROP TABLE barred;

-- Renamed: table paused -> pauses
-- Renamed: column paused.why -> pauses.reason
ALTER TABLE paused RENAME TO pauses;
ALTER TABLE pauses RENAME COLUMN why TO reason;

-- Renamed: table holdings -> handovers
ALTER TABLE holdings RENAME TO handovers;

-- Renamed: table spending -> quota_usage
-- Renamed: column spending.purse -> quota_usage.quota
ALTER TABLE spending RENAME TO quota_usage;
ALTER TABLE quota_usage RENAME COLUMN purse TO quota;

-- Renamed: table direct_ends -> direct_message_consents
ALTER TABLE direct_ends RENAME TO direct_message_consents;

-- Renamed: table direct_pairs -> direct_message_pairs
-- Renamed: columns direct_pairs.one, other -> direct_message_pairs.first, second
ALTER TABLE direct_pairs RENAME TO direct_message_pairs;
ALTER TABLE direct_message_pairs RENAME COLUMN one TO first;
ALTER TABLE direct_message_pairs RENAME COLUMN other TO second;

-- Renamed: table described_tools -> tool_catalogue
ALTER TABLE described_tools RENAME TO tool_catalogue;

-- Renamed: table shown_names -> display_names
-- Renamed: columns shown_names.shown, shown_skeleton -> display_names.display_name, display_skeleton
ALTER TABLE shown_names RENAME TO display_names;
ALTER TABLE display_names RENAME COLUMN shown TO display_name;
ALTER TABLE display_names RENAME COLUMN shown_skeleton TO display_skeleton;

-- Renamed: column feedback.tells -> feedback.pending_agent
ALTER TABLE feedback RENAME COLUMN tells TO pending_agent;

-- Renamed: column inbox.kept -> inbox.received_at
ALTER TABLE inbox RENAME COLUMN kept TO received_at;

-- Renamed: column turns.asked -> turns.asked_at
ALTER TABLE turns RENAME COLUMN asked TO asked_at;
