// Both hosts, started as a user would and configured through the API, for the vendors' SDKs to talk to.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const KEY = "tg-sdk-tests-0123456789";
const ADMIN_TOKEN = "tga-sdk-tests-0123456789";

const COMMANDS = {
  native: data => [join(root, "target/debug/tollgate"), ["--port", "0", "--data-dir", data, "--log", "warn"]],
  worker: () => [process.execPath, [join(root, "scripts/worker-host.mjs")]],
};

/** The hosts that are tried; `TOLLGATE_HOSTS=native` leaves the Worker out. */
export const HOSTS = process.env.TOLLGATE_HOSTS?.split(",") ?? Object.keys(COMMANDS);

/** Starts a host with a configuration; gives its address and a function that ends it. */
export async function start(host, document) {
  const data = mkdtempSync(join(tmpdir(), "tollgate-sdk-"));
  const [program, parameters] = COMMANDS[host](data);
  const child = spawn(program, parameters, {
    env: { ...process.env, TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN, TOLLGATE_MASTER_KEY: "a master key that is used for tests only" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const url = await listening(child);
  await configure(url, document);
  return {
    url,
    async stop() {
      const ended = new Promise(resolve => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** What the host has metered, by model. */
export async function usage(url) {
  const response = await fetch(`${url}/admin/api/usage?group_by=model`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  return (await response.json()).totals;
}

function listening(child, words = /tollgate listens on (http:\S+)/) {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout.on("data", piece => {
      output += piece;
      const found = words.exec(output);
      if (found) resolve(found[1]);
    });
    child.once("exit", code => reject(new Error(`${child.spawnfile} ended with ${code}: ${output}`)));
  });
}

/** Starts the strict vendor, which would like to make these calls; gives its address and a function that ends it. */
export async function startStrictVendor(calls = []) {
  const child = spawn(join(root, "target/debug/examples/vendor"), ["--calls", JSON.stringify(calls)], { stdio: ["pipe", "pipe", "inherit"] });
  const url = await listening(child, /the vendor listens on (http:\S+)/);
  return {
    url,
    faults: async () => (await fetch(`${url}/faults`)).json(),
    async stop() {
      const ended = new Promise(resolve => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function configure(url, document) {
  const response = await fetch(`${url}/admin/api/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify(document),
  });
  if (!response.ok) throw new Error(await response.text());
}
