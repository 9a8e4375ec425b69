"""The HTTP API and the MCP server: programs with a token read and write rooms as UACS."""
