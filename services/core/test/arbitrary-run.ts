// Random definitions and what their handlers will do, and a player that drives a run to its end in a given order.

import * as fc from "fast-check";
import { decide } from "../src/plan/plan.ts";
import type { Outcome } from "../src/plan/result.ts";
import { completed, failed, graphOf, startToyRun, type ToyRun } from "./toy-run.ts";

/** What each delivery of a node does; the last entry repeats. */
type Script = readonly (
  | "ok"
  | "a"
  | "b"
  | "error"
  | "fail"
  | "timeout"
  | "permanent"
  | "cancelled"
  | "lost"
)[];

export interface Scenario {
  readonly definition: {
    readonly nodes: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[];
    readonly edges: readonly { readonly source: string; readonly target: string }[];
  };
  readonly scripts: Readonly<Record<string, Script>>;
}

const handles = fc.constantFrom(null, null, null, "a", "b", "error");
const steps = fc.constantFrom(
  "ok",
  "ok",
  "ok",
  "a",
  "b",
  "error",
  "fail",
  "timeout",
  "permanent",
  "cancelled",
  "lost",
);

/** A DAG of 1 to `nodesMax` nodes with joins, handles, policies, retries and scripted handlers. */
export function scenarios(
  nodesMax: number,
  options: { readonly fatal: boolean },
): fc.Arbitrary<Scenario> {
  const node = fc.record({
    join: fc.constantFrom("all", "all", "any", "n"),
    on_parent_failure: fc.constantFrom("skip", "propagate", "substitute_default"),
    error_handling: fc.constantFrom(
      undefined,
      "continue",
      "fail_node",
      ...(options.fatal ? ["fail_workflow"] : []),
    ),
    attempts: fc.integer({ min: 1, max: 3 }),
    parents: fc.array(fc.tuple(fc.nat(), handles), { maxLength: 4 }),
    script: fc.array(steps, { minLength: 1, maxLength: 4 }),
  });
  return fc.array(node, { minLength: 1, maxLength: nodesMax, size: "max" }).map((drawn) => {
    const nameOf = (index: number): string => `n${index}`;
    const edges = drawn.flatMap(({ parents }, index) =>
      index === 0
        ? []
        : parents.map(([parent, handle]) => ({
            source: nameOf(parent % index),
            target: nameOf(index),
            ...(handle === null ? {} : { source_handle: handle }),
          })),
    );
    const nodes = drawn.map((each, index) => {
      const incoming = edges.filter((edge) => edge.target === nameOf(index)).length;
      const n = Math.max(1, Math.ceil(incoming / 2));
      const join = each.join !== "n" ? each.join : incoming === 0 ? "all" : { n_of_m: n };
      return {
        id: nameOf(index),
        type: index === 0 ? "start" : "task",
        join,
        on_parent_failure: each.on_parent_failure,
        error_handling: each.error_handling,
        retry: { attempts: each.attempts },
      };
    });
    const scripts = Object.fromEntries(drawn.map(({ script }, index) => [nameOf(index), script]));
    return { definition: { nodes, edges }, scripts };
  });
}

/** A small seeded generator: the order of arrivals is a function of the seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const outcomeOf = (id: string, step: Exclude<Script[number], "lost">): Outcome => {
  if (step === "ok") return completed({ from: id });
  if (step === "a" || step === "b" || step === "error")
    return completed({ from: id }, { handle: step });
  if (step === "fail") return failed("provider_error");
  if (step === "timeout") return failed("timeout");
  return step === "permanent" ? failed("provider_error", true) : failed("cancelled");
};

export interface Play {
  readonly run: ToyRun;
  readonly steps: number;
}

/** Plays a scenario to its end: at each step one queued node starts or one running node reports, drawn by `seed`. */
export function play(
  scenario: Scenario,
  seed: number,
  onStep: (run: ToyRun) => void = () => undefined,
): Play {
  const random = randomOf(seed);
  const run = startToyRun(graphOf(scenario.definition), { seed: "fixed" });
  const delivered = new Map<string, number>();
  let count = 0;
  onStep(run);
  for (;;) {
    const actors = scenario.definition.nodes.filter(({ id }) =>
      /queued|running/.test(run.node(id).status),
    );
    const actor = actors[Math.floor(random() * actors.length)];
    if (actor === undefined) return { run, steps: count };
    count++;
    if (run.node(actor.id).status === "queued") run.claim(actor.id);
    else {
      const script = scenario.scripts[actor.id] ?? ["ok"];
      const delivery = delivered.get(actor.id) ?? 0;
      delivered.set(actor.id, delivery + 1);
      const step = script[Math.min(delivery, script.length - 1)] ?? "ok";
      if (step === "lost") run.lose(actor.id);
      else run.report(actor.id, outcomeOf(actor.id, step));
    }
    onStep(run);
  }
}

/** Facts of one planning round, in the oracle's words. */
export const decideInWords = (run: ToyRun): string[] =>
  decide(run.state, run.now)
    .map((fact) => {
      const reason = fact.type === "node.skipped" ? ` ${fact.payload.reason}` : "";
      return `${fact.type}${fact.nodeId && ` ${fact.nodeId}`}${reason}`;
    })
    .toSorted();
