"""Rich messages as one tree that no platform owns. Pure."""
