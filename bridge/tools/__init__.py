"""Tools of Model Context Protocol servers for agents."""
