import { expect, test } from "vitest";
import { decide, edge, http, pay, policy, start } from "../../test/taint-toy.ts";
import { completed } from "../../test/toy-run.ts";
import { approvalId } from "../name/ids.ts";

test("a sanitize node drops labels with its reason, keeps the others, and fails without its pattern (S2.42)", () => {
  const sanitize = (value: string, more: object) => ({
    id: "clean",
    type: "sanitize",
    config: { value, drop: ["web"], reason: "an id has only digits", ...more },
  });
  const graph = (more: object) => ({
    nodes: [http("fetch"), sanitize("{{ ctx.nodes.fetch }}", more), pay()],
    edges: [edge("fetch", "clean"), edge("clean", "pay")],
    policies: [policy("deny")],
  });
  const good = start(graph({ pattern: "^[0-9]+$" }), [{ label: "input", nodeId: "" }]);
  good.complete("fetch", "4711");
  expect(good.events.find(({ nodeId }) => nodeId === "clean")?.payload).toMatchObject({
    sanitized: { labels: ["web"], reason: "an id has only digits" },
  });
  expect(good.node("clean").taint).toBeUndefined();
  expect(good.node("pay").status).toBe("queued");
  const bad = start(graph({ pattern: "^[0-9]+$" }));
  bad.complete("fetch", "4711; drop table");
  expect(bad.node("clean")).toMatchObject({ status: "failed" });
  expect(bad.node("clean").message).toContain("pattern");
});

test("the answer of a person is clean, also to a question about labelled data (S2.42)", () => {
  const run = start({
    nodes: [
      http("fetch"),
      { id: "ask", type: "approval", config: { message: "{{ ctx.nodes.fetch }}" } },
    ],
    edges: [edge("fetch", "ask")],
  });
  run.complete("fetch", "page");
  run.claim("ask");
  const id = approvalId("0199a000-0000-7000-8000-0000000000a1");
  const approval = { approvalId: id, message: "m", assignees: [] };
  run.report("ask", {
    ...{ kind: "held", reason: "approval", phase: "output", durationMs: 1, outputJson: '"page"' },
    approval,
  });
  expect(decide(run, "approve", "", "ask")).toBe("accepted");
  expect(run.node("ask")).toMatchObject({ status: "completed", taint: undefined });
});

test("a handler adds labels and cannot remove one, and a run has a bounded number of them (S2.41)", () => {
  const run = start({
    nodes: [http("fetch"), { id: "a", type: "acme.a" }, { id: "b", type: "acme.b" }],
    edges: [edge("fetch", "a"), edge("a", "b")],
  });
  run.complete("fetch", "page");
  run.complete("a", "x", { labels: ["pii"] });
  expect(run.node("a").taint).toEqual([
    { label: "web", nodeId: "fetch" },
    { label: "pii", nodeId: "a" },
  ]);
  run.complete("b", "x", { labels: Array.from({ length: 70 }, (_, at) => `l${at}`) });
  expect(run.node("b").message).toContain("at most 64");
});

test("sources have labels by their type, their config and their author (S2.40)", () => {
  const query = (id: string, untrusted: boolean) => ({
    id,
    type: "dataQuery",
    config: { source: "s", sql: "select 1", untrusted },
  });
  const run = start({
    nodes: [
      http("fetch"),
      { id: "ask", type: "llm", config: { model: "m", prompt: "p" } },
      query("own", false),
      query("foreign", true),
      { id: "mail", type: "acme.mail", taint: ["mail"] },
    ],
  });
  for (const id of ["fetch", "ask", "own", "foreign", "mail"]) run.complete(id, "x");
  const labels = Object.fromEntries(
    run.state.graph.nodes.map(({ definition: { id } }) => [id, run.node(id).taint?.[0]?.label]),
  );
  expect(labels).toEqual({
    ...{ fetch: "web", ask: "model", own: undefined, foreign: "data", mail: "mail" },
  });
  expect(run.events.at(-1)?.payload).toMatchObject({
    taint: expect.arrayContaining([{ label: "mail", nodeId: "mail" }]) as unknown,
  });
});

test("a run without sources has no trace of labels in its log (S2.40)", () => {
  const run = start({
    nodes: [pay(), { id: "b", type: "task", write_key: "k" }],
    edges: [edge("pay", "b")],
    policies: [policy("deny", { if_tainted_by: ["*"] })],
  });
  run.complete("pay", 1);
  run.report("b", completed(), run.claim("b"));
  expect(JSON.stringify(run.events)).not.toContain("taint");
});
