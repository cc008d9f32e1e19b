// The graphs that the benches run. `start` and `end` are there because definitions need them; only steps are counted.

import { STEP } from "./steps.ts";

interface Shape {
  readonly nodes: readonly {
    readonly id: string;
    readonly type: string;
    readonly config?: object;
  }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly source_handle?: string;
  }[];
}

const START = { id: "start", type: "start" };
const step = (id: string, type = STEP) => ({ id, type });

/** `length` steps in a row, of the type of the benches' steps unless another is given. */
export function chainOf(length: number, type?: string): Shape {
  const nodes = [START, ...Array.from({ length }, (_, index) => step(`n${index + 1}`, type))];
  const edges = nodes.slice(1).map((node, index) => ({
    source: nodes[index]?.id ?? "",
    target: node.id,
  }));
  return { nodes, edges };
}

/** One step, `width` beside each other, one that joins them. */
export function fanOf(width: number): Shape {
  const middle = Array.from({ length: width }, (_, index) => step(`m${index + 1}`));
  return {
    nodes: [START, step("fork"), ...middle, step("join")],
    edges: [
      { source: "start", target: "fork" },
      ...middle.flatMap(({ id }) => [
        { source: "fork", target: id },
        { source: id, target: "join" },
      ]),
    ],
  };
}

/** A map over `width` numbers, with a step as its body. */
export function mapOf(width: number, parallelism: number): Shape {
  const items = Array.from({ length: width }, (_, index) => index);
  const config = { items, parallelism, body: { type: STEP } };
  return {
    nodes: [START, { id: "each", type: "map", config }],
    edges: [{ source: "start", target: "each" }],
  };
}

/** Two steps with a condition between them: what most small workflows are. */
export function glueOf(): Shape {
  const branches = [{ id: "yes", when: "!has(ctx.input.skip)" }];
  return {
    nodes: [
      START,
      step("first"),
      { id: "check", type: "condition", config: { branches } },
      step("second"),
      { id: "end", type: "end" },
    ],
    edges: [
      { source: "start", target: "first" },
      { source: "first", target: "check" },
      { source: "check", target: "second", source_handle: "yes" },
      { source: "second", target: "end" },
    ],
  };
}
