# Two Workers on a bare workerd, `wrangler dev` and its proxy left out: the reference, and Tollgate on a D1 of its own.
# What stands between @ signs is filled in by the benchmark.
using Workerd = import "/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .@MAIN@),
    (name = "d1", worker = .d1),
    (name = "d1data", disk = (writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  extensions = [(modules = [(name = "bench-internal:d1", internal = true, esModule = embed "@D1@")])],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const forwarder :Workerd.Worker = (
  modules = [(name = "forwarder.js", esModule = embed "forwarder.js")],
  compatibilityDate = "2026-03-24",
  bindings = [(name = "UPSTREAM", text = "@UPSTREAM@")],
);

const tollgate :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "index.js"),
    (name = "index_bg.wasm", wasm = embed "index_bg.wasm"),
  ],
  compatibilityDate = "2026-03-24",
  bindings = [
    (name = "TOLLGATE_MASTER_KEY", text = "a master key that is used for benchmarks only"),
    (name = "TOLLGATE_ADMIN_TOKEN", text = "@ADMIN@"),
    (name = "DB", wrapped = (
      moduleName = "bench-internal:d1",
      innerBindings = [(name = "OBJECT", durableObjectNamespace = (serviceName = "d1", className = "Database"))],
    )),
  ],
);

# Gives the database its schema: SQL text by POST.
const migrate :Workerd.Worker = (
  modules = [(name = "migrate.js", esModule = embed "migrate.js")],
  compatibilityDate = "2026-03-24",
  bindings = [(name = "DB", wrapped = (
    moduleName = "bench-internal:d1",
    innerBindings = [(name = "OBJECT", durableObjectNamespace = (serviceName = "d1", className = "Database"))],
  ))],
);

const d1 :Workerd.Worker = (
  modules = [(name = "d1.js", esModule = embed "d1.js")],
  compatibilityDate = "2026-03-24",
  durableObjectNamespaces = [(className = "Database", uniqueKey = "tollgate-bench", enableSql = true, preventEviction = true)],
  durableObjectStorage = (localDisk = "d1data"),
  bindings = [(name = "OBJECT", durableObjectNamespace = "Database")],
);
