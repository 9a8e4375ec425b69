"""The agent that all model APIs share, and what only models have: uploads, transcripts, cards."""
