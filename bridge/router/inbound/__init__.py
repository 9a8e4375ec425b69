"""The way in: kept payloads become events, pass the stages, and leave as outbox rows."""
