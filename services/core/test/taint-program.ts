// Random workflows for the properties of labels, and their executors. Every source writes a marker with its label into its output, and every
// other node writes what it reads into its output. So the values themselves say which labels they should have.

import * as fc from "fast-check";
import { handlerInput } from "../src/data/handler-input.ts";
import type { NodeContext } from "../src/data/scope.ts";
import type { Graph } from "../src/definition/graph.ts";
import { contextJson } from "../src/log/context.ts";
import { bindingsOf } from "../src/log/node-json.ts";
import { executionDefinition, roundOf } from "../src/log/execution.ts";
import type { RunState } from "../src/log/state.ts";
import { runId } from "../src/name/ids.ts";
import { madeTaint } from "../src/plan/label.ts";
import { onChildEnd } from "../src/plan/child-end.ts";
import type { Outcome } from "../src/plan/result.ts";
import { movedTo, sourceLabel, type Taint } from "../src/policy/taint.ts";
import { completed, graphOf, startToyRun, type ToyRun } from "./toy-run.ts";

const CHILD = runId("0199a000-0000-7000-8000-0000000000c1");

const drawnNode = fc.record({
  kind: fc.constantFrom("http", "tool", "tool", "llm", "llm", "remember", "map", "loop", "child"),
  reads: fc.constantFrom("parent", "variable", "memory", "input", "nothing"),
  parents: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
  isBound: fc.boolean(),
  hasVariable: fc.boolean(),
  writeKey: fc.constantFrom(null, null, "k1", "k2"),
  acts: fc.constantFrom(null, null, "k1", "k2"),
  other: fc.nat(),
});
type DrawnNode = typeof drawnNode extends fc.Arbitrary<infer T> ? T : never;

interface TaintProgram {
  readonly graph: Graph;
  /** The key that an execution of a node writes by an action. */
  readonly acts: ReadonlyMap<string, string>;
  readonly hasUntrustedInput: boolean;
  /** Decides who is next. */
  readonly steps: readonly number[];
}

const templateOf = ({ reads, parents, other }: DrawnNode, index: number): string => {
  if (reads === "parent") return `{{ ctx.nodes.n${(parents[0] ?? 0) % (index + 1)} }}`;
  if (reads === "variable") return `{{ ctx.v${other % (index + 1)} }}`;
  if (reads === "memory") return `{{ ctx.memory.${other % 2 === 0 ? "k1" : "k2"} }}`;
  return reads === "input" ? "{{ ctx.input }}" : "nothing";
};

function configOf(node: DrawnNode, index: number): { type: string; config: object } {
  const text = templateOf(node, index);
  const body =
    node.other % 2 === 0
      ? { type: "tool" }
      : { type: "llm", config: { model: "m", prompt: `${text} {{ item }}` } };
  switch (node.kind) {
    case "http":
      return { type: "http", config: { url: `https://example.org/${text}` } };
    case "llm":
      return { type: "llm", config: { model: "m", prompt: text } };
    case "remember":
      return { type: "remember", config: { values: { k1: text } } };
    case "map":
      return { type: "map", config: { items: [text, "plain"], body } };
    case "loop":
      return { type: "loop", config: { items: ["plain", "plain"], body } };
    case "child":
      return { type: "subworkflow", config: { workflow_id: "child", input: { given: text } } };
    case "tool":
      return { type: "tool", config: {} };
    default:
      throw new Error(`there is no kind ${String(node.kind)}`);
  }
}

/** Programs whose policies are these. */
export const taintPrograms = (policies: readonly object[] = []): fc.Arbitrary<TaintProgram> =>
  fc
    .record({
      drawn: fc.array(drawnNode, { minLength: 2, maxLength: 9 }),
      repeats: fc.boolean(),
      hasUntrustedInput: fc.boolean(),
      steps: fc.array(fc.nat(), { minLength: 200, maxLength: 200 }),
    })
    .map(({ drawn, repeats, hasUntrustedInput, steps }) => {
      const nodes = drawn.map((node, index) => ({
        id: `n${index + 1}`,
        ...configOf(node, index),
        on_parent_failure: "substitute_default",
        ...(node.hasVariable ? { output_variable: `v${index + 1}` } : {}),
        ...(node.writeKey === null ? {} : { write_key: node.writeKey }),
      }));
      const last = nodes.length;
      const edges = drawn.flatMap(({ parents, isBound }, index) =>
        [...new Set(parents.map((at) => at % (index + 1)))].map((source) => ({
          source: `n${source}`,
          target: `n${index + 1}`,
          ...(isBound ? { target_param_label: "given", merge_strategy: "array" } : {}),
        })),
      );
      const back = (drawn[last - 1]?.parents[0] ?? 0) % last;
      const loops =
        repeats && back > 0 && nodes[last - 1]?.type === "tool"
          ? [{ source: `n${last}`, target: `n${back}`, source_handle: "again", loop: true }]
          : [];
      const graph = graphOf({
        memory: { k2: { merge: "array" } },
        nodes: [{ id: "n0", type: "start" }, ...nodes],
        edges: [...edges, ...loops],
        policies: policies.filter((policy) => isPossible(policy, nodes)),
      });
      const acts = new Map(
        drawn.flatMap(({ acts: key }, index) => (key === null ? [] : [[`n${index + 1}`, key]])),
      );
      return { graph, acts, hasUntrustedInput, steps };
    });

/** A policy may name only types that the workflow has. */
const isPossible = (policy: object, nodes: readonly { readonly type: string }[]): boolean =>
  "types" in policy &&
  Array.isArray(policy.types) &&
  policy.types.every((type) => nodes.some((node) => node.type === type));

/** The labels whose markers a value contains. */
export const markersIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/@(\w+)@/g)].map(([, label = ""]) => label));

interface Claimed {
  readonly id: string;
  readonly outcome: Outcome;
}

/** What an executor makes of its context at the moment of its claim. */
function outcomeOf({ graph, acts }: TaintProgram, state: RunState, at: At): Outcome {
  const text = contextJson(state, at.nodeIndex, at.iteration);
  const { type, config } = executionDefinition(state, at.nodeIndex, at.iteration);
  const definition = graph.nodes[at.nodeIndex]?.definition;
  if (definition === undefined) throw new Error("no node");
  const context = JSON.parse(text) as NodeContext;
  const made = handlerInput(definition, bindingsOf(graph, at.nodeIndex), context);
  if (!made.ok) throw new Error(made.message);
  const rendered = made.render(config);
  if (!rendered.ok) throw new Error(rendered.message);
  const label = sourceLabel(type, config);
  const seen = type === "tool" ? text : JSON.stringify(rendered.value);
  const output = `${label === undefined ? "" : `@${label}@`}${seen.slice(0, 4_000)}`;
  if (type === "subworkflow") {
    const { input } = rendered.value as { readonly input: unknown };
    const child = { workflowId: "child", version: 0, childRunId: CHILD };
    return { kind: "child_run", ...child, inputJson: JSON.stringify(input), durationMs: 1 };
  }
  const key = acts.get(definition.id);
  const isLast = at.nodeIndex === graph.nodes.length - 1;
  const again = isLast && type === "tool" && state.nodes[at.nodeIndex]?.round === 0;
  return completed(output, {
    ...(again ? { handle: "again" } : {}),
    ...(key === undefined
      ? {}
      : { actions: [{ type: "update_memory", valuesJson: JSON.stringify({ [key]: output }) }] }),
  });
}

interface At {
  readonly nodeIndex: number;
  readonly iteration: number;
}

const executionsWhere = (state: RunState, status: string): At[] =>
  state.nodes.flatMap((node, nodeIndex) =>
    roundOf(node).flatMap(([iteration, execution]) =>
      execution.status === status ? [{ nodeIndex, iteration }] : [],
    ),
  );

const CHILD_GRAPH = graphOf({
  nodes: [
    { id: "s", type: "start" },
    { id: "echo", type: "tool" },
    { id: "e", type: "end", config: { output_parameters: { all: "{{ ctx.nodes.echo }}" } } },
  ],
  edges: [
    { source: "s", target: "echo" },
    { source: "echo", target: "e" },
  ],
});

/** Ends the child run of a node that waits for it. */
function endChild(run: ToyRun, at: At, input: string, taint: Taint | undefined): void {
  const child = startToyRun(CHILD_GRAPH, JSON.parse(input), everything(), [], movedTo("", taint));
  child.claim("echo");
  child.report("echo", completed(input));
  const { nodeIndex, iteration } = at;
  const ended = { ...child.state, runId: CHILD };
  const result = onChildEnd(run.state, { nodeIndex, iteration, child: ended, now: run.now });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
}

const everything = () => ({ mayComplete: () => true, bytes: Infinity });

/** Plays a program: claims, reports and ends of child runs in the order of its steps. An executor reads at its claim, and reports later. */
export function playTaint(
  program: TaintProgram,
  onClaim: (run: ToyRun, at: At) => void = () => {},
) {
  const taint: Taint | undefined = program.hasUntrustedInput
    ? [{ label: "input", nodeId: "" }]
    : undefined;
  const input = program.hasUntrustedInput ? "@input@" : "plain";
  const run = startToyRun(program.graph, input, everything(), [], taint);
  const { state } = run;
  const open: Claimed[] = [];
  const children = new Map<string, string>();
  const nameOf = ({ nodeIndex, iteration }: At): string =>
    `${program.graph.nodes[nodeIndex]?.definition.id}#${iteration}`;
  for (const step of program.steps) {
    const queued = executionsWhere(state, "queued");
    const waiting = executionsWhere(state, "waiting").filter((at) => children.has(nameOf(at)));
    // The round of a claim may be over.
    const running = new Set(executionsWhere(state, "running").map(nameOf));
    const claimed = open.filter(({ id }) => running.has(id));
    const all = queued.length + waiting.length + claimed.length;
    if (all === 0) break;
    const at = step % all;
    const toClaim = queued[at];
    const toReport = claimed[at - queued.length];
    const toEnd = waiting[at - queued.length - claimed.length];
    if (toClaim !== undefined) {
      const id = nameOf(toClaim);
      onClaim(run, toClaim);
      const outcome = outcomeOf(program, state, toClaim);
      run.claim(id);
      open.push({ id, outcome });
    } else if (toReport !== undefined) {
      open.splice(open.indexOf(toReport), 1);
      if (toReport.outcome.kind === "child_run")
        children.set(toReport.id, toReport.outcome.inputJson);
      run.report(toReport.id, toReport.outcome);
    } else if (toEnd !== undefined) {
      const name = nameOf(toEnd);
      const given = children.get(name) ?? "null";
      children.delete(name);
      const made = madeTaint(state, toEnd, {});
      endChild(run, toEnd, given, made);
    }
  }
  return run;
}
