import { once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { AssignmentSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { defineHandler } from "../handlers/handler.ts";
import { registryOf } from "../handlers/registry.ts";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";
import { attemptRunner } from "./attempt.ts";
import { causeOf } from "./outcome.ts";

test("what a handler reports after its timeout counts, if it stops for its signal (S2.22)", async () => {
  const late = defineHandler({
    type: "late",
    run: async (_input, ctx) => {
      await once(ctx.signal, "abort");
      ctx.usage({ inputTokens: 1, outputTokens: 2 });
      return null;
    },
  });
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));
  const node = { id: "n", type: "late", config: {}, onParentFailure: "propagate", merge: null };
  const assignment = create(AssignmentSchema, {
    claim: { runId: "r", nodeId: "n", iteration: 0, epoch: 9n },
    ...{ attempt: 1, nodeType: "late", timeoutMs: 20n },
    nodeJson: text({ node, bindings: [] }),
    contextJson: text({ input: null, nodes: {}, vars: {} }),
  });
  const { result, usage } = await attemptRunner(registryOf([late]))(assignment, {
    signal: new AbortController().signal,
    emit: async () => undefined,
    emitMedia: async () => undefined,
    effects: memoryLedger(),
    extend: async () => undefined,
    log: () => undefined,
  });
  expect(causeOf(result)).toBe("timeout");
  expect(usage).toMatchObject({ inputTokens: 1n, outputTokens: 2n });
});
