"""Agent Communication Protocol (ACP)."""
