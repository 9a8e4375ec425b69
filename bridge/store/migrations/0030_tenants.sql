-- Workspaces that installed an app of ours, and what the platforms gave to us for them. `data_key` is
-- sealed with the store's key and seals the secrets of this tenant alone: without it they are lost.
CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  platform TEXT NOT NULL,
  native_id TEXT NOT NULL,
  name TEXT NOT NULL,
  installed_by TEXT NOT NULL,
  installed_at REAL NOT NULL,
  state TEXT NOT NULL,
  limits TEXT NOT NULL,
  expires_at REAL,
  trouble TEXT NOT NULL DEFAULT '',
  data_key BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE tenant_secrets (
  tenant TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

-- States of the OAuth flow that were used, until they end by themselves: each is taken once.
CREATE TABLE used_install_states (
  digest BLOB PRIMARY KEY,
  expires REAL NOT NULL
) WITHOUT ROWID;
