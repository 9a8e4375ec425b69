"""Cards and other attachments of activities: validation, controls and inputs."""
