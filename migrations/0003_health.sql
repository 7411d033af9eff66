-- What isolates learn of upstreams and tell each other. Every write of the tables `health` and `quota_usage` puts
-- `health_revision` up and notes it on the row, so a reader asks only for what is newer than what it knows.
ALTER TABLE settings ADD COLUMN health_revision INTEGER NOT NULL DEFAULT 0;

-- What keeps a credential, a provider's model or a quota from being used for a while, one row a subject. A row whose `until` has
-- passed is history; it stays, so that the next failure knows how long the last rest was.
CREATE TABLE health (
  subject TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  credential_id TEXT,
  model TEXT,
  failures INTEGER NOT NULL,
  successes INTEGER NOT NULL,
  wait_ms INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  -- Until when by the vendor's own word, which is not always taken.
  hint INTEGER,
  status INTEGER NOT NULL,
  cause TEXT NOT NULL,
  -- The version of the credential's secret that a refusal is about; a newer secret is not refused.
  secret_version INTEGER NOT NULL,
  revision INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX health_by_revision ON health (revision);

-- What was spent of a quota, in slices of its window.
CREATE TABLE quota_usage (
  quota TEXT NOT NULL,
  slice INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (quota, slice)
) WITHOUT ROWID;

CREATE INDEX quota_usage_by_revision ON quota_usage (revision);

-- Who may do alone what only one may do at a time: refresh a credential, try an upstream that rested. Whoever dies gives it back by
-- time.
CREATE TABLE leases (
  subject TEXT NOT NULL,
  slot INTEGER NOT NULL,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (subject, slot)
) WITHOUT ROWID;

-- Which credential a vendor keeps a conversation for, by the id that clients continue it with.
CREATE TABLE continuations (
  id TEXT PRIMARY KEY,
  provider_id TEXT NOT NULL,
  credential_id TEXT,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX continuations_by_expiry ON continuations (expires_at);

-- Rewrite rules that several providers share.
CREATE TABLE rule_sets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  rules TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

ALTER TABLE credentials ADD COLUMN options TEXT NOT NULL DEFAULT '{}';
-- Goes up with every new secret; a refresh only replaces the version that it began with.
ALTER TABLE credentials ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE route_members ADD COLUMN options TEXT NOT NULL DEFAULT '{}';

UPDATE settings SET schema_version = 3;
