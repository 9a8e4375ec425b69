"""Local Slack, Discord and Teams: stateful, with the published limits and errors, on loopback."""
