import { expect, test } from "vitest";
import { checkLog } from "../log/check.ts";
import { contextJson } from "../log/context.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import { parseDefinition } from "../definition/parse.ts";
import { graphOf, startToyRun, type ToyRun } from "../../test/toy-run.ts";

const LEAD = { routes: [{ id: "work", when: "true" }], max_iterations: 3 };

const DEFINITION = {
  nodes: [
    { id: "lead", type: "supervisor", config: LEAD },
    { id: "worker", type: "task" },
    { id: "after", type: "task" },
  ],
  edges: [
    { source: "lead", target: "worker", source_handle: "work" },
    { source: "worker", target: "lead", loop: true },
    { source: "lead", target: "after", source_handle: "done" },
  ],
};

const decide = (run: ToyRun, at: number, route: string, reason = "why"): void =>
  run.complete(at === 0 ? "lead" : `lead#${at}`, { route, reason }, { handle: route });

test("each decision is in the folded state, with its round, its reason and its event (S2.26)", () => {
  const run = startToyRun(graphOf(DEFINITION));
  decide(run, 0, "work", "first");
  run.complete("worker");
  decide(run, 1, "done", "enough");
  const { supervisorHistory: history } = run.state;
  expect(history).toEqual([
    { nodeId: "lead", iteration: 0, route: "work", reason: "first", seq: 4, at: 1_000 },
    {
      nodeId: "lead",
      iteration: 1,
      route: "done",
      reason: "enough",
      seq: expect.any(Number),
      at: 1_000,
    },
  ]);
  expect(run.events.find(({ seq }) => seq === history[1]?.seq)).toMatchObject({
    type: "node.completed",
    iteration: 1,
  });
  checkLog(run.events);
  const body = writeSnapshot(run.state);
  const read = readSnapshot(run.state.runId, run.state.graph, { format: SNAPSHOT_FORMAT, body });
  expect(read?.supervisorHistory).toEqual(history);
});

test("a supervisor gets its earlier decisions, and no other node does", () => {
  const run = startToyRun(graphOf(DEFINITION));
  decide(run, 0, "work", "first");
  const contextOf = (id: string, at: number): Readonly<Record<string, unknown>> =>
    JSON.parse(contextJson(run.state, run.index(id), at)) as Readonly<Record<string, unknown>>;
  expect(contextOf("worker", 0)["decisions"]).toBeUndefined();
  run.complete("worker");
  expect(contextOf("lead", 1)["decisions"]).toEqual([{ route: "work", reason: "first" }]);
});

test("a worker that fails, or leaves by error, does not lead back", () => {
  const run = startToyRun(graphOf(DEFINITION));
  decide(run, 0, "work");
  run.fail("worker", "x", true);
  expect(run.state.status).toBe("failed");
});

const violationsOf = (change: object): string[] => {
  const parsed = parseDefinition(JSON.stringify({ ...DEFINITION, ...change }));
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
};
const withLead = (config: object) => ({
  nodes: [{ id: "lead", type: "supervisor", config }, ...DEFINITION.nodes.slice(1)],
});

test("a supervisor without rules for every route needs a model, and its handles are known", () => {
  expect(violationsOf({})).toEqual([]);
  const route = { id: "work" };
  expect(violationsOf(withLead({ routes: [route] }))).toEqual(["nodes[0].config BAD_ROUTE"]);
  expect(violationsOf(withLead({ routes: [route], model: "m" }))).toContain(
    "nodes[0].config WRONG_TYPE",
  );
  expect(violationsOf(withLead({ routes: [route], model: "m", prompt: "p" }))).toEqual([]);
  expect(violationsOf(withLead({ routes: [{ id: "work", when: "((" }] }))).toEqual([
    "nodes[0].config.routes[0].when EXPRESSION_SYNTAX",
  ]);
  const names = [
    { id: "work", when: "true" },
    { id: "work", when: "true" },
    { id: "error", when: "true" },
  ];
  expect(violationsOf(withLead({ routes: names })).toSorted()).toEqual([
    "nodes[0].config.routes[1].id DUPLICATE_ID",
    "nodes[0].config.routes[2].id RESERVED_KEY",
  ]);
  const lost = { source: "lead", target: "after", source_handle: "elsewhere" };
  expect(violationsOf({ edges: [...DEFINITION.edges, lost] })).toEqual([
    "edges[3].source_handle UNDECLARED_HANDLE",
  ]);
});

test("a loop edge without a handle leads only to a supervisor, and nothing else leaves its source", () => {
  const [, back] = DEFINITION.edges;
  expect(
    violationsOf({ nodes: [{ id: "lead", type: "task" }, ...DEFINITION.nodes.slice(1)] }),
  ).toEqual(["edges[1] UNBOUNDED_LOOP"]);
  const more = [...DEFINITION.edges, { source: "worker", target: "after" }];
  expect(violationsOf({ edges: more })).toEqual(["edges[1].source_handle BAD_LOOP"]);
  expect(violationsOf({ edges: [...DEFINITION.edges, { ...back, target: "worker" }] })).not.toEqual(
    [],
  );
});
