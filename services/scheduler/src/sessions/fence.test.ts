// The worker service on the in-memory store, without sockets: the same fence at every door as on Postgres (S0.46).

import type { RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import {
  type Claim,
  EffectClass,
  type WorkerItem,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { createEngine, saveGraph, type Store } from "../tick/tick.fixture.ts";
import { connect, type Item } from "./work-stream.fixture.ts";

/** Kinds of items that are about the session and not about a claim on a node. */
type SessionCase = "register" | "credit" | "goodbye" | "webhookResult" | undefined;

/** What to say at each door; the compiler asks for every kind of item there is. */
const DOORS: Readonly<
  Record<Exclude<WorkerItem["item"]["case"], SessionCase>, (c: Claim) => Item>
> = {
  outcome: (claim) => ({
    case: "outcome",
    value: { claim, result: { case: "completed", value: { outputJson: Buffer.from("1") } } },
  }),
  delta: (claim) => ({ case: "delta", value: { claim, text: "stale" } }),
  log: (claim) => ({ case: "log", value: { claim, level: "info", message: "stale" } }),
  renew: (claim) => ({ case: "renew", value: { held: [claim] } }),
  release: (claim) => ({ case: "release", value: { claim } }),
  effectBegin: (claim) => ({
    case: "effectBegin",
    value: { claim, name: "other", class: EffectClass.IDEMPOTENT },
  }),
  effectCommit: (claim) => ({ case: "effectCommit", value: { claim, name: "charge" } }),
  extend: (claim) => ({ case: "extend", value: { claim, extendMs: 60_000n } }),
};

/** Everything the store has about a run, as text. */
const everything = ({ view }: Store, runId: RunId): string =>
  JSON.stringify({
    run: view.run(runId),
    log: view.events(runId),
    leases: view.leases(),
    effects: view.effects(),
    jobs: view.jobs(),
  });

test.each(Object.entries(DOORS))(
  "in memory, %s under a superseded epoch is a lost claim and changes nothing (S0.43, S0.46)",
  async (_, door) => {
    const store = createMemoryStore({ now: () => 1_000 });
    const engine = createEngine(store, () => 1_000);
    const { say, hear } = connect(store, engine);
    const value = { executorId: crypto.randomUUID(), nodeTypes: ["start"], slots: 1 };
    say({ case: "register", value });
    await hear("registered");
    const graph = { nodes: [{ id: "start", type: "start" }], edges: [] };
    const { runId } = await engine.start(await saveGraph(store, graph));
    const stale = claimed((await hear("assignment")).claim);
    say({
      case: "effectBegin",
      value: { claim: stale, name: "charge", class: EffectClass.AT_MOST_ONCE },
    });
    await hear("effectBegun");
    say({ case: "release", value: { claim: stale } });
    const live = claimed((await hear("assignment", 2)).claim);
    const before = everything(store, runId);
    say(door(stale));
    expect((await hear("claimLost")).claim).toEqual(stale);
    expect(everything(store, runId)).toBe(before);
    say(DOORS.outcome(live));
    expect((await hear("settled", 2)).claim).toEqual(live);
    expect(store.view.leases()).toEqual([]);
  },
);

test.each(Object.entries(DOORS))(
  "in memory, %s with the live claim of another executor is a lost claim and changes nothing (S0.43, S0.46)",
  async (_, door) => {
    const store = createMemoryStore({ now: () => 1_000 });
    const engine = createEngine(store, () => 1_000);
    const [owner, other] = [connect(store, engine), connect(store, engine)];
    const value = { nodeTypes: ["start"], slots: 1 };
    owner.say({ case: "register", value: { ...value, executorId: crypto.randomUUID() } });
    await owner.hear("registered");
    const graph = { nodes: [{ id: "start", type: "start" }], edges: [] };
    const { runId } = await engine.start(await saveGraph(store, graph));
    const claim = claimed((await owner.hear("assignment")).claim);
    other.say({ case: "register", value: { ...value, executorId: crypto.randomUUID(), slots: 0 } });
    await other.hear("registered");
    const before = everything(store, runId);
    other.say(door(claim));
    expect((await other.hear("claimLost")).claim).toEqual(claim);
    expect(everything(store, runId)).toBe(before);
    owner.say(DOORS.outcome(claim));
    expect((await owner.hear("settled")).claim).toEqual(claim);
  },
);

test("an outcome repeated while it is being committed is kept once and answered as often as it was sent", async () => {
  const store = createMemoryStore({ now: () => 1_000 });
  const commit = Promise.withResolvers<void>();
  const kept: string[] = [];
  const transact: typeof store.journal.transact = async (work) => {
    if (kept.length > 0) await commit.promise;
    return store.journal.transact(work);
  };
  const engine = createEngine({ ...store, journal: { ...store.journal, transact } }, () => 1_000);
  await engine.known.reload();
  const submit = engine.loop.submit.bind(engine.loop);
  engine.loop.submit = (input) => {
    if (input.kind === "outcome") kept.push(input.kind);
    submit(input);
  };
  const { say, hear, heard } = connect(store, engine);
  const value = { executorId: crypto.randomUUID(), nodeTypes: ["start"], slots: 1 };
  say({ case: "register", value });
  await hear("registered");
  const graph = { nodes: [{ id: "start", type: "start" }], edges: [] };
  const { runId } = await engine.start(await saveGraph(store, graph));
  const claim = claimed((await hear("assignment")).claim);
  for (let time = 0; time < 3; time += 1) say(DOORS.outcome(claim));
  expect(kept).toEqual(["outcome"]);
  commit.resolve();
  await hear("settled", 3);
  // What comes later is judged by the log.
  say(DOORS.outcome(claim));
  await hear("settled", 4);
  expect(heard.filter(({ case: name }) => name === "claimLost")).toEqual([]);
  const ends = store.view.events(runId).filter(({ type }) => type === "node.completed");
  expect(ends).toHaveLength(1);
});

function claimed(claim: Claim | undefined): Claim {
  if (claim === undefined) throw new Error("an assignment without a claim");
  return claim;
}
