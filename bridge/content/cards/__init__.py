"""Rich messages as one neutral tree. Pure."""
