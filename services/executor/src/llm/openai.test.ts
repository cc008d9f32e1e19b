import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { INPUT, KEY, modelServer, SSE } from "./model-server.fixture.ts";
import { openAiProvider } from "./openai.ts";

const setup = (
  answer: (response: ServerResponse) => void,
  options?: Parameters<typeof modelServer>[2],
) => modelServer(openAiProvider, answer, options);

const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: unknown, finish: string | null = null): string =>
  line({ choices: [{ index: 0, delta: content, finish_reason: finish }], usage: null });
const text = (content: string): string => delta({ content });

test("a streamed answer comes in pieces and ends with the whole answer (S1.41, S1.42)", async () => {
  const { ask, asked } = await setup((response) => {
    response.writeHead(200, SSE);
    response.write(": hi\r\n\r\n" + delta({ role: "assistant", content: "" }));
    // A cut inside of a character of several bytes.
    const bytes = Buffer.from(text("Grü") + text("ße 👋"));
    response.write(bytes.subarray(0, bytes.indexOf(0xc3) + 1));
    response.write(bytes.subarray(bytes.indexOf(0xc3) + 1));
    response.write(delta({}, "stop"));
    response.end(
      line({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }) + "data: [DONE]\n\n",
    );
  });
  expect(await ask({ temperature: 0.5, maxTokens: 9, responseFormat: "json" })).toEqual([
    { kind: "partial", text: "Grü" },
    { kind: "partial", text: "ße 👋" },
    { kind: "counted", usage: { input_tokens: 7, output_tokens: 3 } },
    {
      kind: "final",
      envelope: {
        text: "Grüße 👋",
        tool_calls: [],
        usage: { input_tokens: 7, output_tokens: 3 },
        finish_reason: "stop",
        media: [],
      },
    },
  ]);
  expect(asked).toMatchObject([
    {
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
      body: {
        model: "test-model",
        messages: INPUT.messages,
        temperature: 0.5,
        max_tokens: 9,
        response_format: { type: "json_object" },
        stream: true,
        stream_options: { include_usage: true },
      },
    },
  ]);
});

test("tool calls are put together from their pieces and passed through", async () => {
  const call = (value: unknown) => delta({ tool_calls: [value] });
  const { ask } = await setup((response) => {
    response.writeHead(200, SSE);
    response.write(call({ index: 1, id: "b", function: { name: "second", arguments: "" } }));
    response.write(call({ index: 0, id: "a", function: { name: "first", arguments: '{"x"' } }));
    response.write(call({ index: 0, function: { arguments: ":1}" } }));
    response.end(delta({}, "tool_calls") + "data: [DONE]\n\n");
  });
  expect((await ask({ tools: [{ type: "function" }] })).at(-1)).toMatchObject({
    envelope: {
      finish_reason: "tool_calls",
      usage: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "first", arguments: '{"x":1}' } },
        { id: "b", type: "function", function: { name: "second", arguments: "" } },
      ],
    },
  });
});

test("pictures come in order with the text, with their type (S1.42)", async () => {
  const url = "data:image/webp;base64,AAAA";
  const { ask } = await setup((response) => {
    response.writeHead(200, SSE);
    response.write(text("before"));
    response.write(delta({ images: [{ type: "image_url", image_url: { url } }] }));
    response.write(
      delta({
        content: [
          { type: "text", text: "after" },
          { type: "image_url", image_url: { url: "https://x.test/a.PNG?b=c" } },
        ],
      }),
    );
    response.end(delta({}, "stop"));
  });
  const chunks = await ask();
  expect(chunks.slice(0, -1)).toEqual([
    { kind: "partial", text: "before" },
    { kind: "media", media: { url, mime: "image/webp" } },
    { kind: "partial", text: "after" },
    { kind: "media", media: { url: "https://x.test/a.PNG?b=c", mime: "image/png" } },
  ]);
});

test("an answer in one piece is taken, whether asked for or not", async () => {
  const { ask, asked } = await setup((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const message = { role: "assistant", content: "whole", tool_calls: null };
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "length" }], usage }));
  });
  for (const isStreamed of [false, true]) {
    expect((await ask({ isStreamed })).at(-1)).toMatchObject({
      envelope: { text: "whole", finish_reason: "length", usage: { output_tokens: 2 } },
    });
  }
  expect(asked[0]?.body).not.toHaveProperty("stream");
});

test.each([
  [429, "rate_limit", false],
  [500, "provider_error", false],
  [503, "provider_error", false],
  [408, "provider_error", false],
  [400, "http_status", true],
  [401, "http_status", true],
  [404, "http_status", true],
])("status %i is %s (S1.29)", async (status, cause, permanent) => {
  const { faultOf } = await setup((response) => {
    response.writeHead(status, { "retry-after": "2" }).end(`bad key ${KEY}`);
  });
  const fault = await faultOf();
  expect(fault).toMatchObject({ faultCause: cause, options: { details: { status } } });
  expect(fault.options.permanent ?? false).toBe(permanent);
  expect(fault.options.retryAfterMs).toBe(permanent ? undefined : 2_000);
  expect(JSON.stringify(fault.options)).not.toContain(KEY);
});

test.each([
  ["ends early", text("half"), "provider_error"],
  ["says nothing", "", "provider_error"],
  ["is no JSON", "data: {oops\n\n", "provider_error"],
  ["is another thing", line({ choices: 5 }), "provider_error"],
  ["breaks off with an error", line({ error: { message: "overloaded" } }), "provider_error"],
  [
    "breaks off with a limit",
    line({ error: { code: "rate_limit_exceeded", message: KEY } }),
    "rate_limit",
  ],
])("a stream that %s fails with a cause, never as half an answer", async (_name, body, cause) => {
  const { faultOf } = await setup((response) => response.writeHead(200, SSE).end(body));
  const fault = await faultOf();
  expect(fault.faultCause).toBe(cause);
  expect(fault.options.permanent ?? false).toBe(false);
  expect(JSON.stringify(fault.options)).not.toContain(KEY);
});

test("a stream whose connection breaks is a provider error", async () => {
  const { faultOf } = await setup((response) => {
    response.writeHead(200, SSE);
    response.write(text("half"), () => response.destroy());
  });
  expect((await faultOf()).faultCause).toBe("provider_error");
});

test("a server that falls silent is a timeout (S1.32)", async () => {
  const { faultOf } = await setup(
    (response) => {
      response.writeHead(200, SSE);
      response.write(text("half"));
    },
    { idleMs: 300 },
  );
  expect((await faultOf()).faultCause).toBe("timeout");
});

test("an abort hangs up at once (S1.38)", async () => {
  const hungUp = Promise.withResolvers<void>();
  const stop = new AbortController();
  const { faultOf } = await setup((response) => {
    response.once("close", () => hungUp.resolve());
    response.writeHead(200, SSE);
    response.write(text("half"), () => stop.abort(new DOMException("stop", "AbortError")));
  });
  expect((await faultOf({}, stop.signal)).faultCause).toBe("cancelled");
  await hungUp.promise;
});

test("a private address needs the operator's leave (U4)", async () => {
  const { faultOf, asked } = await setup((response) => response.end(), { allowed: "" });
  expect(await faultOf()).toMatchObject({
    faultCause: "url_blocked",
    options: { permanent: true },
  });
  expect(asked).toEqual([]);
});

test("an answer that is too large to store fails for good (U11)", async () => {
  const { faultOf } = await setup((response) => {
    response.writeHead(200, SSE);
    for (let piece = 0; piece < 60; piece++) response.write(text("x".repeat(10_000)));
    response.end();
  });
  expect(await faultOf()).toMatchObject({
    faultCause: "response_too_large",
    options: { permanent: true },
  });
});
