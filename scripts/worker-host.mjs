// Runs the built Worker in workerd with a D1 of its own, for tests: `node scripts/worker-host.mjs`.
//
// Variables whose names begin with TOLLGATE_ become bindings. TOLLGATE_PORT chooses the port, a free one by default;
// TOLLGATE_DATA_DIR keeps the database there instead of in memory; TOLLGATE_SKIP_MIGRATIONS leaves the database empty;
// SUITE_TRAPS lets requests to /suite/trap trap in WebAssembly. It ends when its standard input does.
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Log, LogLevel, Miniflare } from "miniflare";

const root = fileURLToPath(new URL("..", import.meta.url));
const { TOLLGATE_PORT, TOLLGATE_DATA_DIR, TOLLGATE_SKIP_MIGRATIONS } = process.env;

const bindings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name.startsWith("TOLLGATE_") || name.startsWith("SUITE_")),
);

const miniflare = new Miniflare({
  rootPath: `${root}/build`,
  modules: modules(),
  compatibilityDate: compatibilityDate(),
  host: "127.0.0.1",
  port: Number(TOLLGATE_PORT ?? 0),
  bindings,
  d1Databases: { DB: "tollgate" },
  d1Persist: TOLLGATE_DATA_DIR ?? false,
  log: new Log(LogLevel.WARN),
  handleRuntimeStdio(stdout, stderr) {
    stdout.pipe(process.stderr);
    stderr.pipe(process.stderr);
  },
});

if (!TOLLGATE_SKIP_MIGRATIONS) {
  const database = await miniflare.getD1Database("DB");
  for (const migration of migrations()) await migrate(database, migration);
}
const url = await miniflare.ready;
console.log(`tollgate listens on http://127.0.0.1:${url.port}`);

process.stdin.resume();
process.stdin.on("end", stop);
process.on("SIGTERM", stop);

async function stop() {
  await miniflare.dispose();
  process.exit(0);
}

/** The Worker as it is built; where traps are wanted, with an entry before it that can cause them. */
function modules() {
  const built = [
    { type: "ESModule", path: `${root}/build/index.js` },
    { type: "CompiledWasm", path: `${root}/build/index_bg.wasm` },
  ];
  if (!process.env.SUITE_TRAPS) return built;
  const traps = ["entry.mjs", "instances.mjs"].map(name => ({
    type: "ESModule",
    path: `${root}/build/${name}`,
    contents: readFileSync(`${root}/tests/support/traps/${name}`, "utf8"),
  }));
  return [...traps, ...built];
}

/** The Worker's own date, from its configuration. */
function compatibilityDate() {
  return /compatibility_date = "(.*)"/.exec(readFileSync(`${root}/wrangler.toml`, "utf8"))[1];
}

/** The number and the statements of each migration, in order. */
function migrations() {
  return readdirSync(`${root}/migrations`).sort().map(file => ({
    version: parseInt(file),
    statements: readFileSync(`${root}/migrations/${file}`, "utf8")
      .replace(/^\s*--.*$/gm, "")
      .split(/;\s*$/m)
      .map(statement => statement.trim())
      .filter(statement => statement !== ""),
  }));
}

/** Applies a migration that has not been applied yet. */
async function migrate(database, { version, statements }) {
  if ((await schemaVersion(database)) >= version) return;
  await database.batch(statements.map(statement => database.prepare(statement)));
}

async function schemaVersion(database) {
  try {
    return await database.prepare("SELECT schema_version FROM settings WHERE id = 1").first("schema_version");
  } catch (error) {
    if (/no such table/.test(error.message)) return 0;
    throw error;
  }
}
