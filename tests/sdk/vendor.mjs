// A mock of three vendors: answers in the shapes of their references, and refuses what a vendor would refuse.
import { createServer } from "node:http";

/** Starts it; gives its address, what it was asked, and a function that ends it. */
export async function startVendor() {
  const requests = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const asked = { url: request.url, headers: request.headers, body: text === "" ? null : JSON.parse(text) };
    requests.push(asked);
    try {
      answer(asked, response);
    } catch (error) {
      send(response, 400, { error: { message: error.message, type: "invalid_request_error", param: null, code: null } });
    }
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    stop: () => new Promise(resolve => server.close(resolve).closeAllConnections()),
  };
}

function answer({ url, headers, body }, response) {
  const path = url.split("?")[0];
  const expect = (condition, message) => {
    if (!condition) throw new Error(message);
  };
  if (path.startsWith("/v1/messages")) {
    expect(headers["x-api-key"] === "upstream-key-of-anthropic", "the wrong key");
    expect(headers["anthropic-version"], "no anthropic-version");
    expect(body.model === "claude-mock", `the wrong model ${body.model}`);
    if (path.endsWith("/count_tokens")) return send(response, 200, { input_tokens: 11 });
    return body.stream ? stream(response, claudeEvents()) : send(response, 200, claudeMessage());
  }
  if (path.includes("/models/")) {
    expect(headers["x-goog-api-key"] === "upstream-key-of-google", "the wrong key");
    expect(!url.includes("key="), "a key in the query");
    const [, model, action] = /\/models\/(.*):(\w+)$/.exec(path);
    expect(model === "gemini-mock", `the wrong model ${model}`);
    if (action === "generateContent") return send(response, 200, geminiChunk("Hello there", true));
    if (action === "countTokens") return send(response, 200, { totalTokens: 7 });
    if (action === "batchEmbedContents") return send(response, 200, { embeddings: [{ values: [0.5, -0.25] }] });
    if (action === "embedContent") return send(response, 200, { embedding: { values: [0.5, -0.25] } });
    return stream(response, [geminiChunk("Hello", false), geminiChunk(" there", true)].map(chunk => [null, chunk]));
  }
  expect(headers.authorization === "Bearer upstream-key-of-openai", "the wrong key");
  expect(["gpt-mock", "embed-mock"].includes(body.model), `the wrong model ${body.model}`);
  if (path === "/v1/chat/completions") {
    if (!body.stream) return send(response, 200, chatCompletion());
    return stream(response, chatChunks(body.stream_options?.include_usage), "data: [DONE]\n\n");
  }
  if (path === "/v1/responses/input_tokens") return send(response, 200, { object: "response.input_tokens", input_tokens: 9 });
  if (path === "/v1/responses") return body.stream ? stream(response, responseEvents()) : send(response, 200, responseObject("completed"));
  if (path === "/v1/embeddings") {
    const embedding = body.encoding_format === "base64" ? "AAAAPwAAgL4=" : [0.5, -0.25];
    return send(response, 200, {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding }],
      model: "embed-mock",
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
  }
  send(response, 404, { error: { message: `no ${path}`, type: "invalid_request_error", param: null, code: null } });
}

function send(response, status, body) {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_mock", "request-id": "req_mock" });
  response.end(JSON.stringify(body));
}

/** Writes events one by one, in pieces that do not respect their borders. */
async function stream(response, events, end = "") {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_mock", "request-id": "req_mock" });
  const frames = events.map(([name, data]) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
  for (const piece of (frames.join("") + end).match(/[^]{1,97}/g)) {
    response.write(piece);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  response.end();
}

function chatCompletion() {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1790000000,
    model: "gpt-mock-2026",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello there", refusal: null }, logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, prompt_tokens_details: { cached_tokens: 2 } },
  };
}

function chatChunks(includeUsage) {
  const chunk = (choices, rest) => [null, { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1790000000, model: "gpt-mock-2026", choices, ...rest }];
  const delta = (content, finish_reason = null) => chunk([{ index: 0, delta: content, finish_reason }], includeUsage ? { usage: null } : {});
  const chunks = [delta({ role: "assistant", content: "" }), delta({ content: "Hello" }), delta({ content: " there" }), delta({}, "stop")];
  if (includeUsage) chunks.push(chunk([], { usage: chatCompletion().usage }));
  return chunks;
}

function responseObject(status) {
  const done = status === "completed";
  return {
    id: "resp_1",
    object: "response",
    created_at: 1790000000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: "gpt-mock-2026",
    output: done ? [messageItem("completed", [textPart("Hello there")])] : [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: done
      ? { input_tokens: 12, input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 }, output_tokens: 3, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 }
      : null,
  };
}

function messageItem(status, content) {
  return { id: "msg_1", type: "message", status, role: "assistant", content };
}

function textPart(text) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function responseEvents() {
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  return [
    ["response.created", { response: responseObject("in_progress") }],
    ["response.in_progress", { response: responseObject("in_progress") }],
    ["response.output_item.added", { output_index: 0, item: messageItem("in_progress", []) }],
    ["response.content_part.added", { ...place, part: textPart("") }],
    ["response.output_text.delta", { ...place, delta: "Hello", logprobs: [] }],
    ["response.output_text.delta", { ...place, delta: " there", logprobs: [] }],
    ["response.output_text.done", { ...place, text: "Hello there", logprobs: [] }],
    ["response.content_part.done", { ...place, part: textPart("Hello there") }],
    ["response.output_item.done", { output_index: 0, item: messageItem("completed", [textPart("Hello there")]) }],
    ["response.completed", { response: responseObject("completed") }],
  ].map(([type, data], sequence_number) => [type, { type, sequence_number, ...data }]);
}

const CLAUDE_USAGE = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 2, output_tokens: 3 };

function claudeMessage() {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-mock",
    content: [{ type: "text", text: "Hello there" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: CLAUDE_USAGE,
  };
}

function claudeEvents() {
  const message = { ...claudeMessage(), content: [], stop_reason: null, usage: { ...CLAUDE_USAGE, output_tokens: 1 } };
  return [
    ["message_start", { message }],
    ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
    ["ping", {}],
    ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hello" } }],
    ["content_block_delta", { index: 0, delta: { type: "text_delta", text: " there" } }],
    ["content_block_stop", { index: 0 }],
    ["message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 3 } }],
    ["message_stop", {}],
  ].map(([type, data]) => [type, { type, ...data }]);
}

function geminiChunk(text, last) {
  return {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...(last ? { finishReason: "STOP" } : {}) }],
    usageMetadata: { promptTokenCount: 12, cachedContentTokenCount: 2, ...(last ? { candidatesTokenCount: 3 } : {}), totalTokenCount: last ? 15 : 12 },
    modelVersion: "gemini-mock",
    responseId: "response-1",
  };
}
