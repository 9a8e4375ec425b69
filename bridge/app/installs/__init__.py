"""Apps that many workspaces install by themselves: their pages, tenants, accounts and tokens."""
