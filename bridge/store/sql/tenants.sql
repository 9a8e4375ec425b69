-- Tenants, their secrets, and used states of installations.

-- name: tenants
SELECT id, platform, native_id, name, installed_by, installed_at, state, limits, expires_at, trouble
FROM tenants ORDER BY installed_at, id;

-- name: tenant
SELECT id, platform, native_id, name, installed_by, installed_at, state, limits, expires_at, trouble
FROM tenants WHERE id = ?;

-- name: data_key
SELECT data_key FROM tenants WHERE id = ?;

-- name: put_tenant
INSERT INTO tenants (
  id, platform, native_id, name, installed_by, installed_at, state, limits, expires_at, trouble, data_key
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
  name = excluded.name, installed_by = excluded.installed_by, installed_at = excluded.installed_at,
  state = excluded.state, limits = excluded.limits, expires_at = excluded.expires_at,
  trouble = excluded.trouble, data_key = excluded.data_key;

-- name: set_state
UPDATE tenants SET state = ?2 WHERE id = ?1;

-- name: set_limits
UPDATE tenants SET limits = ?2 WHERE id = ?1;

-- name: set_trouble
UPDATE tenants SET trouble = ?2 WHERE id = ?1;

-- name: set_expiry
UPDATE tenants SET expires_at = ?2, trouble = '' WHERE id = ?1;

-- name: set_data_key
UPDATE tenants SET data_key = ?2 WHERE id = ?1;

-- name: remove_tenant
DELETE FROM tenants WHERE id = ?;

-- name: secret
SELECT sealed FROM tenant_secrets WHERE tenant = ? AND name = ?;

-- name: secrets
SELECT name, sealed FROM tenant_secrets WHERE tenant = ? ORDER BY name;

-- name: put_secret
INSERT INTO tenant_secrets (tenant, name, sealed) VALUES (?, ?, ?)
ON CONFLICT (tenant, name) DO UPDATE SET sealed = excluded.sealed;

-- name: remove_secrets
DELETE FROM tenant_secrets WHERE tenant = ?;

-- name: use_state
INSERT INTO used_install_states (digest, expires) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING;

-- name: forget_states
DELETE FROM used_install_states WHERE expires < ?;
