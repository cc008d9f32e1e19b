import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { anthropicProvider } from "./anthropic.ts";
import { KEY, modelServer, SSE } from "./model-server.fixture.ts";
import { offlineProvider } from "./offline.ts";
import { openAiProvider } from "./openai.ts";
import type { LlmChunk } from "./provider.ts";

const setup = (answer: (response: ServerResponse) => void) =>
  modelServer(anthropicProvider, answer);

const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const start = event("message_start", {
  message: {
    content: [],
    usage: { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 1 },
  },
});
const block = (index: number, content_block: object): string =>
  event("content_block_start", { index, content_block });
const delta = (index: number, value: object): string =>
  event("content_block_delta", { index, delta: value });
const end = (stop_reason: string, output_tokens: number): string =>
  event("message_delta", { delta: { stop_reason }, usage: { output_tokens } }) +
  event("message_stop");

test("a streamed answer comes in pieces, with tool calls and tokens (S1.41, S1.42)", async () => {
  const { ask, asked } = await setup((response) => {
    response.writeHead(200, SSE);
    response.write(start + event("ping") + block(0, { type: "text", text: "" }));
    response.write(delta(0, { type: "text_delta", text: "Let me " }));
    response.write(delta(0, { type: "text_delta", text: "look." }));
    response.write(event("content_block_stop", { index: 0 }));
    response.write(block(1, { type: "tool_use", id: "toolu_1", name: "look_up", input: {} }));
    response.write(delta(1, { type: "input_json_delta", partial_json: '{"word":' }));
    response.write(delta(1, { type: "input_json_delta", partial_json: '"pawl"}' }));
    response.end(end("tool_use", 33));
  });
  const declared = { name: "look_up", description: "Looks up.", parameters: { type: "object" } };
  const input = {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is a pawl?" },
    ],
    tools: [{ type: "function", function: declared }],
    temperature: 1.5,
  };
  expect(await ask(input)).toEqual([
    { kind: "counted", usage: { input_tokens: 25, output_tokens: 1 } },
    { kind: "partial", text: "Let me " },
    { kind: "partial", text: "look." },
    { kind: "counted", usage: { input_tokens: 25, output_tokens: 33 } },
    {
      kind: "final",
      envelope: {
        text: "Let me look.",
        tool_calls: [
          {
            id: "toolu_1",
            type: "function",
            function: { name: "look_up", arguments: '{"word":"pawl"}' },
          },
        ],
        usage: { input_tokens: 25, output_tokens: 33 },
        finish_reason: "tool_calls",
        media: [],
      },
    },
  ]);
  expect(asked).toMatchObject([
    {
      url: "/v1/messages",
      headers: { "x-api-key": KEY, "anthropic-version": "2023-06-01" },
      body: {
        model: "test-model",
        max_tokens: 4_096,
        system: "Be brief.",
        messages: [{ role: "user", content: [{ type: "text", text: "What is a pawl?" }] }],
        tools: [{ name: "look_up", description: "Looks up.", input_schema: { type: "object" } }],
        temperature: 1,
        stream: true,
      },
    },
  ]);
});

test("calls and results of earlier turns become blocks, and messages of one role are joined", async () => {
  const { ask, asked } = await setup((response) => {
    response.writeHead(200, SSE).end(start + end("end_turn", 1));
  });
  const call = (id: string, args: string) => ({
    id,
    type: "function",
    function: { name: "t", arguments: args },
  });
  const url = "data:image/png;base64,AAAA";
  await ask({
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url } },
        ],
      },
      { role: "assistant", content: "", tool_calls: [call("a", '{"x":1}'), call("b", "{oops")] },
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "two", is_error: true },
      { role: "assistant", content: " \n", tool_calls: [call("c", "{}")] },
      { role: "tool", tool_call_id: "c", content: "three" },
      { role: "user", content: [{ type: "text", text: "\t" }] },
      { role: "user", content: "Continue." },
    ],
    responseFormat: "json",
  });
  expect(asked[0]?.body).toMatchObject({
    system: "Answer with one JSON value and nothing else.",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "t", input: { x: 1 } },
          { type: "tool_use", id: "b", name: "t", input: { text: "{oops" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "one" },
          { type: "tool_result", tool_use_id: "b", content: "two", is_error: true },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "t", input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c", content: "three" },
          { type: "text", text: "Continue." },
        ],
      },
    ],
  });
});

test("an answer in one piece is taken, whether asked for or not", async () => {
  const { ask, asked } = await setup((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const content = [
      { type: "text", text: "whole" },
      { type: "tool_use", id: "t1", name: "look", input: { a: [1] } },
    ];
    const usage = { input_tokens: 3, output_tokens: 2 };
    response.end(JSON.stringify({ content, stop_reason: "max_tokens", usage }));
  });
  for (const isStreamed of [false, true])
    expect((await ask({ isStreamed })).at(-1)).toMatchObject({
      envelope: {
        text: "whole",
        finish_reason: "length",
        usage: { input_tokens: 3, output_tokens: 2 },
        tool_calls: [{ id: "t1", function: { name: "look", arguments: '{"a":[1]}' } }],
      },
    });
  expect(asked[0]?.body).not.toHaveProperty("stream");
});

test.each([
  [429, "rate_limit", false],
  [529, "provider_error", false],
  [500, "provider_error", false],
  [400, "http_status", true],
  [401, "http_status", true],
])("status %i is %s, and Retry-After is respected (S1.29)", async (status, cause, permanent) => {
  const { faultOf } = await setup((response) => {
    response.writeHead(status, { "retry-after": "3" }).end(`{"error":{"message":"key ${KEY}"}}`);
  });
  const fault = await faultOf();
  expect(fault).toMatchObject({ faultCause: cause, options: { details: { status } } });
  expect(fault.options.permanent ?? false).toBe(permanent);
  expect(fault.options.retryAfterMs).toBe(permanent ? undefined : 3_000);
  expect(JSON.stringify(fault.options)).not.toContain(KEY);
});

const broken = (type: string): string => event("error", { error: { type, message: KEY } });

test.each([
  ["ends early", start + delta(0, { type: "text_delta", text: "half" }), "provider_error"],
  ["is no JSON", "data: {oops\n\n", "provider_error"],
  ["is another thing", "data: [1]\n\n", "provider_error"],
  ["is overloaded in the middle", start + broken("overloaded_error"), "provider_error"],
  ["reaches a limit in the middle", start + broken("rate_limit_error"), "rate_limit"],
])("a stream that %s fails with a cause, never as half an answer", async (_name, body, cause) => {
  const { faultOf } = await setup((response) => response.writeHead(200, SSE).end(body));
  const fault = await faultOf();
  expect(fault.faultCause).toBe(cause);
  expect(JSON.stringify(fault.options)).not.toContain(KEY);
});

test("the offline script, and both APIs, give a tool call in the same form", async () => {
  const final = (chunks: readonly LlmChunk[]) => {
    const last = chunks.at(-1);
    return last?.kind === "final" ? last.envelope.tool_calls : [];
  };
  const anthropic = await setup((response) => {
    const use = block(0, { type: "tool_use", id: "c", name: "t", input: {} });
    response
      .writeHead(200, SSE)
      .end(start + use + delta(0, { partial_json: '{"a":1}' }) + end("tool_use", 1));
  });
  const openai = await modelServer(openAiProvider, (response) => {
    const tool_calls = [{ id: "c", function: { name: "t", arguments: '{"a":1}' } }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ choices: [{ message: { tool_calls }, finish_reason: "tool_calls" }] }),
    );
  });
  const script = JSON.stringify([{ calls: [{ id: "c", name: "t", arguments: { a: 1 } }] }]);
  const offline: LlmChunk[] = [];
  const input = {
    messages: [{ role: "user", content: script }],
    responseFormat: "text",
    isStreamed: true,
  } as const;
  for await (const chunk of offlineProvider.stream(
    "offline/script",
    input,
    AbortSignal.timeout(9_000),
  ))
    offline.push(chunk);
  const expected = [{ id: "c", type: "function", function: { name: "t", arguments: '{"a":1}' } }];
  for (const chunks of [await anthropic.ask(), await openai.ask(), offline])
    expect(final(chunks)).toEqual(expected);
});
