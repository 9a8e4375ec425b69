"""What messages say, apart from any platform: text, markdown, splitting. Pure."""
