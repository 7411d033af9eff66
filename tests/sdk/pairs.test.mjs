// The vendors' own SDKs over every pair of dialects, on both hosts, in front of a vendor as strict as the real ones.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { apis } from "./apis.mjs";
import { HOSTS, KEY, start, startStrictVendor } from "./hosts.mjs";

const UPSTREAMS = {
  chat: { channel: "openai", dialects: ["openai_chat"], model: "gpt-6" },
  responses: { channel: "openai", dialects: ["openai_responses"], model: "gpt-6" },
  claude: { channel: "claude", dialects: ["claude"], model: "claude-sonnet-4-5" },
  gemini: { channel: "gemini", dialects: ["gemini"], model: "gemini-3-pro-preview" },
};

const WEATHER = {
  name: "get_weather",
  description: "The weather in a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: ["integer", "null"], minimum: 1 } },
    required: ["city"],
    additionalProperties: false,
  },
};
const CALLS = ["Paris", "Rome"].map(city => ({ name: "get_weather", arguments: { city } }));
const SCHEMA = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"], additionalProperties: false };
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

for (const host of HOSTS) {
  describe(host, () => {
    let gateway, vendor, ask;

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
      gateway = await start(host, { providers: Object.entries(UPSTREAMS).map(provider), keys: [{ name: "sdk", key: KEY }] });
      ask = apis(gateway.url);
    });

    after(async () => {
      await gateway?.stop();
      await vendor?.stop();
    });

    for (const api of ["chat", "responses", "claude", "gemini"]) {
      for (const upstream of Object.keys(UPSTREAMS)) {
        for (const stream of [false, true]) {
          const model = `${upstream}/${UPSTREAMS[upstream].model}`;
          const question = { model, stream };
          const name = `${api} to ${upstream}, ${stream ? "streamed" : "buffered"}`;

          test(`${name}: text`, async () => {
            const answer = await ask[api]({ ...question, text: "Hello?" });
            assert.equal(answer.text, "Hello there");
            assert.equal(answer.output, 10);
          });

          test(`${name}: two calls at once, and their results`, async () => {
            for (const effort of [undefined, "high"]) {
              const calls = await ask[api]({ ...question, text: "Weather?", tools: [WEATHER], effort });
              assert.deepEqual(calls.calls.map(call => ({ name: call.name, arguments: call.arguments })), CALLS);
              const results = calls.calls.map(({ id, name, arguments: { city } }) => ({ id, name, output: `sunny in ${city}` }));
              const answer = await ask[api]({ ...question, history: calls.history, results, tools: [WEATHER], effort });
              assert.match(answer.text, /The tools said: .*sunny in Paris.* \| .*sunny in Rome/);
              // And once more, to see that the whole history can be replayed.
              const last = await ask[api]({ ...question, history: answer.history, text: "Thanks." });
              assert.equal(last.text, "Hello there");
            }
          });

          test(`${name}: an image`, async () => {
            const answer = await ask[api]({ ...question, text: "What is this?", image: PIXEL });
            assert.equal(answer.text, "I see 1 image(s)");
          });

          test(`${name}: thinking`, async () => {
            const answer = await ask[api]({ ...question, text: "Hello?", effort: "high" });
            assert.equal(answer.text, "Hello there");
            // Chat's own vendor shows nothing of its thinking.
            assert.equal(answer.thoughts, upstream === "chat" ? "" : "Let me think.");
          });

          test(`${name}: structured output`, async () => {
            const answer = await ask[api]({ ...question, text: "What is the answer?", schema: SCHEMA });
            assert.deepEqual(JSON.parse(answer.text), { answer: 42 });
          });
        }
      }
    }

    test("the vendor had nothing to complain about", async () => {
      assert.deepEqual(await vendor.faults(), []);
    });
  });
}
