import { expect, test } from "vitest";
import { checkLog } from "../log/check.ts";
import { contextJson } from "../log/context.ts";
import { partOf, executionDefinition } from "../log/execution.ts";
import { fold } from "../log/fold.ts";
import { nodeJson } from "../log/node-json.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import { view } from "../log/view.ts";
import {
  completed,
  expanded,
  failed,
  graphOf,
  startToyRun,
  type ToyRun,
} from "../../test/toy-run.ts";
import { onCancel } from "./stop.ts";

const TOOLS = [
  { name: "search", type: "acme.search", retry: { attempts: 2 }, config: { index: "books" } },
  { name: "pay", type: "acme.pay", on_error: "fail", timeout_ms: 7_000 },
  "save_to_memory",
];

const WHOLE = () => ({ mayComplete: () => true, bytes: 1_000_000 });

const begin = (config: object = {}, node: object = {}): ToyRun => {
  const agent = { id: "a", type: "agent", write_key: "answer", ...node };
  const graph = graphOf({
    nodes: [
      { id: "s", type: "start" },
      { ...agent, config: { model: "m", prompt: "p", tools: TOOLS, ...config } },
      { id: "z", type: "end" },
    ],
    edges: [
      { source: "s", target: "a" },
      { source: "a", target: "z" },
    ],
  });
  const run = startToyRun(graph, { q: 1 }, WHOLE());
  run.claim("a");
  run.report("a", expanded([{ model: "m", messages: [] }]));
  return run;
};

type Called = readonly [name: string, args: unknown, fault?: string];

/** A turn that answers with a text and calls. */
const turn = (text: string, ...called: readonly Called[]) =>
  completed(
    {
      text,
      tool_calls: called.map(([name, args], at) => ({ id: `c${at}`, name, arguments: args })),
      finish_reason: "stop",
    },
    {
      usage: { inputTokens: 10, outputTokens: 1 },
      calls: called.map(([name, , fault], at) => ({
        id: `c${at}`,
        name,
        ...(fault === undefined ? {} : { fault }),
      })),
    },
  );

const say = (run: ToyRun, id: string, ...said: Parameters<typeof turn>): void => {
  run.claim(id);
  run.report(id, turn(...said));
};

const itemOf = (run: ToyRun, iteration: number): unknown =>
  (JSON.parse(contextJson(run.state, run.index("a"), iteration)) as { item: unknown }).item;

/** The log is right, and the fold, a snapshot of it and the state agree. */
function checked(run: ToyRun): ToyRun {
  checkLog(run.events);
  const { graph, runId } = run.state;
  const folded = fold(runId, graph, run.events);
  // The planner empties its work lists.
  folded.scopes.clear();
  folded.frontier.clear();
  expect(folded).toEqual(run.state);
  const body = writeSnapshot(run.state);
  expect(readSnapshot(runId, graph, { format: SNAPSHOT_FORMAT, body })).toEqual(run.state);
  const seen = view(run.events);
  run.state.nodes[run.index("a")]?.scope?.items.forEach((item, at) =>
    expect(seen.nodes.get(`a#${at + 1}`)?.status).toBe(item.status),
  );
  return run;
}

test("an agent asks its model, runs the calls, and asks again with their results (S2.36)", () => {
  const run = begin();
  expect(run.node("a").status).toBe("waiting");
  say(run, "a#1", "I look.", ["search", { word: "pawl" }], ["pay", { cents: 5 }]);
  expect([run.execution("a#2").status, run.execution("a#3").status]).toEqual(["queued", "queued"]);
  expect(executionDefinition(run.state, run.index("a"), 2).type).toBe("acme.search");
  expect(itemOf(run, 2)).toEqual({ word: "pawl" });
  run.complete("a#3", { receipt: "r" });
  expect(run.state.nodes[run.index("a")]?.scope?.items).toHaveLength(3);
  run.complete("a#2", ["a book"]);
  expect(itemOf(run, 4)).toMatchObject({
    opening: { model: "m" },
    turns: [
      {
        answer: { text: "I look." },
        results: [
          { id: "c0", name: "search", output: ["a book"] },
          { id: "c1", name: "pay", output: { receipt: "r" } },
        ],
      },
    ],
  });
  say(checked(run), "a#4", "Done.");
  expect(run.state.status).toBe("completed");
  expect(JSON.parse(run.node("a").output ?? "")).toEqual({
    text: "Done.",
    finish_reason: "stop",
    turns: 2,
    tool_calls: 2,
    usage: { input_tokens: 20, output_tokens: 2 },
  });
  checked(run);
});

test("the text of the last turn goes to the write key (S2.31), and the state forgets the conversation (S2.36)", () => {
  const run = begin();
  say(run, "a#1", "secret thought", ["search", { word: "x" }]);
  run.complete("a#2", "secret result");
  say(run, "a#3", "The answer.");
  expect(run.state.memory.get("answer")?.json).toBe('"The answer."');
  expect(JSON.stringify(run.state.nodes)).not.toContain("secret");
});

test("save_to_memory writes several keys at once, and a bad key goes back to the model (S2.32)", () => {
  const run = begin();
  say(
    run,
    "a#1",
    "",
    ["save_to_memory", { values: { city: "Cork", year: 1900 } }],
    ["save_to_memory", { values: { __proto__x: 1, "not a key": 2 } }],
    ["save_to_memory", { values: { city: "Galway" } }],
  );
  expect(run.state.memory.get("city")?.json).toBe('"Galway"');
  expect(run.state.memory.get("year")?.json).toBe("1900");
  expect(run.state.memory.size).toBe(2);
  expect(run.execution("a#3").status).toBe("failed");
  expect(itemOf(run, 5)).toMatchObject({
    turns: [
      { results: [{ output: { city: "Cork", year: 1900 } }, { error: expect.any(String) }, {}] },
    ],
  });
  checked(run);
});

test("a call of an unknown tool, and one with a fault, go back to the model and run nothing", () => {
  const run = begin();
  say(run, "a#1", "", ["delete_all", {}], ["search", {}, "arguments.word must be a text"]);
  expect(run.execution("a#2").message).toContain("the tools are search, pay, save_to_memory");
  expect(run.execution("a#3").message).toBe("arguments.word must be a text");
  expect(run.execution("a#4").status).toBe("queued");
  say(run, "a#4", "I give up.");
  expect(checked(run).state.status).toBe("completed");
});

test("a tool has its own attempts; its error goes to the model unless on_error is fail", () => {
  const run = begin();
  say(run, "a#1", "", ["search", {}], ["pay", {}]);
  run.fail("a#2");
  expect(run.execution("a#2").attempt).toBe(2);
  run.now += 60_000;
  run.fail("a#2");
  expect(run.execution("a#2").status).toBe("failed");
  expect(run.node("a").status).toBe("waiting");
  run.fail("a#3", "acme.declined", true);
  expect(run.node("a").message).toContain("the tool pay (iteration 3) failed: it broke");
  expect(checked(run).state.status).toBe("failed");
});

test("a failed turn fails the agent after its retries, and open calls are cancelled with it", () => {
  const run = begin({}, { retry: { attempts: 2, backoff_ms: 0 } });
  run.fail("a#1", "rate_limit");
  expect(run.execution("a#1").attempt).toBe(2);
  run.claim("a#1");
  run.report("a#1", failed("provider_error"));
  expect(run.node("a").message).toContain("turn 1 failed: it broke: provider_error");
  const other = begin();
  say(other, "a#1", "", ["search", {}], ["pay", {}]);
  other.claim("a#2");
  other.fail("a#3", "x", true);
  expect(other.execution("a#2").status).toBe("cancelled");
  checked(other);
});

test("the last turn may not call tools: the agent fails with max_turns, and the calls do not run", () => {
  const run = begin({ max_turns: 2 });
  say(run, "a#1", "", ["search", {}]);
  run.complete("a#2", 1);
  say(run, "a#3", "", ["pay", {}]);
  expect(run.node("a").message).toContain("at most 2 turns");
  expect(run.node("a").scope?.items).toHaveLength(3);
  checked(run);
});

test("a lost claim of a turn or a call repeats only that execution, under a new epoch", () => {
  const run = begin();
  run.claim("a#1");
  run.lose("a#1");
  say(run, "a#1", "", ["search", {}], ["pay", {}]);
  run.complete("a#3", "paid");
  const before = run.claim("a#2");
  run.lose("a#2");
  expect(run.execution("a#3").status).toBe("completed");
  expect(run.claim("a#2")).toBeGreaterThan(before);
  expect(run.report("a#2", completed(1), before).kind).toBe("stale");
  run.report("a#2", completed(2));
  expect(checked(run).execution("a#4").status).toBe("queued");
});

test("a conversation that is too large, and too many calls, fail the agent", () => {
  const run = begin();
  say(run, "a#1", "", ["search", {}], ["search", {}], ["search", {}], ["search", {}]);
  for (const id of ["a#2", "a#3", "a#4", "a#5"]) run.complete(id, "x".repeat(200_000));
  expect(run.node("a").message).toContain("let the tools return less");
  const many = begin();
  say(many, "a#1", "", ...Array.from({ length: 65 }, (): Called => ["search", {}]));
  expect(many.node("a").message).toContain("65 tools in one turn; at most 64");
});

test("cancel in the middle of tools settles every execution, and no turn follows", () => {
  const run = begin();
  say(run, "a#1", "", ["search", {}], ["pay", {}]);
  run.claim("a#2");
  const result = onCancel(run.state, { reason: "stop", requestId: "", now: run.now });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  expect(run.report("a#2", completed(1)).kind).toBe("stale");
  expect(checked(run).state.status).toBe("cancelled");
});

test("a tool runs its own type, config, retries and timeout, and reads no other data than it names", () => {
  const run = begin();
  say(run, "a#1", "", ["search", { word: "x" }], ["pay", {}]);
  const index = run.index("a");
  const search = JSON.parse(nodeJson(run.state.graph, index, partOf(run.state, index, 2)));
  expect(search).toMatchObject({
    node: { id: "a", type: "acme.search", config: { index: "books" }, input: "{{ ctx.item }}" },
    bindings: [],
  });
  expect(executionDefinition(run.state, index, 3).timeoutMs).toBe(7_000);
  expect(JSON.parse(contextJson(run.state, index, 4))).toMatchObject({ input: null, nodes: {} });
});

test("an agent that runs again has new iterations, in the state and in the view of clients", () => {
  const graph = graphOf({
    nodes: [
      { id: "a", type: "agent", config: { model: "m", prompt: "p", tools: TOOLS } },
      { id: "judge", type: "task" },
    ],
    edges: [
      { source: "a", target: "judge" },
      { source: "judge", target: "a", source_handle: "again", loop: true },
    ],
  });
  const run = startToyRun(graph);
  run.claim("a");
  run.report("a", expanded([{ model: "m", messages: [] }]));
  say(run, "a#1", "", ["search", {}]);
  run.complete("a#2", 1);
  say(run, "a#3", "done");
  run.complete("judge", null, { handle: "again" });
  expect(run.node("a").base).toBe(4);
  run.claim("a#4");
  run.report("a#4", expanded([{ model: "m", messages: [] }]));
  say(run, "a#5", "", ["pay", {}]);
  const seen = view(run.events);
  expect([seen.nodes.get("a")?.iteration, seen.nodes.get("a#6")?.tool]).toEqual([4, "pay"]);
  expect(itemOf(run, 5)).toMatchObject({ turns: [] });
});
