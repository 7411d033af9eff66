-- The whole state of a Tollgate instance; docs/storage.md tells the purpose, the life and the writer of each table.
-- Times are milliseconds since the Unix epoch, UTC. There are no blobs: D1 hands them over as arrays of numbers.

-- One row: the revisions that every request reads first, and the instance's own settings as JSON.
CREATE TABLE settings (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  config_revision INTEGER NOT NULL,
  routing_revision INTEGER NOT NULL,
  credentials_revision INTEGER NOT NULL,
  identity_revision INTEGER NOT NULL,
  prices_revision INTEGER NOT NULL,
  limits_revision INTEGER NOT NULL,
  -- Tells whether an instance runs under the master key that the secrets are sealed with.
  vault_mark TEXT NOT NULL,
  document TEXT NOT NULL
);

CREATE TABLE admin_tokens (
  digest TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
);

CREATE TABLE providers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL,
  base_url TEXT,
  enabled INTEGER NOT NULL,
  options TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE TABLE credentials (
  id TEXT PRIMARY KEY,
  provider_id TEXT NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  secret TEXT NOT NULL,
  secret_digest TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (provider_id, name)
);

CREATE TABLE routes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  enabled INTEGER NOT NULL,
  options TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE TABLE route_members (
  id TEXT PRIMARY KEY,
  route_id TEXT NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
  provider_id TEXT NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  tier INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (route_id, provider_id, model)
);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

-- One row a call to an upstream. The last row of a request, which is there even when no upstream was called, also tells
-- how the request went; its presence marks the request as settled. Names are kept as they were, so that figures outlive
-- what they are about. Ids begin with the time, so the primary key is the index by time as well.
CREATE TABLE usage (
  request_id TEXT NOT NULL,
  call INTEGER NOT NULL,
  at INTEGER NOT NULL,
  api_key_id TEXT NOT NULL,
  api_key TEXT NOT NULL,
  dialect TEXT NOT NULL,
  operation TEXT NOT NULL,
  model TEXT NOT NULL,
  stream INTEGER NOT NULL,
  provider_id TEXT,
  provider TEXT,
  credential_id TEXT,
  upstream_model TEXT,
  status INTEGER NOT NULL,
  error TEXT,
  input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write_short INTEGER NOT NULL,
  cache_write_long INTEGER NOT NULL,
  audio_input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  audio_output INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  outcome TEXT,
  response_status INTEGER,
  response_error TEXT,
  first_byte_ms INTEGER,
  total_ms INTEGER,
  PRIMARY KEY (request_id, call)
) WITHOUT ROWID;

INSERT INTO settings VALUES (1, 1, 0, 0, 0, 0, 0, 0, '', '{}');
