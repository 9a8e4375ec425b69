-- Turns of one session are answered one after the other; '' is the agent's only one in the room.
ALTER TABLE turns ADD COLUMN session TEXT NOT NULL DEFAULT '';
