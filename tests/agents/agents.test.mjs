// The agents that people use, over every vendor's dialect and on both hosts: each finishes a turn in which it calls a tool.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { HOSTS, KEY, start, startStrictVendor } from "../sdk/hosts.mjs";

const modules = fileURLToPath(new URL("node_modules", import.meta.url));
const program = name => join(modules, ".bin", name);
const node = join(modules, "node/bin/node");

const MARK = "the-tool-was-here";
const command = `echo ${MARK}`;

/** What the vendor would like to call: of each agent's tools the one that runs a command. */
const CALLS = [
  { name: "Bash", arguments: { command, description: "Leaves a mark" } },
  { name: "run_shell_command", arguments: { command, description: "Leaves a mark" } },
  { name: "exec_command", arguments: { cmd: command } },
  { name: "shell_command", arguments: { command } },
  { name: "shell", arguments: { command: ["echo", MARK] } },
];

const UPSTREAMS = {
  chat: { channel: "openai", dialects: ["openai_chat"], model: "gpt-6" },
  responses: { channel: "openai", dialects: ["openai_responses"], model: "gpt-6" },
  claude: { channel: "claude", dialects: ["claude"], model: "claude-sonnet-4-6" },
  gemini: { channel: "gemini", dialects: ["gemini"], model: "gemini-3-pro-preview" },
};

const QUESTION = "Leave a mark.";

/** How each agent is started: what it runs, with which variables, after which files were written to its home. */
const AGENTS = {
  claude: (url, model) => ({
    run: [program("claude"), "-p", QUESTION, "--model", model, "--dangerously-skip-permissions"],
    variables: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: KEY,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    },
  }),
  codex: (url, model) => ({
    run: [node, program("codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", QUESTION],
    variables: { GATEWAY_KEY: KEY },
    files: {
      ".codex/config.toml": `model = "${model}"
model_provider = "gateway"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${url}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
`,
    },
  }),
  gemini: (url, model) => ({
    run: [node, program("gemini"), "-p", QUESTION, "-m", model, "--yolo", "--skip-trust"],
    variables: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_TELEMETRY_ENABLED: "false" },
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
      }),
    },
  }),
};

for (const host of HOSTS) {
  describe(host, () => {
    let gateway, vendor;

    before(async () => {
      vendor = await startStrictVendor(CALLS);
      const provider = ([name, { channel, dialects }]) => ({
        name,
        channel,
        dialects,
        base_url: vendor.url,
        network: "private",
        credentials: [{ name: "default", secret: "upstream-key" }],
      });
      const route = ([provider, { model }]) => ({ name: `agent-${provider}`, members: [{ provider, model }] });
      gateway = await start(host, {
        providers: Object.entries(UPSTREAMS).map(provider),
        routes: Object.entries(UPSTREAMS).map(route),
        keys: [{ name: "agents", key: KEY }],
      });
    });

    after(async () => {
      await gateway?.stop();
      await vendor?.stop();
    });

    for (const [agent, prepare] of Object.entries(AGENTS)) {
      for (const upstream of Object.keys(UPSTREAMS)) {
        test(`${agent} over ${upstream}`, async () => {
          const before = (await vendor.faults()).length;
          const output = await run(prepare(gateway.url, `agent-${upstream}`));
          const faults = (await vendor.faults()).slice(before).map(fault => fault.faults);
          assert.deepEqual(faults, []);
          assert.match(output, /The tools said: /);
          assert.ok(output.slice(output.lastIndexOf("The tools said: ")).includes(MARK), output);
        });
      }
    }
  });
}

/** Runs an agent in a home of its own; gives what it has said, if it ended well. */
async function run({ run: [program, ...parameters], variables, files = {} }) {
  const home = mkdtempSync(join(tmpdir(), "tollgate-agent-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, name, ".."), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const environment = { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: home, ...variables };
  const child = spawn(program, parameters, { cwd: home, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", piece => (output += piece));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const code = await new Promise(resolve => child.once("exit", resolve));
  clearTimeout(timer);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  assert.equal(code, 0, output);
  return output;
}
