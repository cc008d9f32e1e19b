import { expect, test } from "vitest";
import { ProviderFault, type LlmChunk, type LlmInput } from "../llm/provider.ts";
import { offlineProvider } from "../llm/offline.ts";
import type { Providers } from "../llm/providers.ts";
import { probeHandler } from "./handler-probe.fixture.ts";
import { llmHandler } from "./llm.ts";

const offline: Providers = {
  find: (name) => (name === "nobody" ? undefined : { ...offlineProvider, timeoutMs: 5_000 }),
};

/** A provider that records its questions and gives the test's answers. */
function scripted(...chunks: readonly (LlmChunk | ProviderFault)[]) {
  const asked: LlmInput[] = [];
  const providers: Providers = {
    find: () => ({
      timeoutMs: 5_000,
      async *stream(_model, input) {
        asked.push(input);
        for (const chunk of chunks) {
          if (chunk instanceof ProviderFault) throw chunk;
          yield chunk;
        }
      },
    }),
  };
  return { asked, handler: llmHandler(providers) };
}

const final = (text: string): LlmChunk => ({
  kind: "final",
  envelope: { text, tool_calls: [], usage: null, finish_reason: "stop", media: [] },
});

test("partials are streamed in order, and the output is the whole with its usage (S1.41, S1.43, S1.58)", async () => {
  const config = { model: "offline/echo", prompt: "Tell me a story of 🐢 and 🐇" };
  const { result, deltas, used } = await probeHandler(llmHandler(offline), config);
  expect(deltas.length).toBeGreaterThan(3);
  expect(used).toMatchObject([{ outputTokens: deltas.length, model: "offline/echo" }]);
  expect(deltas.join("")).toBe(config.prompt);
  expect(result).toMatchObject({
    output: { text: config.prompt, tool_calls: [], media: [], finish_reason: "stop" },
  });
});

test("media is streamed and kept (S1.42, S1.43)", async () => {
  const { result, media } = await probeHandler(llmHandler(offline), {
    model: "offline/media",
    prompt: "a picture",
  });
  expect(media).toMatchObject([{ mime: "image/png" }]);
  expect(result).toMatchObject({ output: { media } });
});

test("without streaming only the whole answer is reported", async () => {
  const config = { model: "offline/echo", prompt: "hush", stream: false };
  const { result, deltas } = await probeHandler(llmHandler(offline), config);
  expect(deltas).toEqual([]);
  expect(result).toMatchObject({ output: { text: "hush" } });
});

test("system, prompt, messages, tools and settings reach the provider; values become text", async () => {
  const { handler, asked } = scripted(final("ok"));
  const tools = [{ type: "function", function: { name: "f" } }];
  await probeHandler(handler, {
    model: "m",
    system: "Be brief.",
    prompt: { a: 1 },
    temperature: 0,
    max_tokens: 5,
    tools,
  });
  await probeHandler(handler, {
    model: "m",
    messages: [
      { role: "user", content: 5 },
      { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
      { role: "tool", content: [{ type: "text", text: "x" }], tool_call_id: "1" },
    ],
  });
  expect(asked[0]).toEqual({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: '{"a":1}' },
    ],
    temperature: 0,
    maxTokens: 5,
    tools,
    responseFormat: "text",
    isStreamed: true,
  });
  expect(asked[1]?.messages).toEqual([
    { role: "user", content: "5" },
    { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
    { role: "tool", content: [{ type: "text", text: "x" }], tool_call_id: "1" },
  ]);
});

test("a JSON answer is parsed, and an answer that is not JSON is a provider error", async () => {
  const config = { model: "m", prompt: "p", response_format: "json" };
  const good = await probeHandler(scripted(final('{"a":[1]}')).handler, config);
  expect(good.result).toMatchObject({ output: { json: { a: [1] }, text: '{"a":[1]}' } });
  const bad = await probeHandler(scripted(final("Sure! {")).handler, config);
  expect(bad.result).toMatchObject({ failed: { cause: "provider_error", permanent: false } });
});

test("a fault keeps its cause, permanence, details and wait (S1.29)", async () => {
  const limit = new ProviderFault("rate_limit", "busy", { retryAfterMs: 900, details: { a: 1 } });
  const { result, deltas } = await probeHandler(
    scripted({ kind: "partial", text: "ha" }, limit).handler,
    { model: "m", prompt: "p" },
  );
  expect(deltas).toEqual(["ha"]);
  expect(result).toEqual({
    failed: {
      cause: "rate_limit",
      message: "busy",
      permanent: false,
      details: { a: 1 },
      retryAfterMs: 900,
    },
  });
  const refused = new ProviderFault("http_status", "no", { permanent: true });
  const other = await probeHandler(scripted(refused).handler, { model: "m", prompt: "p" });
  expect(other.result).toMatchObject({ failed: { cause: "http_status", permanent: true } });
});

test("a provider that ends without an end is a provider error", async () => {
  const { result } = await probeHandler(scripted({ kind: "partial", text: "x" }).handler, {
    model: "m",
    prompt: "p",
  });
  expect(result).toMatchObject({ failed: { cause: "provider_error" } });
});

test("an unknown provider is refused for good, and a slow one times out (S1.32)", async () => {
  const prompt = "p";
  const unknown = await probeHandler(llmHandler(offline), {
    provider: "nobody",
    model: "m",
    prompt,
  });
  expect(unknown.result).toMatchObject({ failed: { cause: "unknown_provider", permanent: true } });
  const config = { model: "offline/lorem?interval_ms=60000", prompt, timeout_ms: 30 };
  const slow = await probeHandler(llmHandler(offline), config);
  expect(slow.result).toMatchObject({ failed: { cause: "timeout", permanent: false } });
});
