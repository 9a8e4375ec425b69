-- Full-text search over all messages. Contentless: the words are in the index alone, and the row's
-- number is the message's `moment`, so that the newest come first without sorting. `facets` are
-- what a search filters by: author, conversations, kinds of content, state.
CREATE VIRTUAL TABLE words USING fts5(
  text, facets, content = '', tokenize = "unicode61 remove_diacritics 2"
);
