import { expect, test } from "vitest";
import { probeHandler } from "./handler-probe.fixture.ts";
import { textStreamHandler } from "./text-stream.ts";

test("the text is streamed in pieces and given whole at the end (S1.41)", async () => {
  const { result, deltas } = await probeHandler(textStreamHandler, {
    text: "ab👋cd",
    chunk_chars: 2,
  });
  expect(deltas).toEqual(["ab", "👋c", "d"]);
  expect(result).toEqual({ output: { text: "ab👋cd" } });
});

test("an abort ends the stream between two pieces (S1.17)", async () => {
  const controller = new AbortController();
  const deltas: string[] = [];
  const streaming = probeHandler(
    textStreamHandler,
    { text: "abc", chunk_chars: 1, interval_ms: 60_000 },
    {
      signal: controller.signal,
      emit: async (text) => {
        deltas.push(text);
        controller.abort();
      },
    },
  );
  expect((await streaming).result).toMatchObject({ failed: { cause: "cancelled" } });
  expect(deltas).toEqual(["a"]);
});
