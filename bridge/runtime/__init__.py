"""What every part of the bridge runs with: clock, installed extras, web server, files,
credentials."""
