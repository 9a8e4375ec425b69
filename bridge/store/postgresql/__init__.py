"""The store in PostgreSQL, for communities that outgrow one file."""
