// The vendors' own SDKs against both hosts, in front of a mock of their vendors.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { HOSTS, KEY, start, usage } from "./hosts.mjs";
import { startVendor } from "./vendor.mjs";

const provider = (name, channel, base_url) => ({
  name,
  channel,
  base_url,
  network: "private",
  credentials: [{ name: "default", secret: `upstream-key-of-${name}` }],
});

const configuration = vendor => ({
  providers: [
    provider("openai", "openai", `${vendor}/v1`),
    provider("anthropic", "claude", vendor),
    provider("google", "gemini", vendor),
  ],
  routes: [{ name: "house-model", members: [{ provider: "openai", model: "gpt-mock" }] }],
  keys: [{ name: "sdk", key: KEY }],
});

const QUESTION = [{ role: "user", content: "Hello?" }];

for (const host of HOSTS) {
  describe(host, () => {
    let gateway, vendor, openai, anthropic, google;

    before(async () => {
      vendor = await startVendor();
      gateway = await start(host, configuration(vendor.url));
      openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
      anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
      google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url } });
    });

    after(async () => {
      await gateway?.stop();
      await vendor?.stop();
    });

    test("OpenAI: chat completions", async () => {
      const answer = await openai.chat.completions.create({ model: "openai/gpt-mock", messages: QUESTION });
      assert.equal(answer.choices[0].message.content, "Hello there");
      assert.equal(answer.usage.total_tokens, 15);
    });

    test("OpenAI: a route's name instead of a model's", async () => {
      const answer = await openai.chat.completions.create({ model: "house-model", messages: QUESTION });
      assert.equal(answer.model, "gpt-mock-2026");
    });

    test("OpenAI: streamed chat completions, usage only for who asks", async () => {
      for (const asks of [false, true]) {
        const options = asks ? { stream_options: { include_usage: true } } : {};
        const stream = await openai.chat.completions.create({ model: "openai/gpt-mock", messages: QUESTION, stream: true, ...options });
        let text = "", finish, figures;
        for await (const chunk of stream) {
          text += chunk.choices[0]?.delta?.content ?? "";
          finish ??= chunk.choices[0]?.finish_reason ?? undefined;
          figures = chunk.usage ?? figures;
        }
        assert.deepEqual([text, finish, figures?.total_tokens], ["Hello there", "stop", asks ? 15 : undefined]);
      }
    });

    test("OpenAI: responses, buffered and streamed", async () => {
      const answer = await openai.responses.create({ model: "openai/gpt-mock", input: "Hello?" });
      assert.equal(answer.output_text, "Hello there");
      const stream = openai.responses.stream({ model: "openai/gpt-mock", input: "Hello?" });
      const types = [];
      for await (const event of stream) types.push(event.type);
      assert.deepEqual([types[0], types.at(-1)], ["response.created", "response.completed"]);
      assert.equal((await stream.finalResponse()).output_text, "Hello there");
    });

    test("OpenAI: input tokens, embeddings, models", async () => {
      assert.equal((await openai.responses.inputTokens.count({ model: "openai/gpt-mock", input: "Hello?" })).input_tokens, 9);
      const embeddings = await openai.embeddings.create({ model: "openai/embed-mock", input: "Hello?" });
      assert.deepEqual([...embeddings.data[0].embedding], [0.5, -0.25]);
      const models = await openai.models.list();
      assert.ok(models.data.some(model => model.id === "house-model"));
      assert.equal((await openai.models.retrieve("openai/gpt-mock")).id, "openai/gpt-mock");
    });

    test("OpenAI: errors that its SDK understands", async () => {
      await assert.rejects(openai.chat.completions.create({ model: "nowhere/model", messages: QUESTION }), error => {
        assert.ok(error instanceof OpenAI.NotFoundError);
        assert.equal(error.code, "model_not_found");
        return true;
      });
      const stranger = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-not-ours", maxRetries: 0 });
      await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
    });

    test("Anthropic: messages, buffered and streamed", async () => {
      const request = { model: "anthropic/claude-mock", max_tokens: 100, messages: QUESTION };
      const answer = await anthropic.messages.create(request);
      assert.equal(answer.content[0].text, "Hello there");
      const stream = anthropic.messages.stream(request);
      const final = await stream.finalMessage();
      assert.deepEqual([final.content[0].text, final.stop_reason, final.usage.output_tokens], ["Hello there", "end_turn", 3]);
    });

    test("Anthropic: betas reach the vendor, token counts and models come back", async () => {
      const request = { model: "anthropic/claude-mock", messages: QUESTION, betas: ["interleaved-thinking-2025-05-14"] };
      await anthropic.beta.messages.create({ ...request, max_tokens: 100 });
      const asked = vendor.requests.findLast(({ url }) => url.startsWith("/v1/messages"));
      assert.equal(asked.headers["anthropic-beta"], "interleaved-thinking-2025-05-14");
      const count = await anthropic.messages.countTokens({ model: "anthropic/claude-mock", messages: QUESTION });
      assert.equal(count.input_tokens, 11);
      const models = [];
      for await (const model of anthropic.models.list()) models.push(model.id);
      assert.ok(models.includes("house-model"));
    });

    test("Anthropic: errors that its SDK understands", async () => {
      const request = { model: "nowhere/model", max_tokens: 100, messages: QUESTION };
      await assert.rejects(anthropic.messages.create(request), Anthropic.NotFoundError);
      await assert.rejects(anthropic.messages.create({ ...request, model: "anthropic/claude-other" }), Anthropic.BadRequestError);
    });

    test("Google: content, buffered and streamed", async () => {
      const request = { model: "google/gemini-mock", contents: "Hello?" };
      assert.equal((await google.models.generateContent(request)).text, "Hello there");
      let text = "", last;
      for await (const chunk of await google.models.generateContentStream(request)) {
        text += chunk.text ?? "";
        last = chunk;
      }
      assert.deepEqual([text, last.usageMetadata.totalTokenCount], ["Hello there", 15]);
    });

    test("Google: token counts, embeddings, models", async () => {
      assert.equal((await google.models.countTokens({ model: "google/gemini-mock", contents: "Hello?" })).totalTokens, 7);
      const embeddings = await google.models.embedContent({ model: "google/gemini-mock", contents: "Hello?" });
      assert.deepEqual(embeddings.embeddings[0].values, [0.5, -0.25]);
      const names = [];
      for await (const model of await google.models.list()) names.push(model.name);
      assert.ok(names.includes("models/house-model"));
    });

    test("Google: errors that its SDK understands", async () => {
      await assert.rejects(google.models.generateContent({ model: "nowhere/model", contents: "Hello?" }), error => error.status === 404);
    });

    test("everything was metered", async () => {
      const deadline = Date.now() + 5000;
      let totals;
      do {
        totals = await usage(gateway.url);
      } while (totals.find(total => total.model === "google/gemini-mock")?.output !== 6 && Date.now() < deadline);
      const of = model => {
        const { input, cache_read, output, estimated_calls } = totals.find(total => total.model === model);
        return [input, cache_read, output, estimated_calls];
      };
      assert.deepEqual(of("house-model"), [10, 2, 3, 0]);
      // A buffered and two streamed chats, a buffered and a streamed response; the count of tokens is not metered.
      assert.deepEqual(of("openai/gpt-mock"), [50, 10, 15, 0]);
      assert.deepEqual(of("anthropic/claude-mock"), [30, 6, 9, 0]);
    });

    test("no gateway key reached the vendor", () => {
      const seen = JSON.stringify(vendor.requests);
      assert.ok(!seen.includes(KEY));
      assert.ok(!seen.includes("x-stainless"));
    });
  });
}
