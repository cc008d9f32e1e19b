import { expect, test } from "vitest";
import { sketch, startToyRun } from "../../test/toy-run.ts";
import { nodeId } from "../name/ids.ts";
import { tagOf } from "./tags.ts";

const place = { nodeId: nodeId("a"), iteration: 0, attempt: 1, epoch: 3, seq: 9, at: 0 };

test("every status transition of a run has a tag with the metadata of its kind (S1.57, S1.58)", () => {
  const run = startToyRun(
    sketch(["a", { id: "b", retry: { attempts: 2, backoff_ms: 200 } }], ["a>b"]),
  );
  run.complete("a", null, { usage: { inputTokens: 7, outputTokens: 5 } });
  run.fail("b", "rate_limit");
  run.now += 1_000;
  run.fail("b", "boom", true);
  const tags = run.events.map((event) => tagOf(event)).filter((tag) => tag !== undefined);
  expect(tags).toEqual([
    { tag: "run_started", metadata: {} },
    { tag: "node_queued", metadata: { attempt: 1 } },
    { tag: "node_started", metadata: { attempt: 1, wave: 0 } },
    {
      tag: "node_completed",
      metadata: { duration_ms: 1, input_tokens: 7, output_tokens: 5 },
    },
    { tag: "node_queued", metadata: { attempt: 1 } },
    { tag: "node_started", metadata: { attempt: 1, wave: 1 } },
    { tag: "node_retried", metadata: { attempt: 1, cause: "rate_limit", delay_ms: 200 } },
    { tag: "node_queued", metadata: { attempt: 2 } },
    { tag: "node_started", metadata: { attempt: 2, wave: 1 } },
    { tag: "node_failed", metadata: { error_code: "boom", error_message: "it broke: boom" } },
    { tag: "run_failed", metadata: { error_message: "node b failed: it broke: boom" } },
  ]);
});

test("findings carry what was found, and the phase is the engine's (S1.58)", () => {
  expect(
    tagOf({
      ...place,
      type: "moderation.flagged",
      payload: { phase: "input" },
      value: '{"label":"x","phase":"forged"}',
    }),
  ).toEqual({ tag: "moderation_flagged", metadata: { label: "x", phase: "input" } });
  expect(
    tagOf({ ...place, type: "contract.violated", payload: { phase: "output" }, value: '["e"]' }),
  ).toEqual({ tag: "contract_violated", metadata: { phase: "output", errors: ["e"] } });
  expect(tagOf({ ...place, type: "node.timed_out", payload: { timeoutMs: 5 } })).toEqual({
    tag: "timed_out",
    metadata: { timeout_ms: 5 },
  });
  expect(tagOf({ ...place, type: "node.cancelled", payload: { reason: "r" } })).toEqual({
    tag: "node_cancelled",
    metadata: {},
  });
});

test("partial output and log lines change no status and have no tag (S1.57)", () => {
  const payload = { deltaIndex: 0, text: "x" };
  expect(tagOf({ ...place, type: "node.stream.delta", payload })).toBeUndefined();
});
