"""What every part runs with: the clock, installed extras, a web server, files, credentials."""
