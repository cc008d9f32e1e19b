// A run with some of everything: a stream, a retry, a lost executor, a branch that is not taken.

import type { ScriptedFact, ScriptedGateway, ScriptedRun } from "./scripted-gateway.ts";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { FailureClass, RunKind, RunStatus } from "@pawl/proto/pawl/v1/run_pb";

const RUN_ID = "0199d3a0-7b1c-7c52-9d41-5f0c2a7e91b4";
const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const node = (id: string, type: string, label: string): unknown => ({
  id,
  type,
  label,
  config: type === "model" ? { prompt: "Write a friendly note to {{ ctx.input.name }}." } : {},
});
const edge = (source: string, target: string, handle: string | null = null): unknown => ({
  id: `${source}-${target}`,
  source,
  target,
  source_handle: handle,
});

/** The workflow, the run, and two older runs beside it. */
export const storyScript = (startMs: number): ScriptedRun => ({
  run: {
    runId: RUN_ID,
    workflowId: "customer-letter",
    workflowVersion: 3,
    kind: RunKind.SAVED,
    status: RunStatus.RUNNING,
    createTime: timestampFromMs(startMs),
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  },
  workflow: {
    workflowId: "customer-letter",
    version: 3,
    title: "Write a letter to a customer",
    nodeCount: 8,
    definitionDigest: "9f2c".repeat(16),
    updateTime: timestampFromMs(startMs - 86_400_000),
  },
  definition: {
    id: "customer-letter",
    title: "Write a letter to a customer",
    nodes: [
      node("start", "start", "Start"),
      node("profile", "http", "Read profile"),
      node("orders", "http", "Read orders"),
      node("tone", "condition", "Is a regular?"),
      node("draft", "model", "Draft the letter"),
      node("gift", "http", "Reserve a gift"),
      node("apology", "transform", "Add an apology"),
      node("send", "http", "Send"),
    ],
    edges: [
      edge("start", "profile"),
      edge("start", "orders"),
      edge("profile", "tone"),
      edge("profile", "draft"),
      edge("orders", "draft"),
      edge("tone", "gift", "true"),
      edge("tone", "apology", "false"),
      edge("draft", "send"),
      edge("gift", "send"),
      edge("apology", "send"),
    ],
  },
  others: [
    [RunStatus.COMPLETED, 4_120, "", false, FailureClass.UNSPECIFIED],
    [
      RunStatus.FAILED,
      9_480,
      "send failed: the mail server answered 550",
      true,
      FailureClass.PERMANENT,
    ],
    [RunStatus.COMPLETED, 3_870, "", true, FailureClass.UNSPECIFIED],
    [RunStatus.CANCELLED, 61_000, "", false, FailureClass.CANCELLED],
    [RunStatus.TIMEOUT, 3_600_000, "the run passed its deadline", false, FailureClass.TIMEOUT],
  ].map(([status, tookMs, errorMessage, hasFailures, failureClass], index) => ({
    runId: `0199d3a0-0000-7000-8000-${String(index).repeat(4)}c1d2e3f${index}`,
    workflowId: index === 2 ? "nightly-report" : "customer-letter",
    workflowVersion: 2,
    kind: RunKind.SAVED,
    status: status as RunStatus, // the rows above are of one shape
    errorMessage: errorMessage as string,
    hasFailures: hasFailures as boolean,
    failureClass: failureClass as FailureClass,
    createTime: timestampFromMs(startMs - (index + 1) * 4_000_000),
    endTime: timestampFromMs(startMs - (index + 1) * 4_000_000 + (tookMs as number)),
  })),
});

/** What the model writes. */
export const LETTER = [
  "Dear Ada,\n\n",
  "thank you for your order of three brass ratchets. ",
  "They left our workshop this morning ",
  "and will be with you on Thursday.\n\n",
  "As a small thank-you for ten years with us, ",
  "we have added a pawl of our own making.\n\n",
  "Yours,\nthe workshop",
];

interface Where {
  readonly attempt?: number;
  readonly epoch?: bigint;
}

/** Short ways to say that a node was queued, started or completed. */
function teller(gateway: ScriptedGateway, startMs: number) {
  const at = (ms: number, fact: ScriptedFact): void => gateway.append(startMs + ms, fact);
  const queued = (ms: number, nodeId: string, where: Where = {}): void =>
    at(ms, {
      type: "node.queued",
      nodeId,
      attempt: 1,
      ...where,
      fact: { case: "nodeQueued", value: {} },
    });
  const started = (ms: number, nodeId: string, where: Where = {}): void =>
    at(ms, {
      type: "node.started",
      nodeId,
      attempt: 1,
      ...where,
      fact: { case: "nodeStarted", value: { executorId: "5f0c2a7e-91b4-4c52-9d41-7b1c0199d3a0" } },
    });
  const completed = (ms: number, nodeId: string, output: unknown, handle = ""): void =>
    at(ms, {
      type: "node.completed",
      nodeId,
      attempt: 1,
      fact: { case: "nodeCompleted", value: { outputJson: json(output), handle } },
    });
  return { at, queued, started, completed };
}

/** The first part of the story: up to the middle of the letter. */
export function tellBeginning(gateway: ScriptedGateway, startMs: number): void {
  const { at, queued, started, completed } = teller(gateway, startMs);
  at(0, {
    type: "run.started",
    fact: {
      case: "runStarted",
      value: { inputJson: json({ name: "Ada", customer: 1815 }), workflowVersion: 3 },
    },
  });
  queued(2, "start");
  started(40, "start");
  completed(60, "start", { name: "Ada", customer: 1815 });
  queued(62, "profile");
  queued(62, "orders");
  started(180, "profile");
  started(210, "orders");
  completed(720, "profile", { name: "Ada", since: 2016, regular: true });
  queued(722, "tone");
  started(800, "tone");
  completed(830, "tone", { regular: true }, "true");
  at(831, {
    type: "node.skipped",
    nodeId: "apology",
    fact: { case: "nodeSkipped", value: { reason: "untaken_branch" } },
  });
  queued(832, "gift");
  started(1_000, "gift");
  at(1_150, {
    type: "node.retried",
    nodeId: "orders",
    attempt: 1,
    fact: {
      case: "nodeRetried",
      value: { cause: "rate_limit", message: "the server answered 429", delayMs: 400n },
    },
  });
  queued(1_151, "orders", { attempt: 2 });
  started(1_600, "orders", { attempt: 2 });
  completed(2_050, "orders", {
    open: 1,
    items: ["brass ratchet", "brass ratchet", "brass ratchet"],
  });
  queued(2_052, "draft");
  at(2_200, {
    type: "run.recovered",
    nodeId: "gift",
    attempt: 1,
    fact: {
      case: "runRecovered",
      value: { reason: "lease_expired", executorId: "5f0c2a7e", lostDeliveries: 1 },
    },
  });
  queued(2_201, "gift");
  started(2_260, "draft");
  started(2_300, "gift");
  LETTER.slice(0, 3).forEach((text, index) =>
    delta(gateway, startMs + 2_500 + index * 180, index, text),
  );
  completed(2_900, "gift", { gift: "pawl" });
  delta(gateway, startMs + 3_060, 3, LETTER[3] ?? "");
}

const delta = (gateway: ScriptedGateway, atMs: number, deltaIndex: number, text: string): void =>
  gateway.append(atMs, {
    type: "node.stream.delta",
    nodeId: "draft",
    attempt: 1,
    epoch: 29n,
    fact: { case: "nodeStreamDelta", value: { deltaIndex, text } },
  });

/** The rest: the letter ends and is sent, and the run completes. */
export function tellEnd(gateway: ScriptedGateway, startMs: number): void {
  const at = (ms: number, fact: ScriptedFact): void => gateway.append(startMs + ms, fact);
  LETTER.slice(4).forEach((text, index) =>
    delta(gateway, startMs + 3_400 + index * 220, index + 4, text),
  );
  const done = (ms: number, nodeId: string, output: unknown): void =>
    at(ms, {
      type: "node.completed",
      nodeId,
      attempt: 1,
      fact: { case: "nodeCompleted", value: { outputJson: json(output) } },
    });
  done(4_100, "draft", { text: LETTER.join("") });
  at(4_102, {
    type: "node.queued",
    nodeId: "send",
    attempt: 1,
    fact: { case: "nodeQueued", value: {} },
  });
  at(4_200, {
    type: "node.started",
    nodeId: "send",
    attempt: 1,
    fact: { case: "nodeStarted", value: { executorId: "5f0c2a7e" } },
  });
  done(4_480, "send", { accepted: true });
  at(4_481, {
    type: "run.completed",
    fact: { case: "runCompleted", value: { outputJson: json({ send: { accepted: true } }) } },
  });
}
