// Random programs that repeat: graphs with joins, handles, failures, maps, loop edges, gotos and handoffs. A player drives one to its end in
// a given order. Now and then it appends two results before it plans, as a tick does that has both.

import * as fc from "fast-check";
import { executionsOf } from "../src/log/execution.ts";
import { nodeId } from "../src/name/ids.ts";
import { onOutcome } from "../src/plan/arrive.ts";
import type { Outcome } from "../src/plan/result.ts";
import { randomOf } from "./arbitrary-run.ts";
import {
  completed,
  EXECUTOR,
  expanded,
  failed,
  graphOf,
  startToyRun,
  type ToyRun,
} from "./toy-run.ts";

/** What one execution of a node does. `goto:` and `handoff:` name the node that runs next. */
type Step = string;

export interface ProgramEdge {
  readonly source: string;
  readonly target: string;
  readonly source_handle?: string;
  readonly loop?: boolean;
  readonly max_iterations?: number;
}

export interface ProgramNode {
  readonly id: string;
  readonly type: "task" | "map";
  readonly config?: { readonly parallelism: number; readonly on_item_failure: string };
  readonly join: "all" | "any" | { readonly n_of_m: number };
  readonly on_parent_failure: string;
  readonly error_handling: string | undefined;
  readonly max_iterations: number | undefined;
  readonly write_key?: string;
}

export interface Program {
  readonly definition: {
    readonly max_iterations: number;
    readonly nodes: readonly ProgramNode[];
    readonly edges: readonly ProgramEdge[];
  };
  /** One step for each round of a node; the last one repeats. */
  readonly scripts: Readonly<Record<string, readonly Step[]>>;
  readonly widths: Readonly<Record<string, number>>;
}

const idOf = (index: number): string => `n${index}`;
const steps = fc.constantFrom("ok", "ok", "ok", "a", "again", "again", "back", "error", "fail");
const bound = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined, freq: 2 });

const drawnNode = fc.record({
  join: fc.constantFrom("all", "all", "any", "n"),
  on_parent_failure: fc.constantFrom("skip", "propagate", "substitute_default"),
  error_handling: fc.constantFrom(undefined, "continue", "fail_node"),
  parents: fc.array(fc.tuple(fc.nat(), fc.constantFrom(undefined, undefined, "a", "error")), {
    minLength: 1,
    maxLength: 3,
  }),
  isMap: fc.constantFrom(false, false, false, true),
  width: fc.nat(3),
  parallelism: fc.integer({ min: 1, max: 2 }),
  on_item_failure: fc.constantFrom("continue", "fail"),
  max_iterations: bound(4),
  write_key: fc.constantFrom(undefined, "a", "b"),
  script: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: steps },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom("goto", "handoff"), fc.nat(9)) },
    ),
    { minLength: 1, maxLength: 4 },
  ),
  loops: fc.array(
    fc.record({
      target: fc.nat(),
      handle: fc.constantFrom("again", "back"),
      max_iterations: bound(3),
    }),
    { maxLength: 2 },
  ),
});

/** Programs of 2 to `nodesMax` nodes. */
export const programs = (nodesMax: number): fc.Arbitrary<Program> =>
  fc
    .tuple(
      fc.array(drawnNode, { minLength: 2, maxLength: nodesMax, size: "max" }),
      fc.integer({ min: 1, max: 8 }),
    )
    .map(([drawn, max_iterations]) => {
      const plain = drawn.flatMap(({ parents }, index) =>
        (index === 0 ? [] : parents).map(([parent, handle]) => ({
          source: idOf(parent % index),
          target: idOf(index),
          ...(handle !== undefined && { source_handle: handleFrom(drawn[parent % index], handle) }),
        })),
      );
      const loops = drawn.flatMap(({ isMap, loops: own }, index) =>
        isMap ? [] : loopsOf(plain, index, own),
      );
      const nodes = drawn.map((each, index) => {
        const incoming = plain.filter(({ target }) => target === idOf(index)).length;
        const { on_parent_failure, error_handling, parallelism, on_item_failure } = each;
        const config = { items: [], body: { type: "task" }, parallelism, on_item_failure };
        const counted = incoming === 0 ? "all" : { n_of_m: Math.ceil(incoming / 2) };
        return {
          id: idOf(index),
          ...(each.isMap ? { type: "map" as const, config } : { type: "task" as const }),
          join: each.join === "n" ? counted : each.join === "any" ? "any" : "all",
          ...{ on_parent_failure, error_handling, max_iterations: each.max_iterations },
          ...(!each.isMap && each.write_key !== undefined && { write_key: each.write_key }),
        } as const;
      });
      // The last of the nodes that a goto may name does not exist.
      const worded = (step: string | [string, number]): Step =>
        typeof step === "string" ? step : `${step[0]}:${idOf(step[1] % (drawn.length + 1))}`;
      const each = <T>(of: (index: number) => T) =>
        Object.fromEntries(drawn.map((_, index) => [idOf(index), of(index)]));
      return {
        definition: { max_iterations, nodes, edges: [...plain, ...loops] },
        scripts: each((index) => (drawn[index]?.script ?? []).map(worded)),
        widths: each((index) => drawn[index]?.width ?? 0),
      };
    });

const handleFrom = (source: { readonly isMap: boolean } | undefined, handle: string): string =>
  source?.isMap === true && handle === "a" ? "loop" : handle;

interface DrawnLoop {
  readonly target: number;
  readonly handle: string;
  readonly max_iterations: number | undefined;
}

/** At most one loop edge for each handle, to a node from which plain edges lead to the source. */
function loopsOf(plain: readonly ProgramEdge[], index: number, drawn: readonly DrawnLoop[]) {
  const before = new Set([idOf(index)]);
  for (const id of before)
    for (const { source, target } of plain) if (target === id) before.add(source);
  const targets = [...before];
  const byHandle = new Map(drawn.map((loop) => [loop.handle, loop]));
  return [...byHandle.values()].map(({ target, handle, max_iterations }) => ({
    source: idOf(index),
    target: targets[target % targets.length] ?? idOf(index),
    source_handle: handle,
    loop: true,
    ...(max_iterations !== undefined && { max_iterations }),
  }));
}

/** A result that the player reports, in words that the oracle understands. */
export interface Report {
  readonly id: string;
  /** The item of a map, from 1; 0 for the node itself. */
  readonly item: number;
  readonly step: Step;
  /** Unique in the run. */
  readonly output: string;
}

/** Plays a program to its end. `onReports` sees each group of reports that was planned together, and the run after it. */
export function playProgram(
  program: Program,
  seed: number,
  onReports: (run: ToyRun, reports: readonly Report[]) => void,
  run = startToyRun(graphOf(program.definition)),
): ToyRun {
  const random = randomOf(seed);
  const rounds = new Map<string, number>();
  onReports(run, []);
  for (let turn = 0; turn < 3_000; turn++) {
    const open = openOf(run);
    if (open.length === 0) return run;
    const reports: Report[] = [];
    for (let count = random() < 0.3 ? 2 : 1; count > 0 && open.length > 0; count--) {
      const [actor] = open.splice(Math.floor(random() * open.length), 1);
      if (actor === undefined) break;
      const { id, item } = actor;
      const script = item > 0 ? ["ok", "ok", "ok", "fail"] : (program.scripts[id] ?? ["ok"]);
      const round = rounds.get(id) ?? 0;
      if (item === 0) rounds.set(id, round + 1);
      const at = item > 0 ? Math.floor(random() * 4) : Math.min(round, script.length - 1);
      const report = { id, item, step: script[at] ?? "ok", output: `${turn}.${count}` };
      reports.push(report);
      append(run, actor, outcomeOf(program, actor, report));
    }
    run.plan();
    onReports(run, reports);
  }
  throw new Error("the program does not end");
}

interface Actor extends Pick<Report, "id" | "item"> {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly isMap: boolean;
}

/** A compensation counts as an item. */
const openOf = ({ state }: ToyRun): Actor[] =>
  [...executionsOf(state)].flatMap(([nodeIndex, iteration, { status }]) => {
    const definition = state.graph.nodes[nodeIndex]?.definition;
    if (status !== "queued" || definition === undefined) return [];
    const item = iteration - (state.nodes[nodeIndex]?.base ?? 0);
    return [{ nodeIndex, id: definition.id, iteration, item, isMap: definition.scope !== null }];
  });

function append(run: ToyRun, { nodeIndex, id, iteration }: Actor, outcome: Outcome): void {
  const epoch = run.claim(`${id}#${iteration}`);
  const landing = { nodeIndex, iteration, epoch, executorId: EXECUTOR, jitter: 1, now: run.now };
  const arrival = onOutcome(run.state, { ...landing, outcome });
  if (arrival.kind !== "accepted") throw new Error(`${id}#${iteration} is ${arrival.kind}`);
  arrival.facts.forEach(run.append);
}

/** The node that a step names as the next one. */
export const jumpOf = (step: Step): string | undefined => /^(?:goto|handoff):(.*)$/.exec(step)?.[1];

/** A step that leaves by a handle or by a jump also writes its output to the key `last` of the memory. */
function outcomeOf({ widths }: Program, { isMap, item }: Actor, report: Report): Outcome {
  const { id, step, output } = report;
  if (step === "fail") return failed("provider_error", true);
  if (isMap && item === 0) return expanded(Array.from({ length: widths[id] ?? 0 }, () => null));
  const target = jumpOf(step);
  const actions = [
    { type: "update_memory", valuesJson: JSON.stringify({ last: output }) },
  ] as const;
  if (target === undefined)
    return completed(output, step === "ok" ? {} : { handle: step, actions });
  const kind = step.startsWith("goto") ? "goto" : "handoff";
  return completed(output, { goto: { nodeId: nodeId(target), kind, reason: "" }, actions });
}
