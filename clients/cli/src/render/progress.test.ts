import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { applyEvent, createProgress } from "./progress-model.ts";
import { progressLines } from "./progress.ts";

type Fact = MessageInitShape<typeof RunEventSchema>;

const DEFINITION = {
  nodes: [
    { id: "start", type: "start" },
    { id: "write", type: "javascript", label: "Write it" },
    { id: "send", type: "http" },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "write" },
    { source: "start", target: "send" },
    { source: "write", target: "end" },
    { source: "send", target: "end" },
  ],
};

function setup(
  facts: readonly Fact[],
  definition: Parameters<typeof createProgress>[0]["definition"] = DEFINITION,
) {
  const progress = createProgress({ title: "hello v1", definition });
  for (const [index, fact] of facts.entries()) {
    const event = create(RunEventSchema, { eventId: BigInt(index + 1), ...fact });
    event.time = timestampFromMs((100 + index) * 1000);
    applyEvent(progress, event);
  }
  const draw = (size: { width?: number; height?: number; nowMs?: number } = {}) =>
    progressLines(progress, { width: 80, height: 24, hasColour: false, nowMs: 110_000, ...size });
  return { progress, draw };
}

const started: Fact = { type: "run.started", fact: { case: "runStarted", value: {} } };
const begin = (nodeId: string, attempt = 1): Fact => ({
  type: "node.started",
  nodeId,
  attempt,
  fact: { case: "nodeStarted", value: {} },
});
const complete = (nodeId: string, handle = ""): Fact => ({
  type: "node.completed",
  nodeId,
  attempt: 1,
  fact: { case: "nodeCompleted", value: { handle } },
});
const delta = (nodeId: string, epoch: bigint, text: string, deltaIndex = 0): Fact => ({
  type: "node.stream.delta",
  nodeId,
  epoch,
  fact: { case: "nodeStreamDelta", value: { text, deltaIndex } },
});

test("a run under way shows a bar, a tree of states and the text that streams (S1.43)", () => {
  const { draw } = setup([
    started,
    begin("start"),
    complete("start"),
    begin("write"),
    delta("write", 4n, "Once upon\na ti"),
    delta("write", 4n, "me", 1),
  ]);
  expect(draw()).toEqual([
    "hello v1  ● running  1/4  10.0s  ━━━━━━──────────────────",
    "✔ start        start       1.0s",
    "├─ ◓ Write it  javascript  7.0s",
    "│    ▏ Once upon",
    "│    ▏ a time",
    "└─ ○ send      http",
    "○ end          end",
    "Ctrl-C detaches; the run continues.",
  ]);
});

test("a new claim voids the text of the one before (S1.50)", () => {
  const { progress } = setup([
    started,
    begin("write"),
    delta("write", 2n, "first try"),
    begin("write", 2),
    delta("write", 4n, "second"),
  ]);
  expect(progress.view().nodes.get("write")?.text).toBe("second");
});

test("retries, failures and skips say why", () => {
  const { draw } = setup([
    started,
    begin("write", 2),
    {
      type: "node.retried",
      nodeId: "write",
      attempt: 2,
      fact: { case: "nodeRetried", value: { cause: "rate_limit", message: "429" } },
    },
    begin("send"),
    {
      type: "node.failed",
      nodeId: "send",
      attempt: 1,
      fact: { case: "nodeFailed", value: { cause: "provider_error", message: "503" } },
    },
    {
      type: "node.skipped",
      nodeId: "end",
      fact: { case: "nodeSkipped", value: { reason: "parent_not_completed" } },
    },
  ]);
  const lines = draw();
  expect(lines[2]).toBe("├─ ↻ Write it  javascript  9.0s  attempt 2  rate_limit: 429");
  expect(lines[3]).toBe("└─ ✖ send      http        1.0s  503");
  expect(lines[4]).toBe("⤼ end          end         parent not completed");
});

test("an ended run shows no motion and says why it failed", () => {
  const { draw } = setup([
    started,
    { type: "run.failed", fact: { case: "runFailed", value: { message: "send: 503" } } },
  ]);
  const lines = draw();
  expect(lines[0]).toContain("✖ failed  0/4  1.0s");
  expect(lines.at(-1)).toBe("send: 503");
});

test("a graph higher than the terminal shows running nodes and counts the rest", () => {
  const ids = Array.from({ length: 500 }, (_, at) => `n${at}`);
  const definition = {
    nodes: ids.map((id) => ({ id, type: "javascript" })),
    edges: ids.slice(1).map((id, at) => ({ source: ids[at] ?? "", target: id })),
  };
  const { draw } = setup([started, begin("n400")], definition);
  const lines = draw({ height: 10 });
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(lines.join("\n")).toMatch(/n400/);
  expect(lines.join("\n")).toMatch(/… and 494 more nodes/);
});

test("a fan folds into counts with its slowest node, and keeps a line for each node that runs or failed", () => {
  const ids = Array.from({ length: 200 }, (_, at) => `t${at}`);
  const definition = {
    nodes: ["start", ...ids, "end"].map((id) => ({ id, type: "javascript" })),
    edges: ids.flatMap((id) => [
      { source: "start", target: id },
      { source: id, target: "end" },
    ]),
  };
  const failed: Fact = {
    type: "node.failed",
    nodeId: "t7",
    attempt: 1,
    fact: { case: "nodeFailed", value: { cause: "js_error", message: "boom" } },
  };
  const done = ["start", "t0", "t1", "t2"].flatMap((id) => [begin(id), complete(id)]);
  const { draw } = setup([started, ...done, begin("t7"), failed, begin("t9")], definition);
  const lines = draw({ height: 24 });
  expect(lines).toHaveLength(8);
  expect(lines[2]).toBe("├─ ✔ 3 ×    javascript  1.0s to 1.0s, slowest t2");
  expect(lines[3]).toBe("├─ ○ 195 ×  javascript");
  expect(lines[4]).toMatch(/^├─ ✖ t7 .*boom$/);
  expect(lines[5]).toMatch(/^├─ . t9 /);
});

test("a delay shows a countdown until its end, and then the time that it was set to", () => {
  const released: Fact = {
    type: "node.completed",
    nodeId: "write",
    attempt: 1,
    fact: { case: "nodeCompleted", value: { queueDelayMs: 9_000n } },
  };
  const facts = [started, begin("write"), released];
  // It let go at 111 s; the reader looks at 110 s.
  const line = (more: readonly Fact[] = [], nowMs = 110_000): string =>
    setup([...facts, ...more])
      .draw({ nowMs })
      .find((each) => each.includes("Write it")) ?? "";
  expect(line()).toContain("◇ Write it  javascript  1.0s left");
  expect(line([], 111_000)).toContain("✔ Write it  javascript  10.0s");
  // An event from after its end, though the reader's clock is slow.
  const later = Array.from({ length: 9 }, () => delta("send", 1n, "x"));
  expect(line(later, 103_000)).toContain("✔ Write it");
  const over: Fact = { type: "run.cancelled", fact: { case: "runCancelled", value: {} } };
  expect(line([over])).toContain("✔ Write it");
});

test("a node that asks a person shows the question and the command that answers it", () => {
  const asks: Fact = {
    type: "node.blocked",
    nodeId: "send",
    attempt: 1,
    fact: {
      case: "nodeBlocked",
      value: { reason: "approval", approvalId: "019a-00000badcafe", message: "Refund 480 EUR?" },
    },
  };
  const lines = setup([started, begin("send"), asks]).draw();
  expect(lines.find((line) => line.includes("send"))).toContain("Refund 480 EUR?");
  expect(lines).toContain("→ pawl approval approve 0badcafe, or reject");
  const answered = setup([started, begin("send"), asks, complete("send")]).draw();
  expect(answered.join("\n")).not.toContain("approval approve");
});

test("a node that waits for a signal shows its name and the command that sends it", () => {
  const waits: Fact = {
    ...{ type: "node.blocked", nodeId: "send", attempt: 1 },
    fact: { case: "nodeBlocked", value: { reason: "signal", signal: "payment.7" } },
  };
  const lines = setup([started, waits]).draw();
  expect(lines.find((line) => line.includes("send"))).toContain("signal payment.7");
  expect(lines).toContain("→ pawl run signal RUN payment.7 --payload JSON");
});

test("an event this client does not know changes nothing", () => {
  const { draw } = setup([started]);
  const { draw: drawWithNews } = setup([started, { type: "node.teleported", nodeId: "write" }]);
  expect(drawWithNews()).toEqual(draw());
});

test("a map shows how many of its items are done (S3.30)", () => {
  const item = (type: string, iteration: number, fact: Fact["fact"]): Fact => ({
    type,
    nodeId: "send",
    iteration,
    attempt: 1,
    ...(fact === undefined ? {} : { fact }),
  });
  const { draw } = setup([
    started,
    begin("send"),
    item("node.expanded", 0, { case: "nodeExpanded", value: { width: 3 } }),
    item("node.started", 1, { case: "nodeStarted", value: {} }),
    item("node.completed", 1, { case: "nodeCompleted", value: {} }),
    item("node.failed", 2, { case: "nodeFailed", value: { cause: "x" } }),
  ]);
  expect(draw().find((line) => line.includes("send"))).toContain("2/3");
});

test("a node that waits for a slot or a rate names its key until it starts", () => {
  const queued: Fact = {
    type: "node.queued",
    nodeId: "write",
    attempt: 1,
    fact: {
      case: "nodeQueued",
      value: { slot: { key: "shop-7", limit: 2 }, rate: { key: "mail", limit: 20, perMs: 1_000n } },
    },
  };
  const words = "waits for slot shop-7 (2) and rate mail (20 in 1.0s)";
  expect(setup([started, queued]).draw().join("\n")).toContain(words);
  expect(
    setup([started, queued, begin("write")])
      .draw()
      .join("\n"),
  ).not.toContain(words);
  const pending: Fact = {
    type: "run.started",
    fact: { case: "runStarted", value: { slot: { key: "c1", limit: 1 } } },
  };
  const begun: Fact = { type: "run.status.changed", fact: { case: "runStatusChanged", value: {} } };
  expect(setup([pending]).draw()[0]).toContain("○ pending");
  expect(setup([pending]).draw()).toContain("waits for slot c1 (1)");
  expect(setup([pending, begun]).draw().join("\n")).not.toContain("slot c1");
});
