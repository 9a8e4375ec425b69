-- Texts of messages in other languages, for channels that read in one: a JSON list, in the order of
-- the message's texts. `digest` is that of the texts which were translated. They can be made anew.
CREATE TABLE translations (
  message INTEGER NOT NULL,
  language TEXT NOT NULL,
  digest TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (message, language)
) WITHOUT ROWID;
