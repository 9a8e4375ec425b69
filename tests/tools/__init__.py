"""Tools: servers of tools, approvals, and what is shown of them."""
