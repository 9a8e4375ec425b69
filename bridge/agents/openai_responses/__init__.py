"""OpenAI Responses, without the vendor's own memory."""
