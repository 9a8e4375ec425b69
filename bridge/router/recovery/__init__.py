"""After a gap: what was missed is read, compared and handed to the inbound queues."""
