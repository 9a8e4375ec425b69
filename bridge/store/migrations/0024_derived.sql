-- Transcripts of recordings were kept under keys that did not say of which file they are, so that
-- an erasure could not find them. Agents make them anew.
DELETE FROM key_values WHERE key GLOB 'transcript:*';
