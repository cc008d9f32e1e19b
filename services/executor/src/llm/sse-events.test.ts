import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sseEvents, SseOverflow } from "./sse-events.ts";

fc.configureGlobal({ seed: 1 });

const LIMITS = { bytesMax: 10_000, eventBytesMax: 1_000 };

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(
  text: string,
  sizes: readonly number[] = [text.length * 4 + 1],
  limits = LIMITS,
) {
  const events: string[] = [];
  for await (const event of sseEvents(cut(Buffer.from(text), sizes), limits)) events.push(event);
  return events;
}

test("an event is its data lines; types, comments and unknown fields are skipped (S1.41)", async () => {
  const text =
    ': keep-alive\n\ndata: one\n\nevent: error\ndata:{"a":\ndata: 1}\nid: 7\nretry: 5\nnonsense\n\ndata\n\n: end\n\n';
  expect(await read(text)).toEqual(["one", '{"a":\n1}', ""]);
});

test("LF, CRLF and CR end lines alike", async () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = ["data: a", "data: b", "", "data: c", "", ""].join(end);
    expect(await read(text)).toEqual(["a\nb", "c"]);
  }
});

test("wherever the network cuts, the events are the same, characters of several bytes included", async () => {
  const text =
    "\ufeffdata: grüße 👋\r\n\r\ndata: x\r\ndata: ✓\r\n\r\n: c\rdata: 終\r\rdata: [DONE]\n\n";
  const whole = await read(text);
  expect(whole).toEqual(["grüße 👋", "x\n✓", "終", "[DONE]"]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (sizes) => {
      expect(await read(text, sizes)).toEqual(whole);
    }),
  );
});

test("an event cut off by the end of the stream still counts", async () => {
  expect(await read("data: a\n\ndata: [DONE]")).toEqual(["a", "[DONE]"]);
  expect(await read("data: a\n\ndata: [DONE]\r")).toEqual(["a", "[DONE]"]);
});

test("a stream or an event without end is refused at its bound (U11)", async () => {
  await expect(read(`data: ${"x".repeat(2_000)}`, [100])).rejects.toThrow(SseOverflow);
  await expect(read("data: x\n".repeat(1_500), [100])).rejects.toThrow(SseOverflow);
  await expect(read("data: x\n\n".repeat(1_500), [100])).rejects.toThrow(SseOverflow);
});
