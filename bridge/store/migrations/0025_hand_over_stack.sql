-- Who answered at a spot before the present holder, and who had handed over to each: a JSON list of
-- [agent, by], oldest first. Whoever gives the conversation back gives it to the last of them.
ALTER TABLE handovers ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]';
