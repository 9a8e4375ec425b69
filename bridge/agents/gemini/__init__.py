"""Google Gemini, `generateContent`."""
