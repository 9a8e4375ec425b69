"""Cards and other attachments of activities: what Teams refuses, and what people find in them."""
