// GetInvocation on a real trio: a scripted executor gets the assignment, and every door gives the same input, config and outcome. It costs
// ten seconds.
import { createPawlClient, jsonOf, nodeStatusName } from "@pawl/client";
import { EffectClass } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { completed, connectExecutor, type FakeExecutor } from "./fake-executor.ts";
import { expectRefused, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage();
const TYPE = "shop.charge";

async function executor(): Promise<FakeExecutor> {
  const connected = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  onTestFinished(() => connected.leave());
  await connected.register({ nodeTypes: [TYPE] });
  return connected;
}

const charge = (more: object = {}) => ({
  nodes: [
    { id: "start", type: "start" },
    {
      id: "charge",
      type: TYPE,
      config: { currency: "{{ctx.input.currency}}", plain: 1 },
      input: { cents: "{{ctx.input.cents}}" },
      ...more,
    },
    { id: "later", type: TYPE, config: {} },
  ],
  edges: [
    {
      id: "a",
      source: "start",
      target: "charge",
      source_output_key: "inputReceived.name",
      target_param_label: "who",
    },
    { id: "b", source: "charge", target: "later" },
  ],
});
const INPUT = { currency: "EUR", cents: 12, name: "Ada" };

const start = async (graph: object): Promise<string> => {
  const client = createPawlClient({ baseUrl: stage().url });
  return (await client.runs.test(graph as never, { input: INPUT })).run.runId;
};

const NOT_INVOKED: Refusal = { code: "FailedPrecondition", reason: "NODE_NOT_INVOKED" };
const value = (json: Uint8Array | undefined) => jsonOf(json ?? new Uint8Array());

/** The same answer of every door. */
async function invocations(runId: string, nodeId: string) {
  const answers = stage().doors.map(({ runs }) => runs.getInvocation({ runId, nodeId }));
  return (await Promise.all(answers)).map(({ invocation }) => invocation);
}

test("every door gives what a running handler got, with edges bound and templates filled in", async () => {
  const connected = await executor();
  const runId = await start(charge());
  const { attempt, timeoutMs, effectKey } = await connected.assigned(runId);
  for (const invocation of await invocations(runId, "charge")) {
    expect(invocation).toMatchObject({ type: TYPE, attempt, timeoutMs, effectKey, cause: "" });
    expect(value(invocation?.inputJson)).toEqual({ cents: 12, who: "Ada" });
    expect(value(invocation?.configJson)).toEqual({ currency: "EUR", plain: 1 });
    expect(nodeStatusName(invocation?.status ?? 0)).toBe("running");
  }
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      await expectRefused(runs.getInvocation({ runId, nodeId: "later" }), NOT_INVOKED);
      await expectRefused(runs.getInvocation({ runId, nodeId: "start" }), NOT_INVOKED);
    }
  });
});

test("an invocation that ended has its output and the results of its effects, committed or not", async () => {
  const connected = await executor();
  const runId = await start(charge());
  const { claim } = await connected.assigned(runId);
  for (const name of ["mail", "pay"]) {
    const effectClass = EffectClass.IDEMPOTENT;
    connected.say({ case: "effectBegin", value: { claim, name, class: effectClass } as never });
  }
  await connected.hear("effectBegun", 2);
  const resultJson = Buffer.from('{"receipt":7}');
  connected.say({ case: "effectCommit", value: { claim, name: "pay", resultJson } as never });
  await connected.hear("effectCommitted");
  connected.say(completed(claim, '{"paid":true}'));
  // Runs of earlier tests come back to this executor too, so their assignments do not count.
  await until(
    () =>
      connected
        .heard("assignment")
        .some((each) => each?.claim?.runId === runId && each.claim.nodeId === "later"),
    { what: "the next node" },
  );
  for (const invocation of await invocations(runId, "charge")) {
    expect(nodeStatusName(invocation?.status ?? 0)).toBe("completed");
    expect(value(invocation?.outputJson)).toEqual({ paid: true });
    const effects = invocation?.effects.map(
      ({ name, effectClass, committed, resultJson: json }) => ({
        ...{ name, effectClass, committed },
        result: value(json),
      }),
    );
    expect(effects).toEqual([
      { name: "mail", effectClass: "idempotent", committed: false, result: undefined },
      { name: "pay", effectClass: "idempotent", committed: true, result: { receipt: 7 } },
    ]);
  }
});

test.each([
  ["fails", {}],
  ["fails and leaves by the handle error", { error_handling: "continue" }],
])("an invocation that %s has its cause and message and no output", async (_, more) => {
  const connected = await executor();
  const runId = await start(charge(more));
  const { claim } = await connected.assigned(runId);
  const failed = { cause: "shop.declined", message: "no funds", permanent: true };
  const result = { case: "failed", value: failed };
  connected.say({ case: "outcome", value: { claim, durationMs: 1n, result } as never });
  await until(
    async () => (await invocations(runId, "charge")).every((each) => each?.cause !== ""),
    { what: "the failure" },
  );
  for (const invocation of await invocations(runId, "charge")) {
    expect(invocation).toMatchObject({ cause: "shop.declined", message: "no funds" });
    expect(invocation?.outputJson).toHaveLength(0);
  }
});
