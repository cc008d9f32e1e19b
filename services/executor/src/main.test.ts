import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { SchedulerPeer, testAssignment, testClaim } from "./work/scheduler-peer.fixture.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

/** A user without privileges, so that the host gives the sandbox less than all of its layers. */
const WEAK = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

async function setup(env: Record<string, string> = {}) {
  const peer = await SchedulerPeer.start();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PAWL_SCHEDULER_ADDRESS: peer.address,
      PAWL_METRICS_PORT: "0",
      PAWL_HANDLER_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await peer.close();
  });
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise<number>((resolve) => {
    lines.on("line", (line) => {
      const { msg, port }: { msg?: string; port?: number } = JSON.parse(line);
      if (msg === "ready" && port !== undefined) resolve(port);
    });
  });
  return { peer, child, port: await ready };
}

test("the process runs nodes for a scheduler, shows its health and leaves on SIGTERM (S0.26, S0.47)", async () => {
  const { peer, child, port } = await setup();
  const probe = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  const connection = await peer.connection();
  expect((await probe("/healthz")).status).toBe(200);
  expect((await probe("/readyz")).status).toBe(503);
  const { nodeTypes, slots } = await connection.register();
  expect(slots).toBe(256);
  expect(nodeTypes.toSorted()).toEqual([
    "agent",
    "approval",
    "await_signal",
    "condition",
    "dataQuery",
    "delay",
    "end",
    "http",
    "javascript",
    "llm",
    "loop",
    "map",
    "noop",
    "remember",
    "sanitize",
    "start",
    "subworkflow",
    "supervisor",
    "text_stream",
  ]);
  const claim = testClaim(1n);
  const code = "return `Hello, ${ctx.input.name}`";
  connection.send(testAssignment(claim, { type: "javascript", config: { code } }));
  const { result } = await connection.heard("outcome");
  expect(result.case === "completed" && Buffer.from(result.value.outputJson).toString()).toBe(
    '"Hello, Ada"',
  );
  expect((await probe("/readyz")).status).toBe(200);
  expect(await (await probe("/metrics")).text()).toContain("pawl_handler_duration_seconds");
  connection.send({ case: "settled", value: { claim } });
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await connection.heard("goodbye");
  expect(await exited).toEqual([0, null]);
});

test("an outcome that the scheduler does not acknowledge is sent again on the open stream until the scheduler settles it", async () => {
  const { peer } = await setup();
  const connection = await peer.connection();
  await connection.register();
  const claim = testClaim(1n);
  connection.send(testAssignment(claim, { type: "noop" }));
  const first = await connection.heard("outcome");
  // The scheduler has lost it and does not answer.
  const second = await connection.heard("outcome");
  expect(second).toEqual(first);
  connection.send({ case: "settled", value: { claim } });
  connection.send(testAssignment(testClaim(2n), { type: "noop" }));
  const { claim: next } = await connection.heard("outcome");
  expect(next?.epoch).toBe(2n);
});

test("user code that takes its sandbox down leaves the process serving (S2)", async () => {
  const { peer } = await setup();
  const connection = await peer.connection();
  await connection.register();
  const bomb = { code: "return new Array(1e9).fill(0)", timeout_ms: 2_000 };
  connection.send(testAssignment(testClaim(1n), { type: "javascript", config: bomb }));
  const { result } = await connection.heard("outcome");
  expect(result.case).toBe("failed");
  connection.send(testAssignment(testClaim(2n), { type: "noop" }));
  expect((await connection.heard("outcome")).result.case).toBe("completed");
});

test("a claim in hand at SIGTERM is released after the grace period (X18)", async () => {
  const { peer, child } = await setup({ PAWL_EXECUTOR_GRACE_MS: "50" });
  const connection = await peer.connection();
  await connection.register();
  const claim = testClaim(1n);
  const config = { text: "ab", chunk_chars: 1, interval_ms: 60_000 };
  connection.send(testAssignment(claim, { type: "text_stream", config }));
  await connection.heard("delta");
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  expect((await connection.heard("release")).claim).toMatchObject(claim);
  expect(await exited).toEqual([0, null]);
});

test("a process with a bad file of moderation rules does not start, and names every fault at once (S1.8)", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pawl-rules-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "rules.yaml");
  await writeFile(
    path,
    "rules:\n  - {id: one, pattern: '('}\n  - {id: two}\n  - {id: two, literal: x}\n",
  );
  const env = { PAWL_MODERATION_RULES: path, PAWL_METRICS_PORT: "0", PAWL_HANDLER_PORT: "0" };
  const child = spawn(process.execPath, [MAIN], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(code).toBe(78);
  for (const fault of [
    "rules.0.pattern",
    "rules.1: a rule has either",
    "rules.2.id: two occurs twice",
  ])
    expect(said).toContain(fault);
});

test("production refuses to run user code without all layers, unless the operator allows it (S3.26)", async () => {
  const start = (env: Record<string, string>) => {
    const child = spawn(process.execPath, [MAIN], {
      env: { PAWL_ENV: "production", PAWL_METRICS_PORT: "0", PAWL_HANDLER_PORT: "0", ...env },
      stdio: ["ignore", "pipe", "inherit"],
      ...WEAK,
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, lines: createInterface({ input: child.stdout }) };
  };
  const refused = start({});
  const said: string[] = [];
  refused.lines.on("line", (line) => said.push(line));
  expect(await once(refused.child, "close")).toEqual([1, null]);
  expect(said.join()).toContain("PAWL_ALLOW_WEAK_SANDBOX");
  expect(said.join()).not.toContain('"ready"');
  const allowed = start({ PAWL_ALLOW_WEAK_SANDBOX: "true" });
  await new Promise<void>((resolve) => {
    allowed.lines.on("line", (line) => line.includes('"ready"') && resolve());
  });
});
