"""Log events: as text or JSON, with repeats counted and secrets hidden."""
