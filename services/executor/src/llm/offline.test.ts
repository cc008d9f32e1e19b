import { expect, test } from "vitest";
import { offlineProvider } from "./offline.ts";
import type { LlmChunk, LlmInput } from "./provider.ts";

const INPUT: LlmInput = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Say hällo 👋 to Ada" },
  ],
  responseFormat: "text",
  isStreamed: true,
};

async function ask(
  model: string,
  input: Partial<LlmInput> = {},
  signal = AbortSignal.timeout(9_000),
) {
  const chunks: LlmChunk[] = [];
  for await (const chunk of offlineProvider.stream(model, { ...INPUT, ...input }, signal)) {
    chunks.push(chunk);
  }
  const last = chunks.at(-1);
  if (last?.kind !== "final") throw new Error("no end");
  const partials = chunks.flatMap((chunk) => (chunk.kind === "partial" ? [chunk.text] : []));
  return { chunks, partials, envelope: last.envelope };
}

test("the same model and prompt give the same answer, another prompt another one (S1.41)", async () => {
  const [one, again, other] = await Promise.all([
    ask("offline/lorem"),
    ask("offline/lorem"),
    ask("offline/lorem", { messages: [{ role: "user", content: "Else" }] }),
  ]);
  expect(one).toEqual(again);
  expect(one.envelope.text).not.toBe(other.envelope.text);
  expect(one.partials.join("")).toBe(one.envelope.text);
  expect(one.envelope.text).toMatch(/^[A-Z][a-z ]+\. /);
  expect(one.envelope).toMatchObject({ finish_reason: "stop", usage: { output_tokens: 40 } });
});

test("voices answer the examples' questions each in its own way, in words that stream (S1.41)", async () => {
  const question = "Why do ratchets only turn one way?";
  const asked = (model: string, content = question) =>
    ask(model, { messages: [{ role: "user", content }] });
  const [scholar, sceptic, again] = await Promise.all([
    asked("offline/scholar"),
    asked("offline/sceptic?chunk=2"),
    asked("scholar"),
  ]);
  expect(scholar).toEqual(again);
  expect(scholar.envelope.text).toMatch(/^Each tooth of a ratchet .*chapter 46\.$/);
  expect(scholar.partials.join("")).toBe(scholar.envelope.text);
  expect(scholar.partials[1]).toBe(" tooth");
  expect(sceptic.envelope.text).toMatch(/^They do not always\./);
  expect(sceptic.partials[0]).toBe("They do");
  const weighed = await asked("offline/editor", `${question}\nThe scholar says: …`);
  expect(weighed.envelope.text).toMatch(/^Both agree .*sceptic's/);
  const remark = await asked(
    "analyst",
    "Cork sold 12 pieces for 6300 cents. One sentence, please.",
  );
  expect(remark.envelope.text).toBe("Cork took 525 cents a piece.");
});

test("a question without a written answer is answered honestly, and quoted short", async () => {
  const { envelope } = await ask("offline/scholar");
  expect(envelope.text).toBe(
    "I am the offline model and know few answers. Set PAWL_LLM_PROVIDERS to ask a real one. You asked: Say hällo 👋 to Ada",
  );
  const long = { messages: [{ role: "user", content: "x".repeat(500) }] };
  expect((await ask("offline/scholar", long)).envelope.text.length).toBeLessThan(300);
  const json = await ask("offline/scholar", { responseFormat: "json" });
  expect(JSON.parse(json.envelope.text)).toEqual({ text: envelope.text });
  // A length that a definition asks for is a text of that length.
  expect((await ask("offline/scholar?tokens=7")).partials).toHaveLength(7);
});

test("settings choose the length and the number of pieces", async () => {
  expect((await ask("lorem?tokens=2000&chunk=1&interval_ms=0")).partials).toHaveLength(2_000);
  expect((await ask("lorem?tokens=10&chunk=4&interval_ms=1")).partials).toHaveLength(3);
  const cut = await ask("lorem?tokens=10", { maxTokens: 4 });
  expect(cut.partials).toHaveLength(4);
  expect(cut.envelope.finish_reason).toBe("length");
  for (const bad of ["tokens=x", "tokens=-1", "tokens=1e3", "interval_ms=99999999"]) {
    await expect(ask(`lorem?${bad}`)).rejects.toMatchObject({ faultCause: "config_invalid" });
  }
});

test("echo returns the prompt, tool calls a tool, media sends a picture, clock sends the time (S1.42)", async () => {
  expect((await ask("offline/echo")).envelope.text).toBe("Say hällo 👋 to Ada");
  const tools = [{ type: "function", function: { name: "look_up" } }];
  expect((await ask("tool", { tools })).envelope).toMatchObject({
    text: "",
    finish_reason: "tool_calls",
    tool_calls: [{ function: { name: "look_up", arguments: '{"prompt":"Say hällo 👋 to Ada"}' } }],
  });
  const { chunks, envelope } = await ask("media?url=https://x.test/a.gif&mime=image/gif");
  const media = { url: "https://x.test/a.gif", mime: "image/gif" };
  expect(chunks.map((chunk) => chunk.kind)).toEqual(["partial", "media", "partial", "final"]);
  expect(envelope.media).toEqual([media]);
  expect((await ask("clock?tokens=3")).envelope.text).toMatch(/^0:\d{13} 1:\d{13} 2:\d{13} $/);
  const json = await ask("lorem?tokens=5", { responseFormat: "json" });
  expect(JSON.parse(json.envelope.text)).toEqual({ text: expect.stringMatching(/^[A-Z]/) });
});

test("it fails as its settings ask, and stops on abort (S1.38)", async () => {
  await expect(ask("fail?cause=rate_limit&retry_after_ms=70&after=2")).rejects.toMatchObject({
    faultCause: "rate_limit",
    options: { retryAfterMs: 70 },
  });
  const stop = new AbortController();
  const stopped = ask("lorem?interval_ms=60000", {}, stop.signal);
  stop.abort();
  await expect(stopped).rejects.toThrow("abort");
});

test("a script answers turn by turn, with the results of the last tools in its text", async () => {
  const script = [
    {
      text: "First.",
      calls: [
        { name: "look", arguments: { a: 1 } },
        { name: "say", arguments: "{x" },
      ],
    },
    { text: "Then {results}." },
  ];
  const beginning = [{ role: "user", content: JSON.stringify(script) }];
  const first = await ask("offline/script", { messages: beginning });
  expect(first.envelope).toMatchObject({ text: "First.", finish_reason: "tool_calls" });
  expect(first.envelope.tool_calls.map((call) => call.function.arguments)).toEqual([
    '{"a":1}',
    "{x",
  ]);
  const answered = [
    ...beginning,
    { role: "assistant", content: "First." },
    { role: "tool", tool_call_id: "call_1_1", content: "found" },
  ];
  expect((await ask("offline/script", { messages: answered })).envelope.text).toBe(
    'Then ["found"].',
  );
  const over = [...answered, { role: "assistant", content: "x" }];
  expect((await ask("offline/script", { messages: over })).envelope).toMatchObject({
    text: "",
    tool_calls: [],
  });
  await expect(ask("offline/script")).rejects.toMatchObject({ faultCause: "config_invalid" });
});
