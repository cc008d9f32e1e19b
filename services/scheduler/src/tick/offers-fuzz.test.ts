// Everything that may come between an offer and its commit, in any order: commits that fail or that nobody hears of, connections that
// break, outcomes that are late. Every output says what it was made of, so the log itself tells whether anything in it was ever made
// of something that is not in it.

import type { NodeId, RunId } from "@pawl/core/name/ids";
import { ManualTimers } from "@pawl/platform/lifecycle/manual-timers.fixture";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  createHeldStore,
  type Fate,
  hear,
  INSTANT,
  quiet,
  report,
  type Task,
} from "./offers.fixture.ts";
import { connect, createEngine, type Engine, saveGraph } from "./tick.fixture.ts";

fc.configureGlobal({ seed: 1 });

const SLOW = "javascript";
const TYPES = [...INSTANT, SLOW];
const NODES = 7;
const ROUNDS_MAX = 200;
/** Longer than any tick waits. */
const LINGER_MS = 10;

type Step =
  | { readonly kind: "start" }
  | { readonly kind: "answer"; readonly who: number; readonly which: number }
  | { readonly kind: "late"; readonly who: number }
  | { readonly kind: "commit"; readonly fate: Fate }
  | { readonly kind: "break"; readonly who: number }
  | { readonly kind: "time"; readonly who: number };

/** Nodes of which each follows one or two before it; some are not instant. */
const graphs = fc
  .array(fc.record({ slow: fc.boolean(), parents: fc.tuple(fc.nat(), fc.nat()) }), {
    minLength: 2,
    maxLength: NODES,
  })
  .map((drawn) => {
    const config = { code: "return 1" };
    const nodes = drawn.map(({ slow }, at) => {
      if (at === 0) return { id: "n0", type: "start" };
      return slow ? { id: `n${at}`, type: SLOW, config } : { id: `n${at}`, type: "noop" };
    });
    const edges = drawn.flatMap(({ parents }, at) =>
      at === 0
        ? []
        : [...new Set(parents.map((each) => each % at))].map((from) => ({
            source: `n${from}`,
            target: `n${at}`,
          })),
    );
    return { nodes, edges };
  });

const who = fc.nat({ max: 1 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant({ kind: "start" } as const) },
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant("answer" as const), who, which: fc.nat() }),
    },
    { weight: 5, arbitrary: fc.constant({ kind: "commit", fate: "works" } as const) },
    { weight: 4, arbitrary: fc.constant({ kind: "commit", fate: "moved" } as const) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("late" as const), who }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("break" as const), who }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("time" as const), who }) },
  ),
  { minLength: 10, maxLength: 50 },
);

/** A scheduler with one executor, which reconnects. */
class Pair {
  readonly engine: Engine;
  readonly tasks: Task[] = [];
  readonly late: Task[] = [];
  offerCount = 0;
  /** Its ticks wait for what they offer until this goes on. */
  readonly time = new ManualTimers();
  executor: ReturnType<typeof connect>;

  constructor(create: (linger: ManualTimers) => Engine) {
    this.engine = create(this.time);
    this.executor = connect(this.engine, 8, TYPES, INSTANT);
  }

  hear(): void {
    const { given, lost } = hear(this.executor);
    this.tasks.push(...given);
    this.offerCount += given.filter(({ claim }) => claim.offer !== undefined).length;
    for (const claim of lost) {
      const at = this.tasks.findIndex(
        (task) => nameOf(task.claim) === nameOf(claim) && task.claim.offer?.id === claim.offer?.id,
      );
      if (at >= 0) this.late.push(...this.tasks.splice(at, 1));
    }
  }

  /** Says that a task is done which was taken away: its outcome was on its way then. */
  answerLate(token: string): void {
    const task = this.late.shift();
    if (task !== undefined) this.#report(task, token);
  }

  /** Says that one of its tasks is done, with an output that names itself and what went into it. */
  answer(which: number, token: string): void {
    const [task] = this.tasks.splice(which % Math.max(1, this.tasks.length), 1);
    if (task !== undefined) this.#report(task, token);
  }

  #report(task: Task, token: string): void {
    const of = Object.fromEntries(
      Object.entries(task.nodes).map(([id, output]) => [id, (output as { token: string }).token]),
    );
    report(this.engine, this.executor, task.claim, { token, of })?.catch(() => {});
  }

  /** Its stream breaks and it comes back: offers are gone, other claims are still in hand. */
  reconnect(): void {
    this.hear();
    const kept = this.tasks.filter(({ claim }) => claim.offer === undefined);
    this.tasks.splice(0, this.tasks.length, ...kept);
    this.late.length = 0;
    this.engine.roster.leave(this.executor.session);
    this.executor = connect(this.engine, 8, TYPES, INSTANT);
    for (const { claim } of kept) this.executor.session.hold(claim);
  }

  holds(lease: {
    readonly runId: RunId;
    readonly nodeId: NodeId;
    readonly iteration: number;
  }): boolean {
    return this.executor.session.claimOn(lease.runId, lease.nodeId, lease.iteration) !== undefined;
  }
}

const nameOf = (claim: Task["claim"]): string =>
  `${claim.runId}/${claim.nodeId}/${claim.iteration}/${claim.epoch}`;

async function play(graph: object, script: readonly Step[]) {
  const now = (): number => 1_000_000;
  const store = createHeldStore(now);
  const pairs = [0, 1].map(() => new Pair((linger) => createEngine(store, now, { linger })));
  for (const { engine } of pairs) await engine.known.reload();
  const id = await saveGraph(store, graph);
  const pairOf = (index: number): Pair => pairs[index] ?? (pairs[0] as Pair);
  let tokens = 0;
  const answer = (pair: Pair, which: number): void => pair.answer(which, `t${(tokens += 1)}`);
  store.hold();
  let started = 0;
  for (const step of [{ kind: "start" } as const, ...script]) {
    if (step.kind === "start")
      pairOf((started += 1) % 2)
        .engine.start(id)
        .catch(() => {});
    else if (step.kind === "answer") answer(pairOf(step.who), step.which);
    else if (step.kind === "late") pairOf(step.who).answerLate(`t${(tokens += 1)}`);
    else if (step.kind === "commit") store.letGo(step.fate);
    else if (step.kind === "time") await pairOf(step.who).time.advance(LINGER_MS);
    else pairOf(step.who).reconnect();
    await quiet();
    for (const pair of pairs) pair.hear();
  }
  store.letAllGo();
  // What is leased and in nobody's hands is what a renewal would find.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await quiet();
    for (const pair of pairs) pair.hear();
    if (store.view.runs().every(({ endedAt }) => endedAt !== null)) break;
    // Late ones first: what takes their place is in hand by then.
    for (const pair of pairs) while (pair.late.length > 0) pair.answerLate(`t${(tokens += 1)}`);
    for (const pair of pairs) while (pair.tasks.length > 0) answer(pair, 0);
    await quiet();
    for (const pair of pairs) await pair.time.advance(LINGER_MS);
    await quiet();
    for (const pair of pairs) pair.hear();
    for (const lease of store.view.leases()) {
      if (pairs.some((pair) => pair.holds(lease))) continue;
      const claimLost = { claim: lease, reason: "not_held", executorId: lease.executorId } as const;
      const NOBODY = { resolve: () => {}, reject: () => {} };
      pairOf(round % 2).engine.loop.offer({ kind: "lost", ...claimLost, answer: NOBODY });
    }
    for (const { engine } of pairs) engine.loop.nudge();
  }
  return { store, pairs };
}

test("whatever comes between an offer and its commit, runs end, nothing is doubled, and nothing was made of what is not in the log", async () => {
  let offerCount = 0;
  await fc.assert(
    fc.asyncProperty(graphs, steps, async (graph, script) => {
      const { store, pairs } = await play(graph, script);
      for (const { engine } of pairs) expect(engine.errors).toEqual([]);
      for (const run of store.view.runs()) {
        expect(run.status).toBe("completed");
        const events = store.view.events(run.runId);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
        const done = events.filter(({ type }) => type === "node.completed");
        expect(new Set(done.map((event) => event.nodeId)).size).toBe(graph.nodes.length);
        expect(done).toHaveLength(graph.nodes.length);
        const outputs = new Map(
          done.map((event) => [event.nodeId as string, JSON.parse(event.value ?? "{}")]),
        );
        for (const event of done) {
          const claim = events[event.epoch - 1];
          expect(claim).toMatchObject({ type: "node.started", nodeId: event.nodeId });
          for (const [parent, token] of Object.entries(outputs.get(event.nodeId)?.of ?? {}))
            expect(token).toBe(outputs.get(parent)?.token);
        }
      }
      expect(store.view.leases()).toEqual([]);
      for (const pair of pairs) offerCount += pair.offerCount;
    }),
    { numRuns: 400 },
  );
  expect(offerCount).toBeGreaterThan(1_000);
});
