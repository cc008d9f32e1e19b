// Calls about one node of a run, and the fields of idempotency, through every client. A malformed value is refused with its field and rule,
// an unknown id with its name (rows C and J of the catalogue of bad inputs).
import { randomUUID } from "node:crypto";
import { Decision, IdempotencyScope } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { finishedRun, KNOWN, saveKnown } from "./known-workflow.ts";
import { expectRefused, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

/** A number the wire takes for any enum. */
const NO_ENUM = 99 as never;
const decision = Decision.APPROVE;
const notFound = (reason: string): Refusal => ({ code: "NotFound", reason });

test.each(["", "run", `{${randomUUID()}}`, `${randomUUID()}\0`, "x".repeat(10_000)])(
  "C1: a run id of %j is refused by DecideNode, ExplainNode, GetInvocation, ListEffects and ListTags",
  async (runId) => {
    const refusal = invalidField("run_id", "BAD_ID");
    await stage().unharmed(async () => {
      for (const { runs, events } of stage().doors) {
        await expectRefused(runs.decideNode({ runId, nodeId: "a", decision }), refusal, runId);
        await expectRefused(runs.explainNode({ runId, nodeId: "a" }), refusal, runId);
        await expectRefused(runs.getInvocation({ runId, nodeId: "a" }), refusal, runId);
        await expectRefused(runs.listEffects({ runId }), refusal, runId);
        await expectRefused(events.listTags({ runId }), refusal, runId);
      }
    });
  },
);

test.each(["../x", "a b", "é", "_x", "a\0", "x".repeat(129)])(
  "C9: a node id of %j is refused by DecideNode, ExplainNode, GetInvocation and ListTags",
  async (nodeId) => {
    const runId = randomUUID();
    const refusal = invalidField("node_id", "BAD_ID");
    await stage().unharmed(async () => {
      for (const { runs, events } of stage().doors) {
        await expectRefused(runs.decideNode({ runId, nodeId, decision }), refusal, nodeId);
        await expectRefused(runs.explainNode({ runId, nodeId }), refusal, nodeId);
        await expectRefused(runs.getInvocation({ runId, nodeId }), refusal, nodeId);
        await expectRefused(events.listTags({ runId, nodeId }), refusal, nodeId);
      }
    });
  },
);

test("C3: an unknown run and an unknown node have different errors, for every client", async () => {
  const { runId } = await finishedRun(stage());
  const nobody = randomUUID();
  await stage().unharmed(async () => {
    for (const { runs, events } of stage().doors) {
      const noRun = notFound("RUN_NOT_FOUND");
      await expectRefused(runs.decideNode({ runId: nobody, nodeId: "start", decision }), noRun);
      await expectRefused(runs.explainNode({ runId: nobody, nodeId: "start" }), noRun);
      await expectRefused(runs.getInvocation({ runId: nobody, nodeId: "start" }), noRun);
      await expectRefused(runs.listEffects({ runId: nobody }), noRun);
      await expectRefused(events.listTags({ runId: nobody }), noRun);
      const noNode = notFound("NODE_NOT_FOUND");
      await expectRefused(runs.decideNode({ runId, nodeId: "nobody", decision }), noNode);
      await expectRefused(runs.explainNode({ runId, nodeId: "nobody" }), noNode);
      await expectRefused(runs.getInvocation({ runId, nodeId: "nobody" }), noNode);
      await expectRefused(runs.explainNode({ runId, nodeId: "start", iteration: 7 }), noNode);
    }
  });
});

test("C17: nothing is decided about a run that is over, by any client", async () => {
  const { runId } = await finishedRun(stage());
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors)
      await expectRefused(runs.decideNode({ runId, nodeId: "start", decision }), {
        code: "FailedPrecondition",
        reason: "RUN_ALREADY_FINISHED",
      });
  });
});

test("C9: an invalid decision, and a comment that is too long or unprintable, are refused", async () => {
  const { runId } = await finishedRun(stage());
  const asked = { runId, nodeId: "start", decision };
  await stage().unharmed(async () => {
    for (const { name, runs } of stage().doors) {
      const none = invalidField("decision", "UNKNOWN_ENUM");
      await expectRefused(runs.decideNode({ runId, nodeId: "start" }), none);
      // JSON has no word for such an enum.
      if (name !== "Connect JSON")
        await expectRefused(runs.decideNode({ ...asked, decision: NO_ENUM }), none);
      const long = "x".repeat(201);
      const tooLong = invalidField("comment", "TOO_LONG");
      await expectRefused(runs.decideNode({ ...asked, comment: long }), tooLong, long);
      const bell = invalidField("comment", "NOT_PRINTABLE");
      await expectRefused(runs.decideNode({ ...asked, comment: "a\u0007" }), bell);
      await expectRefused(runs.decideNode({ ...asked, comment: "a\0" }), bell);
      const requestId = invalidField("request_id", "BAD_ID");
      await expectRefused(runs.decideNode({ ...asked, requestId: "a\n" }), requestId);
    }
  });
});

test("C4, C7: tags are paged by cursors and sizes that are some", async () => {
  const { runId } = await finishedRun(stage());
  await stage().unharmed(async () => {
    for (const { events } of stage().doors) {
      const size = events.listTags({ runId, pageSize: -1 });
      await expectRefused(size, invalidField("page_size", "OUT_OF_RANGE"));
      const cursor = events.listTags({ runId, afterEventId: 2n ** 63n });
      await expectRefused(cursor, invalidField("after_event_id", "BAD_CURSOR"));
      expect((await events.listTags({ runId, pageSize: 2 ** 31 - 1 })).hasMore).toBe(false);
    }
  });
});

test("J17: idempotency of no scope, or for no time or too long, starts nothing", async () => {
  const scope = IdempotencyScope.INPUT_HASH;
  await stage().unharmed(async () => {
    for (const { name, runs } of stage().doors) {
      const refused = async (idempotency: object, field: string, rule: string): Promise<void> =>
        await expectRefused(
          runs.startRun({ workflowId: KNOWN, idempotency }),
          invalidField(field, rule),
        );
      await refused({}, "idempotency.scope", "UNKNOWN_ENUM");
      const days = 86_400n;
      await refused(
        { scope, ttl: { seconds: 30n * days + 1n } },
        "idempotency.ttl",
        "OUT_OF_RANGE",
      );
      await refused({ scope, ttl: { seconds: 0n, nanos: 0 } }, "idempotency.ttl", "OUT_OF_RANGE");
      // JSON cannot express every such duration, and no such enum.
      if (name === "Connect JSON") continue;
      await refused({ scope: NO_ENUM }, "idempotency.scope", "UNKNOWN_ENUM");
      await refused({ scope, ttl: { seconds: -1n } }, "idempotency.ttl", "OUT_OF_RANGE");
      await refused({ scope, ttl: { seconds: 2n ** 62n } }, "idempotency.ttl", "OUT_OF_RANGE");
    }
  });
});
