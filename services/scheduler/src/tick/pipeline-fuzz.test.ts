// Everything that may come between a draft and its commit, in any order, with two schedulers on one store: commits that fail,
// connections that break, outcomes that are late. Every output names the outputs it was made of, so the log itself
// shows whether a node ever ran on something that is not in the log.

import type { NodeId, RunId } from "@pawl/core/name/ids";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  createHeldStore,
  type Fate,
  promptTimers,
  quiet,
  received,
  report,
  type Task,
} from "./held-store.fixture.ts";
import { connect, createEngine, type Engine, saveGraph } from "./tick.fixture.ts";

fc.configureGlobal({ seed: 1 });

const NODES = 7;
const ROUNDS_MAX = 200;

type Step =
  | { readonly kind: "start" }
  | { readonly kind: "answer"; readonly who: number; readonly which: number }
  | { readonly kind: "late"; readonly who: number }
  | { readonly kind: "commit"; readonly fate: Fate }
  | { readonly kind: "break"; readonly who: number };

/** Nodes of which each follows one or two before it. */
const graphs = fc
  .array(fc.tuple(fc.nat(), fc.nat()), { minLength: 2, maxLength: NODES })
  .map((drawn) => {
    const nodes = drawn.map((_, at) => ({ id: `n${at}`, type: at === 0 ? "start" : "noop" }));
    const edges = drawn.flatMap((parents, at) =>
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
  ),
  { minLength: 10, maxLength: 50 },
);

/** A scheduler with one executor, which reconnects. */
class Pair {
  readonly engine: Engine;
  readonly tasks: Task[] = [];
  readonly late: Task[] = [];
  executor: ReturnType<typeof connect>;

  constructor(engine: Engine) {
    this.engine = engine;
    this.executor = connect(this.engine, 8);
  }

  receive(): void {
    const { given, lost } = received(this.executor);
    this.tasks.push(...given);
    for (const claim of lost) {
      const at = this.tasks.findIndex((task) => nameOf(task.claim) === nameOf(claim));
      if (at >= 0) this.late.push(...this.tasks.splice(at, 1));
    }
  }

  /** Reports the outcome of a task that was taken away meanwhile. */
  answerLate(token: string): void {
    const task = this.late.shift();
    if (task !== undefined) this.#report(task, token);
  }

  /** Reports that one of its tasks is done, with an output that names itself and its inputs. */
  answer(which: number, token: string): void {
    const [task] = this.tasks.splice(which % Math.max(1, this.tasks.length), 1);
    if (task !== undefined) this.#report(task, token);
  }

  #report(task: Task, token: string): void {
    const of = Object.fromEntries(
      Object.entries(task.nodes).map(([id, output]) => [id, (output as { token: string }).token]),
    );
    report(this.engine, this.executor, task.claim, { token, of }).catch(() => {});
  }

  /** Its stream breaks and it returns with the claims it holds; an assignment that it has not received is lost. */
  reconnect(): void {
    received(this.executor);
    this.engine.connected.leave(this.executor.session);
    this.executor = connect(this.engine, 8);
    for (const { claim } of this.tasks) this.executor.session.hold(claim);
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
  const pairs = [0, 1].map(() => new Pair(createEngine(store, now, { timers: promptTimers })));
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
    else pairOf(step.who).reconnect();
    await quiet();
    for (const pair of pairs) pair.receive();
  }
  store.letAllGo();
  // A renewal would find a lease that no executor holds.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await quiet();
    for (const pair of pairs) pair.receive();
    if (store.view.runs().every(({ endedAt }) => endedAt !== null)) break;
    // Late ones first: the claims that replace them are in hand by then.
    for (const pair of pairs) while (pair.late.length > 0) pair.answerLate(`t${(tokens += 1)}`);
    for (const pair of pairs) while (pair.tasks.length > 0) answer(pair, 0);
    await quiet();
    for (const pair of pairs) pair.receive();
    for (const lease of store.view.leases()) {
      if (pairs.some((pair) => pair.holds(lease))) continue;
      const claimLost = { claim: lease, reason: "not_held", executorId: lease.executorId } as const;
      const NOBODY = { resolve: () => {}, reject: () => {} };
      pairOf(round % 2).engine.loop.submit({ kind: "lost", ...claimLost, answer: NOBODY });
    }
    for (const { engine } of pairs) engine.loop.poll();
  }
  return { store, pairs };
}

test("whatever comes between a draft and its commit, runs end, nothing is doubled, and no node ran on something that is not in the log", async () => {
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
    }),
    { numRuns: 400 },
  );
});
