-- The turns that a message began, whichever agent took them: its own trigger, or the question at the
-- start of a chain of agents.
DROP INDEX turns_of_trigger;
CREATE INDEX turns_of_trigger ON turns (trigger_message, agent);
CREATE INDEX turns_of_origin ON turns (origin) WHERE origin <> '';
