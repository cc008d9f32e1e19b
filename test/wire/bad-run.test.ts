// Definitions that are well formed and do harm only when they run: user code, addresses, templates and conditions. Each fails its own node
// with its own cause, and no process restarts (rows S, T and U of the catalogue of bad inputs).
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { useStage } from "./stage.ts";

type Harm = readonly [row: string, what: string, type: string, config: object, cause: string];

const code = (
  row: string,
  what: string,
  text: string,
  cause: string,
  timeout_ms = 20_000,
): Harm => [row, what, "javascript", { code: text, timeout_ms }, cause];
const HASTY_MS = 400;

const SCRIPTS: readonly Harm[] = [
  code("S1", "an endless loop", "while (1);", "js_timeout", HASTY_MS),
  code("S2", "a huge array", "return new Array(1e9).fill(0)", "js_killed"),
  code("S4", "squaring for ever", "let n = 3n; for (;;) n = n * n", "js_timeout", HASTY_MS),
  code(
    "S5",
    "backtracking",
    'return /^(a+)+$/.test("a".repeat(5000) + "!")',
    "js_timeout",
    HASTY_MS,
  ),
  code("S7", "deep recursion", "const f = () => f() + 1; return f()", "js_error"),
  code(
    "S8",
    "the host's process",
    'return this.constructor.constructor("return process")()',
    "js_error",
  ),
  code(
    "S10",
    "an atomic wait",
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "js_error",
  ),
  code("S11", "an import", 'return await import("node:fs")', "js_error"),
  code("S11", "a require", 'return require("fs")', "js_error"),
  code("S13", "throwing nothing", "throw undefined", "js_error"),
  code("S13", "a getter that loops", "return { get a() { while (1); } }", "js_timeout", HASTY_MS),
  code("S14", "ten megabytes", 'return "x".repeat(1e7)', "output_too_large"),
  code(
    "S19",
    "a result that is a proxy",
    "return new Proxy({}, { ownKeys() { throw 1 } })",
    "js_error",
  ),
];

const url = (row: string, address: string): Harm => [
  row,
  address,
  "http",
  { url: address },
  "url_blocked",
];
const ADDRESSES: readonly Harm[] = [
  ...["http://127.0.0.1", "http://2130706433", "http://0x7f000001", "http://0177.0.0.1"].map(
    (address) => url("U1", address),
  ),
  ...["http://127.1", "http://①②⑦.⓪.⓪.①"].map((address) => url("U1", address)),
  ...["http://[::1]", "http://[::ffff:127.0.0.1]", "http://[::127.0.0.1]"].map((address) =>
    url("U2", address),
  ),
  ...["http://[64:ff9b::7f00:1]", "http://[2002:7f00:1::]"].map((address) => url("U2", address)),
  ...["http://10.0.0.1", "http://192.168.1.1", "http://0.0.0.0", "http://198.18.0.1"].map(
    (address) => url("U4", address),
  ),
  ...["http://localhost.", "http://metadata.google.internal", "http://scheduler"].map((address) =>
    url("U5", address),
  ),
  ...["http://example.com:22", "http://example.com:25", "http://example.com:5432"].map((address) =>
    url("U10", address),
  ),
];

const TEMPLATES: readonly Harm[] = [
  [
    "T7",
    "a variable that is not set",
    "text_stream",
    { text: "{{ ctx.input.nobody }}" },
    "missing_variable",
  ],
  ["T5", "growth", "text_stream", { text: "{{ ctx.input.text }}".repeat(900) }, "output_too_large"],
  [
    "T13",
    "a condition that meets a text",
    "condition",
    { branches: [{ id: "yes", when: "ctx.input.text > 1" }] },
    "condition_type",
  ],
  [
    "T14",
    "a header of two lines",
    "http",
    { url: "https://example.com", headers: { a: "{{ ctx.input.lines }}" } },
    "header_injection",
  ],
];

const stage = useStage({});

test.each([
  ["S1-S19", "user code", SCRIPTS],
  ["U1-U10", "addresses", ADDRESSES],
  ["T5-T14", "templates and conditions", TEMPLATES],
])("%s: %s that do harm fail their own nodes, and no process dies (S3.26)", async (...told) => {
  const [, , harms] = told;
  const nodes = harms.map(([, , type, config], index) => ({ id: `n${index}`, type, config }));
  const edges = nodes.map(({ id }) => ({ source: "start", target: id }));
  const definition = {
    text: JSON.stringify({ nodes: [{ id: "start", type: "start" }, ...nodes], edges }),
  };
  const inputJson = Buffer.from(JSON.stringify({ text: "x".repeat(10_000), lines: "a\r\nb: c" }));
  const { cluster, url: base, door } = stage();
  const members = [...cluster.schedulers, ...cluster.executors, ...cluster.gateways];
  const pids = members.map(({ pid }) => pid);
  const { runs, events } = door("gRPC");
  const { run } = await runs.testRun({ definition, inputJson });
  const log: RunEvent[] = [];
  for await (const batch of events.watchRun({ runId: run?.runId ?? "" })) log.push(...batch.events);
  const causes = harms.map(([row, what], index) => {
    const own = log.find(({ nodeId, type }) => nodeId === `n${index}` && type === "node.failed");
    return [row, what, own?.fact.case === "nodeFailed" ? own.fact.value.cause : "did not fail"];
  });
  expect(causes).toEqual(harms.map(([row, what, , , cause]) => [row, what, cause]));
  expect(members.map(({ pid }) => pid)).toEqual(pids);
  for (const pid of pids) process.kill(pid, 0);
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
});
