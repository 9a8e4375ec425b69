-- Who may speak below a program, under names of their own: a JSON list of globs.
ALTER TABLE api_tokens ADD COLUMN actors TEXT NOT NULL DEFAULT '[]';
