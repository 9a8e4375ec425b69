"""Files by their types and names. Pure."""
