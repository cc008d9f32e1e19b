// Random definitions and what their handlers will do, and a player that drives a run to its end in a given order.

import * as fc from "fast-check";
import type { Fact } from "../src/log/event.ts";
import { executionsOf } from "../src/log/execution.ts";
import type { ExecutionState } from "../src/log/state.ts";
import { onDecision } from "../src/plan/decide.ts";
import { decide } from "../src/plan/plan.ts";
import type { Outcome } from "../src/plan/result.ts";
import { agentConfig, turnOutcome } from "./arbitrary-agent.ts";
import { togglePause } from "./toggle-pause.ts";
import {
  completed,
  expanded,
  failed,
  graphOf,
  nameOf,
  startToyRun,
  type ToyRun,
} from "./toy-run.ts";

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
  | "stop"
  | "hold"
  | "refuse"
)[];

export interface Scenario {
  readonly definition: {
    readonly nodes: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[];
    readonly edges: readonly { readonly source: string; readonly target: string }[];
  };
  readonly scripts: Readonly<Record<string, Script>>;
  /** Items of the maps and loops, and whether there would be more. */
  readonly scopes: Readonly<Record<string, { readonly width: number; readonly cut: boolean }>>;
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
  "hold",
  "refuse",
);

const drawnScope = (racy: boolean) =>
  fc.record({
    width: fc.nat(6),
    cut: fc.boolean(),
    parallelism: fc.integer({ min: 1, max: 4 }),
    on_item_failure: fc.constantFrom("continue", ...(racy ? ["fail"] : [])),
    script: fc.array(fc.oneof(steps, fc.constant("stop" as const)), {
      minLength: 1,
      maxLength: 4,
    }),
  });

/**
 * A DAG of 1 to `nodesMax` nodes with joins, handles, policies, retries, maps, loops and scripted handlers. Unless `racy`, nothing
 * hangs on which of several iterations fails first.
 */
export function scenarios(
  nodesMax: number,
  options: { readonly fatal: boolean; readonly racy?: boolean },
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
    type: fc.constantFrom("task", "task", "task", "map", "loop", "agent"),
    scope: drawnScope(options.racy ?? true),
  });
  return fc.array(node, { minLength: 1, maxLength: nodesMax, size: "max" }).map((drawn) => {
    const idOf = (index: number): string => `n${index}`;
    const edges = drawn.flatMap(({ parents }, index) =>
      index === 0
        ? []
        : parents.map(([parent, handle]) => ({
            source: idOf(parent % index),
            target: idOf(index),
            ...handleOf(handle, parent % index === 0 ? "start" : drawn[parent % index]?.type),
          })),
    );
    const nodes = drawn.map((each, index) => {
      const incoming = edges.filter((edge) => edge.target === idOf(index)).length;
      const n = Math.max(1, Math.ceil(incoming / 2));
      const join = each.join !== "n" ? each.join : incoming === 0 ? "all" : { n_of_m: n };
      return {
        id: idOf(index),
        ...(index === 0 ? { type: "start" } : typeOf(each)),
        join,
        on_parent_failure: each.on_parent_failure,
        error_handling: each.error_handling,
        retry: { attempts: each.attempts },
      };
    });
    const scripts = Object.fromEntries(
      drawn.flatMap(({ script, scope }, index) => [
        [idOf(index), script],
        ...Array.from({ length: scope.width }, (_, at) => [
          `${idOf(index)}#${at + 1}`,
          // Each iteration has a turn of the script of its own.
          [...scope.script.slice(at % scope.script.length), ...scope.script].slice(0, 4),
        ]),
      ]),
    );
    const scopes = Object.fromEntries(
      drawn.map(({ type, scope: { width, cut } }, index) => [
        idOf(index),
        { width, cut: cut && type === "loop" },
      ]),
    );
    return { definition: { nodes, edges }, scripts, scopes };
  });
}

/** A map or a loop is left by handles of its own. */
function handleOf(handle: string | null, sourceType = ""): object {
  if (handle === null) return {};
  const own = sourceType === "map" || sourceType === "loop" ? { a: "loop", b: "done" } : {};
  return { source_handle: Object.entries(own).find(([name]) => name === handle)?.[1] ?? handle };
}

interface DrawnScope {
  readonly parallelism: number;
  readonly on_item_failure: string;
}

function typeOf(drawn: {
  readonly type: string;
  readonly attempts: number;
  readonly scope: DrawnScope;
}): object {
  const { type, attempts, scope } = drawn;
  const body = { type: "task", retry: { attempts } };
  const { parallelism, on_item_failure } = scope;
  if (type === "loop") return { type, config: { times: 1, body } };
  if (type === "agent") return { type, config: agentConfig(attempts, on_item_failure) };
  if (type !== "map") return { type };
  return { type, config: { items: [], body, parallelism, on_item_failure } };
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

/** A person is asked about the output; `decideHeld` answers. */
const held = (id: string): Outcome => ({
  kind: "held",
  reason: "moderation_hold",
  phase: "output",
  outputJson: JSON.stringify({ from: id }),
  durationMs: 1,
});

const outcomeOf = (id: string, step: Exclude<Script[number], "lost">): Outcome => {
  if (step === "hold" || step === "refuse") return held(id);
  if (step === "ok") return completed({ from: id });
  if (step === "a" || step === "b" || step === "error")
    return completed({ from: id }, { handle: step });
  if (step === "fail") return failed("provider_error");
  if (step === "timeout") return failed("timeout");
  if (step === "stop") return completed({ from: id }, { stop: true });
  return step === "permanent" ? failed("provider_error", true) : failed("cancelled");
};

interface Play {
  readonly run: ToyRun;
  readonly steps: number;
}

/** Plays a scenario to its end: at each step one queued node starts or one running node reports, drawn by `seed`. */
export function play(
  scenario: Scenario,
  seed: number,
  onStep: (run: ToyRun) => void = () => undefined,
  { pauses = false }: { readonly pauses?: boolean } = {},
): Play {
  const random = randomOf(seed);
  const randomPause = randomOf(seed + 1);
  const run = startToyRun(graphOf(scenario.definition), { seed: "fixed" });
  const delivered = new Map<string, number>();
  let count = 0;
  onStep(run);
  for (;;) {
    if (pauses && randomPause() < 0.3) togglePause(run);
    const actors = executionsIn(run).filter((id) => isMovable(run, run.execution(id)));
    const actor = actors[Math.floor(random() * actors.length)];
    if (actor === undefined && run.state.status === "paused") {
      togglePause(run);
      continue;
    }
    if (actor === undefined) return { run, steps: count };
    count++;
    if (run.execution(actor).status === "queued") run.claim(actor);
    else if (run.execution(actor).hold !== undefined) {
      const script = scenario.scripts[actor] ?? [];
      const step = script[Math.min((delivered.get(actor) ?? 0) - 1, script.length - 1)];
      decideHeld(run, actor, step === "refuse" ? "reject" : "approve");
    } else {
      const script = scenario.scripts[actor] ?? ["ok"];
      const delivery = delivered.get(actor) ?? 0;
      delivered.set(actor, delivery + 1);
      const step = script[Math.min(delivery, script.length - 1)] ?? "ok";
      if (step === "lost") run.lose(actor);
      else run.report(actor, scopeOutcome(run, scenario, actor, step) ?? outcomeOf(actor, step));
    }
    onStep(run);
  }
}

const isMovable = (run: ToyRun, { status, hold }: ExecutionState): boolean =>
  (status === "queued" && run.state.status !== "paused") ||
  status === "running" ||
  (status === "waiting" && hold !== undefined);

/** A person decides about an execution that is held. */
function decideHeld(run: ToyRun, actor: string, decision: "approve" | "reject"): void {
  const nodeIndex = run.index(actor);
  const iteration = Number(actor.split("#")[1] ?? 0);
  const said = { decision, comment: "", requestId: "", now: run.now };
  const result = onDecision(run.state, { nodeIndex, iteration, ...said });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
}

/** Nodes in the order of the definition, each followed by its iterations, then the compensations. */
const executionsIn = ({ state }: ToyRun): string[] =>
  [...executionsOf(state)].map(([index, iteration]) =>
    nameOf({ nodeId: state.graph.nodes[index]?.definition.id ?? "", iteration }),
  );

/** A map or a loop that would complete gives its items instead, an agent its opening, and a turn its calls. */
function scopeOutcome(
  run: ToyRun,
  scenario: Scenario,
  actor: string,
  step: Script[number],
): Outcome | undefined {
  const { scope } = run.state.graph.nodes[run.index(actor)]?.definition ?? {};
  const [id = "", item] = actor.split("#");
  if (!scope || !/^(ok|a|b|error|stop)$/.test(step)) return undefined;
  const { width = 0, cut = false } = scenario.scopes[id] ?? {};
  if (item !== undefined) return turnOutcome(run.node(id), Number(item), width);
  if (step === "stop") return undefined;
  if (scope.agent !== undefined) return expanded([{ model: "m" }]);
  const items = Array.from({ length: width }, (_, at) => at);
  return expanded(items, cut);
}

/** A fact of the planner in the oracle's words. */
export function inWords(fact: Fact): string {
  const more =
    fact.type === "node.skipped"
      ? ` ${fact.payload.reason}`
      : fact.type === "node.completed"
        ? ` ${fact.payload.handle ?? ""}`
        : fact.type === "run.status.changed"
          ? ` ${fact.payload.to}`
          : "";
  return `${fact.type}${fact.nodeId && ` ${nameOf(fact)}`}${more}`;
}

/** Facts of one planning round, in the oracle's words. */
export const decideInWords = (run: ToyRun): string[] =>
  decide(run.state, run.now).map(inWords).toSorted();
