-- Processes that share the store: what each works for, what they tell one another, and what changed.

CREATE TABLE processes (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  started double precision NOT NULL,
  until double precision NOT NULL,
  stopping bigint NOT NULL DEFAULT 0
);

-- The number of the last transaction that each process committed; apart from `processes`, so that a
-- lease is renewed while a long transaction runs.
CREATE TABLE commits (
  process text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL
);

-- What one process at a time works for. `epoch` rises at each change of hands.
CREATE TABLE assignments (
  name text COLLATE "C" PRIMARY KEY,
  process text COLLATE "C",
  epoch bigint NOT NULL DEFAULT 0,
  since double precision NOT NULL,
  load double precision NOT NULL DEFAULT 0
);

CREATE TABLE signals (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at double precision NOT NULL,
  sender text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL
);
CREATE INDEX signals_by_time ON signals (at);

-- How often what processes keep in memory has changed.
CREATE TABLE revisions (
  name text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL
);

CREATE FUNCTION note_revision() RETURNS trigger
  LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO revisions (name, number) VALUES (TG_ARGV[0], 1)
      ON CONFLICT (name) DO UPDATE SET number = revisions.number + 1;
      RETURN NULL;
    END
  $$;

CREATE TRIGGER bans_changed AFTER INSERT OR UPDATE OR DELETE ON bans
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('bans');
CREATE TRIGGER pauses_changed AFTER INSERT OR UPDATE OR DELETE ON pauses
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('bans');
CREATE TRIGGER accounts_changed AFTER INSERT OR UPDATE OR DELETE ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('bans');
CREATE TRIGGER handovers_changed AFTER INSERT OR UPDATE OR DELETE ON handovers
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('hand_overs');
CREATE TRIGGER pairings_changed AFTER INSERT OR UPDATE OR DELETE ON pairings
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('pairings');
CREATE TRIGGER consents_changed AFTER INSERT OR UPDATE OR DELETE ON direct_message_consents
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('direct_messages');
CREATE TRIGGER pairs_changed AFTER INSERT OR UPDATE OR DELETE ON direct_message_pairs
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('direct_messages');
CREATE TRIGGER room_links_changed AFTER INSERT OR UPDATE OR DELETE ON room_links
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('rooms');
CREATE TRIGGER tenants_changed AFTER INSERT OR UPDATE OR DELETE ON tenants
  FOR EACH STATEMENT EXECUTE FUNCTION note_revision('rooms');
CREATE TRIGGER guests_changed AFTER INSERT OR UPDATE ON key_values
  FOR EACH ROW WHEN (NEW.account = '(guests)') EXECUTE FUNCTION note_revision('rooms');
CREATE TRIGGER floors_changed AFTER INSERT OR UPDATE ON key_values
  FOR EACH ROW WHEN (NEW.account = '' AND NEW.key LIKE 'floor:%')
  EXECUTE FUNCTION note_revision('floor');

-- One transaction at a time changes a store that is shared. It fails unless its process is alive to
-- the others.
CREATE FUNCTION fence_process(own text, own_number bigint) RETURNS void
  LANGUAGE plpgsql AS $$
    BEGIN
      -- A process that is stopped in the middle holds up no other for longer.
      PERFORM set_config('idle_in_transaction_session_timeout', '3000', true);
      PERFORM 1 FROM leases WHERE name = 'store' FOR UPDATE;
      PERFORM 1 FROM processes WHERE id = own;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the other processes hold this one for dead' USING ERRCODE = 'UA001';
      END IF;
      UPDATE commits SET number = own_number WHERE process = own;
    END
  $$;
