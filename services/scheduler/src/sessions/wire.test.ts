import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type ActionSchema, OutcomeSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { outcomeOf } from "./wire.ts";

test.each([
  ["JS_ERROR", "js_error"],
  ["RESULT_TOO_LARGE", "output_too_large"],
  ["acme.card_declined", "acme.card_declined"],
  ["", "provider_error"],
])("an executor that reports the cause %o enters the log with %o", (reported, logged) => {
  const failed = { cause: reported, message: "no" };
  const wire = create(OutcomeSchema, { result: { case: "failed", value: failed } });
  expect(outcomeOf(wire, 0)).toMatchObject({ kind: "failed", cause: logged });
});

type Sent = NonNullable<MessageInitShape<typeof ActionSchema>["action"]>;

const completedWith = (...actions: readonly Sent[]) => ({
  outputJson: Buffer.from('{"n":1}'),
  actions: actions.map((action) => ({ action })),
});
const reported = (...actions: readonly Sent[]) =>
  outcomeOf(
    create(OutcomeSchema, { result: { case: "completed", value: completedWith(...actions) } }),
    0,
  );

const remember: Sent = { case: "updateMemory", value: { valuesJson: '{"a":1}' } };

test("a completed outcome keeps its actions, and one without actions has none (S2.37)", () => {
  expect(reported(remember)).toMatchObject({
    kind: "completed",
    actions: [{ type: "update_memory", valuesJson: '{"a":1}' }],
  });
  expect(reported()).not.toHaveProperty("actions");
});

test("request_human_input becomes a hold, and a handoff a child run; both show the output unless they name more (S2.37)", () => {
  const ask = { message: "Ship it?", assignees: ["ada"], deadlineMs: 60_000n };
  expect(reported({ case: "requestHumanInput", value: ask }, remember)).toMatchObject({
    ...{ kind: "held", reason: "approval", phase: "output", outputJson: '{"n":1}' },
    approval: { message: "Ship it?", assignees: ["ada"], deadlineMs: 60_000 },
    actions: [{ type: "request_human_input" }, { type: "update_memory" }],
  });
  expect(reported({ case: "handoff", value: { workflow: "billing", version: 2 } })).toMatchObject({
    ...{ kind: "child_run", workflowId: "billing", version: 2, inputJson: '{"n":1}' },
    isHandoff: true,
  });
});

test("goto_node and a handoff to a node name the node that runs next; a handoff to a node takes no input (S2.37)", () => {
  expect(reported({ case: "gotoNode", value: { node: "a", reason: "again" } })).toMatchObject({
    ...{ kind: "completed", outputJson: '{"n":1}' },
    goto: { nodeId: "a", kind: "goto", reason: "again" },
  });
  expect(reported({ case: "handoff", value: { node: "a" } }, remember)).toMatchObject({
    ...{ kind: "completed", goto: { nodeId: "a", kind: "handoff", reason: "" } },
    actions: [{ type: "handoff" }, { type: "update_memory" }],
  });
  expect(reported({ case: "handoff", value: { node: "a", inputJson: "1" } })).toMatchObject({
    ...{ kind: "failed", cause: "action_invalid", permanent: true },
  });
});

test.each([
  ["unknown", { case: "unknown", value: "fly" }],
  ["the engine's own", { case: "unknown", value: "_budget_exceeded" }],
  ["empty", { case: undefined }],
] satisfies [string, Sent][])(
  "an action that is %s fails the node for good (S2.38, S2.39)",
  (_what, action) => {
    expect(reported(remember, action)).toMatchObject({
      ...{ kind: "failed", cause: "action_invalid", permanent: true },
    });
  },
);

test("memory and status wait with an output that moderation holds; a handoff or a jump cannot", () => {
  const held = (...actions: readonly Sent[]) =>
    outcomeOf(
      create(OutcomeSchema, {
        result: {
          case: "held",
          value: {
            ...{ reason: "moderation_hold", phase: "output" },
            completed: completedWith(...actions),
          },
        },
      }),
      0,
    );
  expect(held(remember)).toMatchObject({ kind: "held", actions: [{ type: "update_memory" }] });
  for (const late of [
    { case: "handoff", value: { workflow: "billing" } },
    { case: "gotoNode", value: { node: "a" } },
  ] as const)
    expect(held(late)).toMatchObject({
      ...{ kind: "failed", cause: "action_invalid", permanent: true },
    });
});
