import { Code } from "@connectrpc/connect";
import { createPawlClient, jsonBytes } from "@pawl/client";
import {
  type Script,
  ScriptedGateway,
  scriptedFailure,
  scriptedLog,
} from "@pawl/client/scripted-gateway";
import { StreamMode } from "@pawl/proto/pawl/v1/event_service_pb";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { NodeStatus, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { runProgram } from "./program.ts";
import type { Host } from "./session.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const LOG = scriptedLog(RUN, [
  { type: "run.started", fact: { case: "runStarted", value: {} } },
  {
    type: "node.started",
    nodeId: "greet",
    attempt: 1,
    epoch: 2n,
    fact: { case: "nodeStarted", value: {} },
  },
  {
    type: "node.completed",
    nodeId: "greet",
    attempt: 1,
    fact: {
      case: "nodeCompleted",
      value: { outputJson: jsonBytes("Hello Ada"), durationMs: 12n },
    },
  },
]);
const completed = {
  eventId: 4n,
  type: "run.completed",
  fact: { case: "runCompleted" as const, value: { outputJson: jsonBytes("Hello Ada") } },
};
const failed = {
  eventId: 4n,
  type: "run.failed",
  fact: { case: "runFailed" as const, value: { message: "greet: boom" } },
};
const ENDED = {
  runId: RUN,
  workflowId: "hello",
  workflowVersion: 1,
  status: RunStatus.COMPLETED,
  outputJson: jsonBytes("Hello Ada"),
};
const FAILED = { ...ENDED, status: RunStatus.FAILED, errorMessage: "greet: boom" };

async function setup(
  script: Script,
  options: { isTty?: boolean; files?: Readonly<Record<string, string>> } = {},
) {
  const gateway = new ScriptedGateway(script);
  const address = await gateway.start();
  const interrupt = new AbortController();
  const printed = { out: "", error: "" };
  const host: Host = {
    version: "1.2.3",
    terminal: {
      write: (text) => void (printed.out += text),
      writeError: (text) => void (printed.error += text),
      isTty: options.isTty ?? false,
      hasColour: false,
      width: () => 100,
      height: () => 30,
    },
    defaultAddress: address,
    self: "pawl",
    connect: (baseUrl) => createPawlClient({ baseUrl, attempts: 1 }),
    readText: async (path) => options.files?.[path] ?? "",
    runTool: async () => 0,
    now: () => 1_700_000_000_000,
    interrupted: interrupt.signal,
  };
  const pawl = (...args: string[]) => runProgram(host, args);
  return { gateway, address, interrupt, printed, pawl };
}

test("start prints the run id and its URL and leaves", async () => {
  const { gateway, address, printed, pawl } = await setup({
    runs: { startRun: () => ({ run: { runId: RUN } }) },
  });
  await using _ = gateway;
  expect(await pawl("run", "start", "hello", "--set", "name=Ada")).toBe(0);
  expect(printed.out).toBe(`${RUN}\n${address}/runs/${RUN}\n`);
});

test("start --wait exits 0 when the run completes and 1 when it does not", async () => {
  for (const [terminal, run, code] of [
    [completed, ENDED, 0],
    [failed, FAILED, 1],
  ] as const) {
    const { gateway, printed, pawl } = await setup({
      runs: { startRun: () => ({ run: { runId: RUN } }), getRun: () => ({ run }) },
      watch: () => [{ send: [...LOG, terminal] }],
    });
    await using _ = gateway;
    expect(await pawl("run", "start", "hello", "--wait")).toBe(code);
    expect(printed.error).toContain('#3  node.completed  greet  in 12ms  "Hello Ada"');
    expect(printed.error).toContain(code === 0 ? "✔ completed" : "✖ failed: greet: boom");
    // What a script reads: the output and nothing else.
    expect(printed.out).toBe(code === 0 ? '"Hello Ada"\n' : "");
  }
});

test("start --wait -o json prints one object: the run as it ended", async () => {
  const { gateway, printed, pawl } = await setup({
    runs: { startRun: () => ({ run: { runId: RUN } }), getRun: () => ({ run: ENDED }) },
    watch: () => [{ send: [...LOG, completed] }],
  });
  await using _ = gateway;
  expect(await pawl("run", "start", "hello", "--wait", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({ status: "completed", output: "Hello Ada" });
});

test("watch -o json prints one event a line, across a reconnect", async () => {
  const { gateway, printed, pawl } = await setup({
    runs: { getRun: () => ({ run: ENDED }) },
    watch: (_, connection) =>
      connection === 0
        ? [{ send: LOG }, { fail: scriptedFailure(Code.Unavailable, "DRAINING", "stopping") }]
        : [{ send: [completed] }],
  });
  await using _ = gateway;
  expect(await pawl("run", "watch", RUN, "-o", "json")).toBe(0);
  const events = printed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map(({ eventId }) => eventId)).toEqual([1, 2, 3, 4]);
  expect(events[2]).toMatchObject({ type: "node.completed", payload: { output: "Hello Ada" } });
  expect(printed.error).toContain("resuming after event 3");
});

test("on a terminal watch draws the tree in place and gives the cursor back", async () => {
  const definition = { nodes: [{ id: "greet", type: "javascript" }], edges: [] };
  const { gateway, printed, pawl } = await setup(
    {
      runs: { getRun: () => ({ run: ENDED, definitionJson: jsonBytes(definition) }) },
      watch: () => [{ send: [...LOG, completed] }],
    },
    { isTty: true },
  );
  await using _ = gateway;
  expect(await pawl("run", "watch", RUN)).toBe(0);
  expect(printed.out).toContain("✔ completed  1/1");
  expect(printed.out).toContain("✔ greet");
  expect(printed.out.lastIndexOf("\u001b[?25h")).toBeGreaterThan(
    printed.out.lastIndexOf("\u001b[?25l"),
  );
});

test("run watch --mode prints a line for each item, and -o json one object (S4.11)", async () => {
  const items = [
    { mode: StreamMode.UPDATES, json: '{"nodeId":"greet","status":"completed"}', eventId: 3n },
    { mode: StreamMode.CONTROL, json: '{"signal":"done","status":"completed"}', eventId: 4n },
  ].map(({ json, ...item }) => ({ ...item, dataJson: new TextEncoder().encode(json), runId: RUN }));
  const { gateway, printed, pawl } = await setup({
    runs: { getRun: () => ({ run: { runId: RUN, status: RunStatus.COMPLETED } }) },
    watch: () => [{ send: [], items }],
  });
  await using _ = gateway;
  expect(await pawl("run", "watch", RUN, "--mode", "updates", "--node", "greet")).toBe(0);
  expect(printed.out).toContain('#3  updates  {"nodeId":"greet","status":"completed"}');
  expect(gateway.watched[0]).toMatchObject({ modes: [StreamMode.UPDATES], nodeIds: ["greet"] });
  expect(await pawl("run", "watch", RUN, "--mode", "control", "-o", "json")).toBe(0);
  expect(printed.out).toContain('"mode":"control"');
  expect(await pawl("run", "watch", RUN, "--mode", "everything")).toBe(2);
});

test("Ctrl-C detaches without cancelling and says how to continue", async () => {
  const calls: string[] = [];
  const { gateway, interrupt, printed, pawl } = await setup({
    runs: {
      startRun: () => ({ run: { runId: RUN } }),
      cancelRun() {
        calls.push("cancel");
        return {};
      },
    },
    async *watch() {
      yield { send: LOG };
      interrupt.abort();
      yield { stall: true };
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "start", "hello", "--wait")).toBe(130);
  expect(printed.error).toContain(`pawl run watch ${RUN}`);
  expect(calls).toEqual([]);
});

test("an unreachable gateway exits 3 and says how to start it", async () => {
  const { gateway, printed, pawl, address } = await setup({});
  await gateway.stop();
  expect(await pawl("run", "list")).toBe(3);
  expect(printed.error).toContain(`cannot reach the gateway at ${address}`);
  expect(printed.error).toContain("npm start");
});

test("a mistake in the call exits 2 and sends nothing", async () => {
  const { gateway, printed, pawl } = await setup({});
  await using _ = gateway;
  expect(await pawl("run", "lst")).toBe(2);
  expect(await pawl("run", "start", "hello", "--input", "{oops")).toBe(2);
  expect(await pawl("run", "list", "--status", "sleepy")).toBe(2);
  expect(printed.error).toContain("Did you mean list?");
});

test("the server's refusal exits 3 and says what to do next", async () => {
  const { gateway, printed, pawl } = await setup({
    runs: {
      startRun() {
        throw scriptedFailure(Code.NotFound, "WORKFLOW_NOT_FOUND", "no workflow hello");
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "start", "hello")).toBe(3);
  expect(printed.error).toContain("no workflow hello (WORKFLOW_NOT_FOUND)");
  expect(printed.error).toContain("pawl workflow list");
});

test("explain prints why a node waits, what proves it and what to do", async () => {
  const explanation = {
    reason: ExplainReason.NO_EXECUTOR,
    status: NodeStatus.QUEUED,
    summary: "No connected executor serves type rocket.",
    evidence: [{ eventId: 5n, type: "node.queued", nodeId: "strange" }],
    next: "Start an executor that serves rocket.",
  };
  const { gateway, printed, pawl } = await setup({
    runs: { explainNode: () => ({ explanation }) },
  });
  await using _ = gateway;
  expect(await pawl("run", "explain", RUN, "strange")).toBe(0);
  expect(printed.out).toContain("no_executor");
  expect(printed.out).toContain(
    "No connected executor serves type rocket.\n  #5  node.queued  strange\n→ Start an executor that serves rocket.\n",
  );
});

test("delete removes a test run, and a workflow by force", async () => {
  const asked: unknown[] = [];
  const { gateway, printed, pawl } = await setup({
    runs: { deleteRun: ({ runId }) => (asked.push(runId), {}) },
    workflows: {
      deleteWorkflow: ({ workflowId, force }) => (asked.push([workflowId, force]), {}),
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "delete", RUN)).toBe(0);
  expect(await pawl("workflow", "delete", "hello", "--force")).toBe(0);
  expect(asked).toEqual([RUN, ["hello", true]]);
  expect(printed.out).toBe(`${RUN} deleted\nhello deleted\n`);
});
