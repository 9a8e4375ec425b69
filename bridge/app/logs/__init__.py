"""Log events: readable or JSON, repeats counted, secrets hidden."""
