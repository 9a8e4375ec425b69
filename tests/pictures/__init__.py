"""Pictures of cards and their translations, to be looked at by people."""
