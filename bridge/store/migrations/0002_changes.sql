-- When a message was last edited or deleted by its people, in the platform's own seconds since 1970:
-- an older change never wins.
ALTER TABLE messages ADD COLUMN changed REAL;
