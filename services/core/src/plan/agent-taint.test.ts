import { expect, test } from "vitest";
import { edge, policy, start } from "../../test/taint-toy.ts";
import { completed, expanded, type ToyRun } from "../../test/toy-run.ts";
import { labelsOf } from "../policy/taint.ts";

const TOOLS = [
  { name: "fetch", type: "http", config: { url: "https://example.org" } },
  { name: "pay", type: "acme.pay" },
  "save_to_memory",
];

const begin = (policies: readonly object[]): ToyRun => {
  const config = { model: "m", prompt: "{{ ctx.input.name }}", tools: TOOLS };
  const run = start({
    nodes: [
      { id: "a", type: "agent", config },
      { id: "z", type: "end" },
    ],
    edges: [edge("a", "z")],
    policies,
  });
  run.claim("a");
  run.report("a", expanded([{ model: "m", messages: [] }]));
  return run;
};

/** A turn that calls these tools. */
function say(run: ToyRun, id: string, ...names: readonly string[]): void {
  const calls = names.map((name, at) => ({ id: `c${at}`, name }));
  const asked = calls.map((call) => ({ ...call, arguments: { values: { note: "x" } } }));
  run.claim(id);
  const output = { text: "t", tool_calls: asked, finish_reason: "stop" };
  run.report(id, completed(output, { calls }));
}

test("a turn of an agent reads the results of its tools, a tool reads the answer of its turn, and the agent has all their labels (S2.40, S2.41)", () => {
  const run = begin([]);
  expect(run.execution("a#1").readTaint).toBeUndefined();
  say(run, "a#1", "fetch", "save_to_memory");
  expect(labelsOf(run.execution("a#1").taint)).toEqual(["model"]);
  run.complete("a#2", { body: "page" });
  expect(labelsOf(run.execution("a#2").taint)).toEqual(["model", "web"]);
  expect(labelsOf(run.state.memory.get("note")?.taint)).toEqual(["model"]);
  say(run, "a#4");
  expect(labelsOf(run.execution("a#4").readTaint).toSorted()).toEqual(["model", "web"]);
  expect(labelsOf(run.node("a").taint).toSorted()).toEqual(["model", "web"]);
  expect(labelsOf(run.state.outputTaint).toSorted()).toEqual(["model", "web"]);
});

test("a policy denies a tool call after the agent has read the web, and the model gets the refusal as its result (S2.42)", () => {
  const run = begin([policy("deny", { if_tainted_by: ["web"] })]);
  say(run, "a#1", "pay");
  expect(run.execution("a#2").status).toBe("queued");
  run.complete("a#2", "paid");
  say(run, "a#3", "fetch");
  run.complete("a#4", { body: "page" });
  say(run, "a#5", "pay");
  expect(run.execution("a#6")).toMatchObject({ status: "failed", epoch: 0 });
  expect(run.execution("a#6").message).toContain("taint_denied");
  expect(run.execution("a#7").status).toBe("queued");
});

test("the own answers of an agent do not stop its next turn, data from the web does (S2.42)", () => {
  const run = begin([policy("deny", { types: ["agent"], if_tainted_by: ["*"] })]);
  say(run, "a#1", "pay");
  run.complete("a#2", "paid");
  say(run, "a#3", "fetch");
  run.complete("a#4", { body: "page" });
  expect(run.node("a").message).toContain("taint_denied");
});
