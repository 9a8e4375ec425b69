"""Pictures of cards and their translations, for people to look at."""
