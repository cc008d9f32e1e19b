import { executorId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { createLogger } from "@pawl/platform/telemetry/log";
import { expect, onTestFinished, test } from "vitest";
import { createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { Renewals } from "./renewals.ts";
import { Session } from "./session.ts";
import { connect } from "./work-stream.fixture.ts";

const GRAPH = { nodes: [{ id: "start", type: "start" }], edges: [] };

test("an executor whose lease ran out is given nothing until it is renewed (X14)", async () => {
  const store = createMemoryStore({ now: () => 1_000 });
  const engine = createEngine(store, () => 1_000);
  // Registered with no time to live, like an executor that was frozen past its lease and whose stream is still open.
  const executor = connect(store, engine, { leaseMs: 0 });
  const value = { executorId: crypto.randomUUID(), nodeTypes: ["start"], slots: 1 };
  executor.say({ case: "register", value });
  await executor.hear("registered");
  const { runId } = await engine.start(await saveGraph(store, GRAPH));
  expect(executor.heard.map(({ case: kind }) => kind)).not.toContain("assignment");
  executor.say({ case: "renew", value: {} });
  const assignment = await executor.hear("assignment");
  expect(assignment.claim).toMatchObject({ runId, nodeId: "start" });
});

test("whose lease ran out is renewed at once; others wait for the statement of their period (X14)", async () => {
  const { executors } = createMemoryStore();
  const sent: (readonly Session[])[] = [];
  const revived = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const renewals = new Renewals({
    executors: {
      ...executors,
      renew: async (sessions) => {
        sent.push(sessions as readonly Session[]);
        first.resolve();
        return new Set(sessions.map(({ sessionId }) => sessionId));
      },
    },
    leaseMs: 60_000,
    renewMs: 3_600_000,
    log: createLogger({ service: "scheduler", level: "silent" }),
    onFailure: () => undefined,
    onRevived: revived.resolve,
  });
  onTestFinished(() => renewals.stop());
  const session = (leaseMs: number): Session =>
    new Session({
      executorId: executorId(crypto.randomUUID()),
      sessionId: crypto.randomUUID(),
      nodeTypes: ["noop"],
      capacity: 1,
      held: [],
      send: () => undefined,
      leaseMs,
    });
  const [alive, over] = [session(60_000), session(0)];
  renewals.add(alive);
  await first.promise;
  // Its turn is an hour away, unless the life of an executor is over: then it renews with that one.
  renewals.add(alive);
  expect(over.credit).toBe(0);
  renewals.add(over);
  await revived.promise;
  expect(sent).toEqual([[alive], [alive, over]]);
  expect(over.credit).toBe(1);
});
