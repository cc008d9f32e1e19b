import { defineHandler } from "@pawl/core/handler/define";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startExecutor } from "./start-executor.ts";
import { SchedulerPeer, testAssignment, testClaim } from "./work/scheduler-peer.fixture.ts";

const greet = defineHandler({
  type: "acme.greet@1",
  description: "Greets.",
  input: z.object({ who: z.string() }),
  output: z.string(),
  run: ({ who }) => `Hello ${who}`,
});

async function setup() {
  const peer = await SchedulerPeer.start();
  const executor = startExecutor({
    scheduler: peer.address,
    handlers: [greet],
    slots: 3,
    graceMs: 0,
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

test.each([
  ["no handlers", [], 1],
  ["one type twice", [greet, greet], 1],
  ["no slots", [greet], 0],
  ["half a slot", [greet], 1.5],
] as const)("an executor with %s does not start", (_name, handlers, slots) => {
  expect(() => startExecutor({ scheduler: "127.0.0.1:1", handlers, slots })).toThrow(TypeError);
});
