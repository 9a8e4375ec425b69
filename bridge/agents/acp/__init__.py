"""The Agent Communication Protocol: runs and sessions over REST."""
