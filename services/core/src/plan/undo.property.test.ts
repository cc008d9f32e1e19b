// Properties of compensation over random DAGs with joins, handles, retries, maps and loops, and over programs that repeat. Runs fail at
// random nodes or are cancelled at a random step. The rules are read from the log alone.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { play, scenarios, type Scenario } from "../../test/arbitrary-run.ts";
import { playProgram, programs, type Program } from "../../test/loop-program.ts";
import { RUN, type ToyRun } from "../../test/toy-run.ts";
import { causeOf } from "../log/cause.ts";
import { checkLog } from "../log/check.ts";
import { isFinal, isSettled, type RunEvent, type RunStatus } from "../log/event.ts";
import { fold } from "../log/fold.ts";
import { isSettlingType, mayCause } from "../log/meaning.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import type { RunState } from "../log/state.ts";
import { isUndo, undoneBy, undoOf } from "../log/undo-iteration.ts";
import { view } from "../log/view.ts";
import { decide } from "./plan.ts";
import { onCancel } from "./stop.ts";

fc.configureGlobal({ seed: 1 });

const seeds = fc.integer();
const undoSteps = fc.constantFrom("ok", "ok", "fail", "lost", "timeout", "permanent");
const compensation = { type: "undo", retry: { attempts: 2 } } as const;

/** Which nodes can be undone, what their compensations do, and when the run is cancelled, and cancelled again. */
const plans = fc.record({
  compensable: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  script: fc.array(undoSteps, { minLength: 1, maxLength: 3 }),
  cancelAt: fc.option(fc.nat(40), { nil: undefined }),
  stopAt: fc.option(fc.nat(60), { nil: undefined, freq: 4 }),
});
interface Plan {
  readonly compensable: readonly boolean[];
  readonly script: Scenario["scripts"][string];
  readonly cancelAt: number | undefined;
  readonly stopAt: number | undefined;
}

function withUndo(
  { definition, scripts, scopes }: Scenario,
  { compensable, script }: Plan,
): Scenario {
  const nodes = definition.nodes.map((node, index) =>
    compensable[index] === true && node["type"] !== "start" ? { ...node, compensation } : node,
  );
  const undo = Object.fromEntries(
    nodes.flatMap(({ id }) =>
      Array.from({ length: 8 }, (_, at) => [
        `${id}#${undoOf(at)}`,
        [...script.slice(at % script.length), ...script].slice(0, 3),
      ]),
    ),
  );
  return { definition: { ...definition, nodes }, scripts: { ...scripts, ...undo }, scopes };
}

function cancelled(run: ToyRun, requestId: string): void {
  const stop = onCancel(run.state, { reason: "random", requestId, now: run.now });
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  run.plan();
}

const keyOf = ({ nodeId, iteration }: RunEvent): string =>
  `${nodeId}#${isUndo(iteration) ? undoneBy(iteration) : iteration}`;

/** The nodes behind each node, by plain edges. */
function behindOf({ graph }: RunState): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const {
    definition: { id },
  } of graph.nodes) {
    const behind = new Set<string>();
    const walk = [id as string];
    for (const at of walk)
      for (const edge of graph.definition.edges)
        if (edge.source === at && edge.loop !== true && !behind.has(edge.target)) {
          behind.add(edge.target);
          walk.push(edge.target);
        }
    found.set(id, behind);
  }
  return found;
}

const LIVE: ReadonlySet<RunStatus> = new Set(["pending", "running", "waiting", "paused"]);
/** The changes of status that a run with compensation may take. */
const isLegal = (from: RunStatus, to: RunStatus): boolean =>
  from === "compensating"
    ? to === "paused" || isFinal(to)
    : LIVE.has(from) && (LIVE.has(to) || to === "compensating");

/** Checks a log that has ended: each completed execution is undone exactly once, in the legal order, or the run completed. */
function checkUndone({ state, events }: ToyRun, wasStopped: boolean): void {
  const begins = events.findIndex((e) => e.type === "run.status.changed" && e.payload.ending);
  const isCompensable = ({ nodeId, iteration, type, payload }: RunEvent): boolean => {
    const { compensation: own, scope = null } =
      state.graph.definition.nodes.find(({ id }) => id === nodeId) ?? {};
    if (own === undefined || type !== "node.completed" || isUndo(iteration)) return false;
    if ("handle" in payload && payload.handle === "error") return false;
    // An agent is undone as a whole, a map and a loop item by item.
    if (scope?.agent !== undefined) return iteration === 0;
    return scope === null || isItem(events, nodeId, iteration);
  };
  const done = events.flatMap((event, at) =>
    isCompensable(event) ? [{ key: keyOf(event), at, event }] : [],
  );
  const undos = events.flatMap((event, at) =>
    isUndo(event.iteration) ? [{ key: keyOf(event), at, event }] : [],
  );
  const settled = undos.filter(({ event }) => isSettlingType(event.type));
  if (begins < 0) {
    expect(undos).toEqual([]);
    if (state.status !== "completed") expect(done).toEqual([]);
    return;
  }
  expect(undos.every(({ at }) => at > begins)).toBe(true);
  expect(settled.map(({ key }) => key).toSorted()).toEqual(done.map(({ key }) => key).toSorted());
  const queuedAt = (key: string) =>
    undos.find((u) => u.key === key && u.event.type === "node.queued")?.at;
  const settledAt = new Map(settled.map(({ key, at }) => [key, at]));
  const behind = behindOf(state);
  for (const early of done)
    for (const late of done) {
      const isSame = early.event.nodeId === late.event.nodeId;
      const isScope = state.graph.definition.nodes.some(
        (n) =>
          n.id === early.event.nodeId &&
          n.scope?.hasPrevious === false &&
          n.scope.agent === undefined,
      );
      const depends = isSame
        ? !isScope
        : behind.get(early.event.nodeId)?.has(late.event.nodeId) === true;
      if (early.at >= late.at || !depends) continue;
      const queue = queuedAt(early.key);
      if (queue !== undefined) expect(settledAt.get(late.key)).toBeLessThan(queue);
    }
  const last = events.at(-1);
  if (last === undefined || !("compensation" in last.payload)) throw new Error("no result");
  const well = settled.filter(({ event }) => event.type === "node.completed").length;
  expect(last.payload.compensation).toMatchObject({ undone: well, left: done.length - well });
  if (!wasStopped) expect(settled.every(({ event }) => event.type !== "node.cancelled")).toBe(true);
}

/** Whether an iteration is one of the items with which its node expanded. */
const isItem = (events: readonly RunEvent[], nodeId: string, iteration: number): boolean =>
  events.some(
    (event) =>
      event.type === "node.expanded" &&
      event.nodeId === nodeId &&
      event.iteration < iteration &&
      iteration <= event.iteration + event.payload.width,
  );

/** The state without the work lists, which the planner empties and a fresh fold fills again. */
const meaningOf = ({ frontier: _frontier, scopes: _scopes, graph: _graph, ...rest }: RunState) =>
  rest;

function checkLogOf(run: ToyRun): void {
  const { state, events } = run;
  expect(isFinal(state.status)).toBe(true);
  checkLog(events);
  expect(meaningOf(fold(RUN, state.graph, events))).toEqual(meaningOf(state));
  const body = writeSnapshot(state);
  expect(readSnapshot(RUN, state.graph, { format: SNAPSHOT_FORMAT, body })).toEqual(state);
  expect(decide(state, run.now)).toEqual([]);
  const typeAt = new Map(events.map((event) => [event.seq, event.type]));
  for (const event of events.slice(1)) {
    const cause = typeAt.get(causeOf(event));
    expect(cause !== undefined && mayCause(cause, event.type)).toBe(true);
    if (event.type === "run.status.changed")
      expect(isLegal(event.payload.from, event.payload.to)).toBe(true);
  }
  expect(view(events).status).toBe(state.status);
  expect(
    [...state.undos.values()].every(
      ({ status }) => state.status === "completed" || status === "pending" || isSettled(status),
    ),
  ).toBe(true);
}

test("every completed execution with a compensation is undone exactly once, in reverse order, whatever fails (S2.16, X8)", () => {
  let compensated = 0;
  fc.assert(
    fc.property(scenarios(12, { fatal: true }), plans, seeds, (drawn, plan, seed) => {
      let step = 0;
      let wasStopped = false;
      const { run } = play(
        withUndo(drawn, plan),
        seed,
        (each) => {
          step += 1;
          if (step === plan.cancelAt && each.state.ending === undefined) cancelled(each, "first");
          if (step === plan.stopAt && each.state.ending !== undefined) {
            wasStopped = true;
            cancelled(each, "second");
          }
        },
        { pauses: seed % 3 === 0 },
      );
      checkLogOf(run);
      checkUndone(run, wasStopped);
      if (run.events.some(({ iteration }) => isUndo(iteration))) compensated += 1;
    }),
    { numRuns: 1_000 },
  );
  // The property says nothing about programs that undo nothing.
  expect(compensated).toBeGreaterThan(120);
});

test("programs that repeat are undone exactly once, the last round first (S2.16)", () => {
  let compensated = 0;
  const withCompensation = (program: Program): Program => ({
    ...program,
    definition: {
      ...program.definition,
      nodes: program.definition.nodes.map((node) => ({ ...node, compensation })),
    },
  });
  fc.assert(
    fc.property(programs(7), seeds, (program, seed) => {
      const run = playProgram(withCompensation(program), seed, () => undefined);
      checkLogOf(run);
      checkUndone(run, false);
      if (run.events.some(({ iteration }) => isUndo(iteration))) compensated += 1;
    }),
    { numRuns: 400 },
  );
  expect(compensated).toBeGreaterThan(80);
});
