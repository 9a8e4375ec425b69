-- What an agent said last in a session: where it finds its private state again.
CREATE INDEX turns_of_session ON turns (session, n) WHERE answer IS NOT NULL;
