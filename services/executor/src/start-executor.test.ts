import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as textOf } from "node:stream/consumers";
import { defineHandler } from "@pawl/core/handler/define";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { ModerationGateway } from "./checks/moderation.ts";
import { type ExecutorOptions, type RefusedType, startExecutor } from "./start-executor.ts";
import { SchedulerPeer, testAssignment, testClaim } from "./work/scheduler-peer.fixture.ts";

const greet = defineHandler({
  type: "acme.greet@1",
  description: "Greets.",
  input: z.object({ who: z.string() }),
  output: z.string(),
  run: ({ who }) => `Hello ${who}`,
});

async function setup(options: Partial<ExecutorOptions> = {}) {
  const peer = await SchedulerPeer.start();
  const executor = startExecutor({
    scheduler: peer.address,
    handlers: [greet],
    slots: 3,
    graceMs: 0,
    ...options,
  });
  onTestFinished(async () => {
    await executor.stop();
    await peer.close();
  });
  return { executor, connection: await peer.connection() };
}

test("an executor in a user's process registers its types with their schemas, and runs them", async () => {
  const { executor, connection } = await setup();
  expect(executor.status()).toBe("connecting");
  const register = await connection.register();
  await executor.ready();
  expect(executor.status()).toBe("open");
  expect(register).toMatchObject({
    nodeTypes: ["acme.greet@1"],
    slots: 3,
    descriptors: [
      { type: "acme.greet@1", description: "Greets.", inputSchema: greet.schemas.input },
    ],
  });
  const node = { type: "acme.greet@1", input: { who: "Ada" } };
  connection.send(testAssignment(testClaim(1n), node));
  const { result } = await connection.heard("outcome");
  expect(result.case === "completed" && String(Buffer.from(result.value.outputJson))).toBe(
    '"Hello Ada"',
  );
  connection.send(testAssignment(testClaim(2n), { ...node, input: { who: 5 } }));
  const second = await connection.heard("outcome");
  expect(second.result).toMatchObject({ value: { cause: "input_invalid", permanent: true } });
});

test("an executor in a user's process shows its name, build, package and language", async () => {
  const { connection } = await setup({ name: "billing", build: "4f1c" });
  expect((await connection.register()).process).toMatchObject({
    name: "billing",
    build: "4f1c",
    sdk: "@pawl/handler 0.1.0",
    language: `node ${process.versions.node}`,
  });
});

test("a type that the scheduler refuses is reported once with its reason, and the others are served", async () => {
  const reported: RefusedType[] = [];
  const { executor, connection } = await setup({ onRefused: (refused) => reported.push(refused) });
  const refused = [
    { type: "acme.greet@1", reason: "TYPE_CONFLICT", message: "served with another schema" },
  ];
  await connection.heard("register");
  connection.registered(60_000, 180_000, refused);
  await executor.ready();
  expect(executor.status()).toBe("open");
  expect(executor.refused).toEqual(refused);
  expect(reported).toEqual(refused);
});

/** A user's process without a listener. Its argument is the address of the scheduler. */
const PROGRAM = `
import { defineHandler } from "@pawl/core/handler/define";
import { startExecutor } from "./start-executor.ts";
const handlers = [defineHandler({ type: "acme.greet@1", run: () => "Hello" })];
const executor = startExecutor({ scheduler: process.argv[1], handlers, graceMs: 0 });
await executor.ready();
await executor.stop();`;

test("without a listener a refused type is a line on standard error", async () => {
  const peer = await SchedulerPeer.start();
  onTestFinished(() => peer.close());
  const args = ["--input-type=module", "-e", PROGRAM, peer.address];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname });
  onTestFinished(() => void child.kill("SIGKILL"));
  const written = textOf(child.stderr);
  const connection = await peer.connection();
  await connection.heard("register");
  connection.registered(60_000, 180_000, [
    { type: "acme.greet@1", reason: "SCHEMA_INVALID", message: "input_schema: /type" },
  ]);
  expect(await written).toBe(
    "pawl: acme.greet@1 is not served: SCHEMA_INVALID: input_schema: /type\n",
  );
});

test("a handler in an executor knows its run, node, attempt, effect key and trace", async () => {
  const facts = defineHandler({
    type: "acme.facts@1",
    run: (_input, { runId, nodeId, iteration, attempt, effectKey, traceparent }) => ({
      ...{ runId, nodeId, iteration, attempt, effectKey, traceparent },
    }),
  });
  const { connection } = await setup({ handlers: [facts] });
  await connection.register();
  const claim = testClaim(1n);
  const assignment = testAssignment(claim, { type: facts.type });
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  connection.send({ ...assignment, value: { ...assignment.value, traceparent } });
  const { result } = await connection.heard("outcome");
  const json = result.case === "completed" ? Buffer.from(result.value.outputJson) : "";
  const { effectKey, attempt } = assignment.value;
  const { runId, nodeId, iteration } = claim;
  expect(JSON.parse(String(json))).toEqual({
    ...{ runId, nodeId, iteration, attempt, effectKey, traceparent },
  });
});

/** Finds a codename in whole values and in streamed text. */
const CODENAME: ModerationGateway = {
  ...{ contextChars: 32, stepChars: 1 },
  check: (roots) => ({ ok: true, findings: findingsIn(JSON.stringify(roots), "output") }),
  checkStretch: ({ text, isLast }) => ({
    ok: true,
    findings: findingsIn(text, "stream"),
    clear: isLast ? text.length : Math.max(0, text.length - 6),
  }),
};
const findingsIn = (text: string, path: string) =>
  text.includes("quince") ? [{ rule: "codename", category: "confidential", path }] : [];

const letter = defineHandler({
  type: "acme.letter@1",
  input: z.object({ pieces: z.array(z.string()), waits: z.boolean() }),
  run: async ({ pieces, waits }, { emit, signal }) => {
    for (const piece of waits ? pieces : []) await emit(piece);
    if (waits && !signal.aborted) await once(signal, "abort");
    return pieces.join("");
  },
});

test("moderation in code blocks an output before a watcher sees it", async () => {
  const { connection } = await setup({ handlers: [letter], moderation: CODENAME });
  await connection.register();
  const more = { moderation: "output" };
  const input = { pieces: ["project ", "quince"], waits: false };
  connection.send(testAssignment(testClaim(1n), { type: letter.type, input, more }));
  const { result, gates } = await connection.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause: "moderation_blocked" } });
  expect(gates).toMatchObject([{ phase: "output" }]);
});

test("moderation in code stops a stream, and the function gets its signal", async () => {
  const { connection } = await setup({ handlers: [letter], moderation: CODENAME });
  await connection.register();
  const more = { moderation: "output" };
  // The word is split over two pieces, and the function would wait for ever.
  const input = { pieces: ["all is well, project qui", "nce"], waits: true };
  connection.send(testAssignment(testClaim(1n), { type: letter.type, input, more }));
  const { result } = await connection.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause: "moderation_blocked" } });
  const shown = connection.items.flatMap((item) =>
    item.case === "delta" ? [item.value.text] : [],
  );
  expect(shown.join("")).toBe("all is well, project qui".slice(0, -6));
});

test.each([
  ["no handlers", [], 1],
  ["one type twice", [greet, greet], 1],
  ["no slots", [greet], 0],
  ["half a slot", [greet], 1.5],
] as const)("an executor with %s does not start", (_name, handlers, slots) => {
  expect(() => startExecutor({ scheduler: "127.0.0.1:1", handlers, slots })).toThrow(TypeError);
});
