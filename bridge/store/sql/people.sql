-- INDEXED BY: left alone, SQLite would read all names of a room to find those that look alike.

-- name: note_name
INSERT INTO person_names (actor, skeleton) VALUES (?, ?)
ON CONFLICT (actor) DO UPDATE SET skeleton = excluded.skeleton;

-- name: people_named
SELECT p.body FROM person_names AS n CROSS JOIN people AS p ON p.id = n.actor
WHERE n.skeleton = ? ORDER BY n.actor LIMIT 50;

-- name: shown_name
SELECT room, actor, name, display_name FROM display_names WHERE room = ? AND actor = ?;

-- name: alike_by_name
SELECT room, actor, name, display_name FROM display_names INDEXED BY shown_names_alike
WHERE room = ? AND name_skeleton = ? LIMIT 50;

-- name: alike_as_shown
SELECT room, actor, name, display_name FROM display_names INDEXED BY shown_names_taken
WHERE room = ? AND display_skeleton = ? LIMIT 50;

-- name: save_shown_name
INSERT INTO display_names (room, actor, name, name_skeleton, display_name, display_skeleton)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (room, actor) DO UPDATE SET
  name = excluded.name,
  name_skeleton = excluded.name_skeleton,
  display_name = excluded.display_name,
  display_skeleton = excluded.display_skeleton;

-- name: forget_shown_names
DELETE FROM display_names WHERE actor = ?;

-- name: person_of
SELECT person FROM accounts WHERE actor = ?;

-- name: accounts_of_person
SELECT actor, person, how, linked FROM accounts WHERE person = ? ORDER BY actor;

-- name: all_accounts
SELECT actor, person, how, linked FROM accounts ORDER BY person, actor;

-- name: save_account
INSERT INTO accounts (actor, person, how, linked) VALUES (?, ?, ?, ?)
ON CONFLICT (actor) DO UPDATE SET
  person = excluded.person, how = excluded.how, linked = excluded.linked;

-- name: move_accounts
UPDATE accounts SET person = ? WHERE person = ?;

-- name: remove_account
DELETE FROM accounts WHERE actor = ?;

-- name: email
SELECT digest FROM emails WHERE actor = ?;

-- name: save_email
INSERT INTO emails (actor, digest) VALUES (?, ?)
ON CONFLICT (actor) DO UPDATE SET digest = excluded.digest;

-- name: same_email
SELECT actor FROM emails WHERE digest = ? ORDER BY actor LIMIT 50;

-- name: put_code
INSERT INTO link_codes (digest, actor, expires) VALUES (?, ?, ?)
ON CONFLICT (actor) DO UPDATE SET digest = excluded.digest, expires = excluded.expires;

-- name: code
SELECT actor FROM link_codes WHERE digest = ? AND expires > ?;

-- name: remove_code
DELETE FROM link_codes WHERE digest = ?;

-- name: attempts
SELECT failures, since FROM link_attempts WHERE actor = ?;

-- name: save_attempts
INSERT INTO link_attempts (actor, failures, since) VALUES (?, ?, ?)
ON CONFLICT (actor) DO UPDATE SET failures = excluded.failures, since = excluded.since;

-- name: remove_attempts
DELETE FROM link_attempts WHERE actor = ?;
