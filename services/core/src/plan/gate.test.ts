import { expect, test } from "vitest";
import { decide, edge, http, pay, policy, start } from "../../test/taint-toy.ts";
import { onDecision } from "./decide.ts";
import type { Outcome } from "./result.ts";

const shop = (action: "deny" | "hold", more: object = {}) => ({
  nodes: [http("fetch"), pay(more)],
  edges: [edge("fetch", "pay")],
  policies: [policy(action)],
});

test("a policy that denies fails the node before it is queued, for good, and names the labels with their origin (S2.42)", () => {
  const run = start(shop("deny", { retry: { attempts: 3 } }));
  run.complete("fetch", "page");
  expect(run.types().filter((type) => type.endsWith("pay"))).toEqual(["node.failed pay"]);
  expect(run.node("pay").message).toBe(
    "taint_denied: policy 1 of the workflow does not let pay read web from fetch: payments need trusted data",
  );
  expect(run.state.status).toBe("failed");
});

test("a denied node with an error edge leaves by it, and its error is clean (S2.42)", () => {
  const run = start({
    ...shop("deny"),
    nodes: [http("fetch"), pay(), { id: "told", type: "task" }],
    edges: [edge("fetch", "pay"), edge("pay", "told", { source_handle: "error" })],
  });
  run.complete("fetch", "page");
  expect(run.node("pay")).toMatchObject({ status: "completed", handle: "error", taint: undefined });
});

test("a node that reads no denied label runs, and so does one of another type (S2.42)", () => {
  const run = start({
    nodes: [http("fetch"), { id: "log", type: "acme.log" }, pay({ id: "pay" })],
    edges: [edge("fetch", "log")],
    policies: [policy("deny", { if_tainted_by: ["model"] }), policy("deny")],
  });
  expect(run.node("pay").status).toBe("queued");
  run.complete("fetch", "page");
  run.complete("log", "ok");
  run.complete("pay", "paid");
  expect(run.state.status).toBe("completed");
});

test("a held node asks a person once; an approval needs a reason, drops the labels and lets it run (S2.42)", () => {
  const run = start(shop("hold", { moderation: "input" }));
  run.complete("fetch", "page");
  const blocked = run.events.find(({ type }) => type === "node.blocked");
  expect(blocked).toMatchObject({
    nodeId: "pay",
    payload: {
      reason: "taint_hold",
      phase: "input",
      taint: [{ label: "web", nodeId: "fetch" }],
      approval: { approvalId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string },
    },
  });
  expect(run.state.status).toBe("waiting");
  expect(decide(run, "approve", " ")).toBe("needs_reason");
  expect(decide(run, "approve", "I called the shop")).toBe("accepted");
  expect(run.events.find(({ type }) => type === "node.decided")?.payload).toMatchObject({
    dropped: ["web"],
    comment: "I called the shop",
  });
  // The person has not moderated the input.
  expect(run.node("pay")).toMatchObject({ status: "queued", attempt: 1, isInputApproved: false });
  run.complete("pay", "receipt");
  expect(run.node("pay").taint).toBeUndefined();
  expect(run.state.outputTaint).toBeUndefined();
  expect(run.state.status).toBe("completed");
});

test("a rejected hold fails the node as denied (S2.42)", () => {
  const run = start(shop("hold"));
  run.complete("fetch", "page");
  expect(decide(run, "reject", "no")).toBe("accepted");
  expect(run.node("pay").message).toBe("taint_denied: rejected: no");
});

test("a handler cannot release what a policy holds (S2.42)", () => {
  const run = start({
    nodes: [http("fetch"), pay(), { id: "helper", type: "acme.helper" }],
    edges: [edge("fetch", "pay"), edge("fetch", "helper")],
    policies: [policy("hold")],
  });
  run.complete("fetch", "page");
  const answer = { node: "pay", approvalId: "", decision: "approve", responseJson: "" };
  const action = { type: "resume_from_human", ...answer, iteration: 0, comment: "fine" };
  run.complete("helper", "ok", { actions: [action] } as Partial<Outcome>);
  expect(run.node("helper").message).toContain("no handler may do that");
  expect(run.node("pay").status).toBe("waiting");
});

test("data that gets labels while a node waits in the queue stops the node, and its job is withdrawn (S2.42)", () => {
  const run = start({
    memory: { note: { merge: "last_write_wins" } },
    nodes: [http("fetch", { write_key: "note" }), pay()],
    edges: [],
    policies: [policy("hold")],
  });
  expect(run.node("pay").status).toBe("queued");
  run.complete("fetch", "page");
  expect(run.node("pay").status).toBe("waiting");
  expect(decide(run, "approve", "checked")).toBe("accepted");
  expect(run.node("pay").status).toBe("queued");
  run.complete("pay", "paid");
  expect(run.state.status).toBe("completed");
});

test("a label that comes after a release holds the node again, under another question (S2.42)", () => {
  const run = start({
    nodes: [
      http("fetch", { write_key: "note" }),
      { id: "ask", type: "llm", config: { model: "m", prompt: "p" }, write_key: "idea" },
      pay(),
    ],
    edges: [edge("fetch", "pay")],
    policies: [policy("hold", { if_tainted_by: ["*"] })],
  });
  run.complete("fetch", "page");
  expect(decide(run, "approve", "checked")).toBe("accepted");
  expect(run.node("pay").status).toBe("queued");
  run.complete("ask", { text: "idea" });
  expect(run.node("pay").status).toBe("waiting");
  const ids = run.events.flatMap((event) =>
    event.type === "node.blocked" ? (event.payload.approval?.approvalId ?? []) : [],
  );
  expect(new Set(ids).size).toBe(2);
});

test("a policy stops the iterations that read the label, and a denied one fails the map (S2.42)", () => {
  const run = start({
    nodes: [
      http("fetch"),
      {
        id: "each",
        type: "map",
        config: { items: "{{ ctx.nodes.fetch }}", body: { type: "acme.pay" } },
      },
    ],
    edges: [edge("fetch", "each")],
    policies: [policy("deny")],
  });
  run.complete("fetch", ["a", "b"]);
  expect(run.types()).not.toContain("node.queued each#1");
  expect(run.node("each").message).toContain("taint_denied");
});

test("iterations that wait for a person are answered one by one (S2.42)", () => {
  const run = start({
    nodes: [
      http("fetch"),
      {
        id: "each",
        type: "map",
        config: { items: "{{ ctx.nodes.fetch }}", body: { type: "acme.pay" } },
      },
    ],
    edges: [edge("fetch", "each")],
    policies: [policy("hold")],
  });
  run.complete("fetch", ["a", "b"]);
  for (const iteration of [1, 2]) {
    const place = { nodeIndex: run.index("each"), iteration, now: run.now };
    const result = onDecision(run.state, {
      ...place,
      ...{ decision: "approve", comment: "ok", requestId: `r${iteration}` },
    });
    if (result.kind === "accepted") result.facts.forEach(run.append);
    run.plan();
    run.complete(`each#${iteration}`, "paid");
  }
  expect(run.node("each")).toMatchObject({ status: "completed", output: '["paid","paid"]' });
  // The list itself came from the web.
  expect(run.node("each").taint).toEqual([{ label: "web", nodeId: "fetch" }]);
});

test("a condition that reads a denied label is stopped; one that does not is not (S2.42)", () => {
  const when = (path: string) => ({ branches: [{ id: "yes", when: `${path} == "x"` }] });
  const run = start({
    nodes: [
      http("fetch", { output_variable: "page" }),
      { id: "read", type: "condition", config: when("ctx.nodes.fetch") },
      { id: "free", type: "condition", config: when("ctx.input.name") },
    ],
    edges: [edge("fetch", "read"), edge("fetch", "free")],
    policies: [policy("deny", { types: ["condition"] })],
  });
  run.complete("fetch", "x");
  expect(run.node("read").status).toBe("failed");
  expect(run.node("free")).toMatchObject({ status: "completed", taint: undefined });
});

test("a node that a person releases reserves before it is queued, and waits for its budget (S2.21, S2.42, X27)", () => {
  const run = start({
    budget: { tokens: 10 },
    nodes: [
      http("fetch"),
      pay({ reserve: { tokens: 6 } }),
      { id: "other", type: "task", reserve: { tokens: 6 } },
    ],
    edges: [edge("fetch", "pay"), edge("fetch", "other")],
    policies: [policy("hold")],
  });
  run.complete("fetch", "page");
  expect([run.node("pay").status, run.node("other").status]).toEqual(["waiting", "queued"]);
  expect(decide(run, "approve", "checked")).toBe("accepted");
  expect(run.events.find(({ type }) => type === "node.decided")?.payload).toMatchObject({
    awaitsBudget: true,
  });
  expect(run.node("pay").status).toBe("waiting");
  expect(run.state.ledger.reserved.tokens).toBe(6);
  run.complete("other", "done");
  expect(run.node("pay")).toMatchObject({ status: "queued", attempt: 1 });
  expect(run.events.findLast(({ type }) => type === "node.queued")).toMatchObject({
    nodeId: "pay",
    payload: { reserved: { tokens: 6, executions: 1 } },
  });
  run.complete("pay", "paid");
  expect(run.state.status).toBe("completed");
});

test("a node that a person releases, and that its budget can never cover, fails the run (S2.21, S2.42)", () => {
  const usage = { inputTokens: 8, outputTokens: 0 };
  const run = start({
    budget: { tokens: 10 },
    nodes: [http("fetch"), pay({ reserve: { tokens: 6 } })],
    edges: [edge("fetch", "pay")],
    policies: [policy("hold")],
  });
  run.complete("fetch", "page", { usage });
  expect(decide(run, "approve", "checked")).toBe("accepted");
  expect(run.events.at(-1)).toMatchObject({
    type: "run.failed",
    payload: { cause: "budget_exceeded", failedNodeId: "pay" },
  });
});

test("a retry that waits for its budget is held if its data gets labels meanwhile (S2.42, X27)", () => {
  const run = start({
    budget: { tokens: 10 },
    memory: { note: { merge: "last_write_wins" } },
    nodes: [
      http("fetch", { write_key: "note", reserve: { tokens: 4 } }),
      pay({ reserve: { tokens: 4 }, retry: { attempts: 2, backoff_ms: 0, jitter: false } }),
    ],
    edges: [],
    policies: [policy("hold")],
  });
  run.claim("fetch");
  run.claim("pay");
  const usage = { inputTokens: 3, outputTokens: 0 };
  const failure = { kind: "failed", cause: "x", message: "x", permanent: false } as const;
  run.report("pay", { ...failure, durationMs: 1, usage });
  expect(run.node("pay").status).toBe("retrying");
  run.report("fetch", { kind: "completed", outputJson: '"page"', durationMs: 1 });
  expect(run.node("pay")).toMatchObject({ status: "waiting", hold: { reason: "taint_hold" } });
  expect(decide(run, "approve", "checked")).toBe("accepted");
  expect(run.node("pay")).toMatchObject({ status: "queued", attempt: 2 });
  expect(run.state.ledger.reserved.tokens).toBe(4);
});
