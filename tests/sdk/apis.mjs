// The SDKs behind one face: a question goes in, an answer comes out, whichever vendor's API it is asked in.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { KEY } from "./hosts.mjs";

/**
 * A question: `history` is opaque and comes from the answer before; `text` begins a conversation, `results` go on after calls.
 * An answer: `text`, `thoughts`, `calls` with `name` and `arguments`, and `history` to go on with.
 */
export function apis(url) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
  return {
    chat: question => chat(openai, question),
    responses: question => responses(openai, question),
    claude: question => claude(anthropic, question),
    gemini: question => gemini(google, question),
  };
}

/** What the SDK adds to an answer, and what only answers have, is not sent back. */
function asSent(answer) {
  return JSON.parse(JSON.stringify(answer, (name, value) => (name.startsWith("parsed") ? undefined : value)));
}

async function chat(openai, { model, text, image, history = [], results, tools, schema, effort, stream }) {
  const messages = [...history];
  if (text) {
    const content = image
      ? [{ type: "text", text }, { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }]
      : text;
    messages.push({ role: "user", content });
  }
  for (const { id, output } of results ?? []) messages.push({ role: "tool", tool_call_id: id, content: output });
  const request = {
    model,
    messages,
    ...(tools && { tools: tools.map(tool => ({ type: "function", function: tool })) }),
    ...(schema && { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } } }),
    ...(effort && { reasoning_effort: effort }),
  };
  const answer = stream
    ? await openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
    : await openai.chat.completions.create(request);
  const { message } = answer.choices[0];
  return {
    text: message.content ?? "",
    thoughts: message.reasoning_content ?? "",
    calls: (message.tool_calls ?? []).map(call => ({
      id: call.id,
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments),
    })),
    output: answer.usage.completion_tokens,
    history: [...messages, asSent({ ...message, annotations: undefined })],
  };
}

async function responses(openai, { model, text, image, history = [], results, tools, schema, effort, stream }) {
  const input = [...history];
  if (text) {
    const content = [{ type: "input_text", text }];
    if (image) content.push({ type: "input_image", image_url: `data:image/png;base64,${image}`, detail: "auto" });
    input.push({ role: "user", content });
  }
  for (const { id, output } of results ?? []) input.push({ type: "function_call_output", call_id: id, output });
  const request = {
    model,
    input,
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(tools && { tools: tools.map(tool => ({ type: "function", strict: false, ...tool })) }),
    ...(schema && { text: { format: { type: "json_schema", name: "answer", strict: true, schema } } }),
    ...(effort && { reasoning: { effort, summary: "auto" } }),
  };
  const answer = stream ? await openai.responses.stream(request).finalResponse() : await openai.responses.create(request);
  const reasoning = answer.output.filter(item => item.type === "reasoning");
  return {
    text: answer.output_text,
    thoughts: reasoning.flatMap(item => item.summary.map(part => part.text)).join(""),
    calls: answer.output
      .filter(item => item.type === "function_call")
      .map(item => ({ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) })),
    output: answer.usage.output_tokens,
    history: [...input, ...asSent(answer.output)],
  };
}

async function claude(anthropic, { model, text, image, history = [], results, tools, schema, effort, stream }) {
  const messages = [...history];
  if (text) {
    const content = [{ type: "text", text }];
    if (image) content.push({ type: "image", source: { type: "base64", media_type: "image/png", data: image } });
    messages.push({ role: "user", content });
  }
  if (results) {
    const content = results.map(({ id, output }) => ({ type: "tool_result", tool_use_id: id, content: output }));
    messages.push({ role: "user", content });
  }
  const request = {
    model,
    max_tokens: 8000,
    messages,
    ...(tools && { tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })) }),
    ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
    ...(effort && { thinking: { type: "enabled", budget_tokens: 4000 } }),
  };
  const answer = stream ? await anthropic.messages.stream(request).finalMessage() : await anthropic.messages.create(request);
  const of = type => answer.content.filter(block => block.type === type);
  return {
    text: of("text").map(block => block.text).join(""),
    thoughts: of("thinking").map(block => block.thinking).join(""),
    calls: of("tool_use").map(block => ({ id: block.id, name: block.name, arguments: block.input })),
    output: answer.usage.output_tokens,
    history: [...messages, { role: "assistant", content: answer.content }],
  };
}

async function gemini(google, { model, text, image, history = [], results, tools, schema, effort, stream }) {
  const contents = [...history];
  if (text) {
    const parts = [{ text }];
    if (image) parts.push({ inlineData: { mimeType: "image/png", data: image } });
    contents.push({ role: "user", parts });
  }
  if (results) {
    const parts = results.map(({ id, name, output }) => ({ functionResponse: { id, name, response: { output } } }));
    contents.push({ role: "user", parts });
  }
  const functionDeclarations = tools?.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters }));
  const request = {
    model,
    contents,
    config: {
      ...(tools && { tools: [{ functionDeclarations }] }),
      ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
      ...(effort && { thinkingConfig: { includeThoughts: true, thinkingBudget: 4000 } }),
    },
  };
  const parts = [];
  let usage;
  const take = answer => {
    parts.push(...(answer.candidates?.[0]?.content?.parts ?? []));
    usage = answer.usageMetadata ?? usage;
  };
  if (stream) for await (const chunk of await google.models.generateContentStream(request)) take(chunk);
  else take(await google.models.generateContent(request));
  const texts = thought => parts.filter(part => part.text && Boolean(part.thought) === thought).map(part => part.text).join("");
  return {
    text: texts(false),
    thoughts: texts(true),
    calls: parts
      .filter(part => part.functionCall)
      .map(({ functionCall: { id, name, args } }) => ({ id, name, arguments: args })),
    output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    history: [...contents, { role: "model", parts }],
  };
}
