-- Why an agent was chosen for a turn, in words.
ALTER TABLE turns ADD COLUMN reason TEXT NOT NULL DEFAULT '';
