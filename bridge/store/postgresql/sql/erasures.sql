-- name: make_erased
CREATE TEMP TABLE erased (n bigint PRIMARY KEY, id text COLLATE "C" NOT NULL, row bigint);

-- name: forget_derived
DELETE FROM key_values WHERE key LIKE replace(replace($1, '_', '\_'), '*', '%');
