import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startTelemetry } from "@pawl/platform/telemetry/start";
import { inTraceOf } from "@pawl/platform/telemetry/trace";
import { httpGateway } from "./http-gateway.ts";

const SUBJECT = { phase: "output", runId: "r", nodeId: "n" } as const;
const NEVER = new AbortController().signal;

/** A moderation service with these answers; it repeats the last one. */
async function setup(...answers: readonly ((response: ServerResponse) => void)[]) {
  // The limit is short only for a service that never answers.
  const timeoutMs = answers.includes(silent) ? 200 : 20_000;
  const bodies: unknown[] = [];
  const traceparents: unknown[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    traceparents.push(request.headers["traceparent"]);
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      bodies.push(JSON.parse(Buffer.concat(parts).toString()));
      answers[Math.min(bodies.length, answers.length) - 1]?.(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/moderate`;
  const gateway = httpGateway({ url, timeoutMs, retries: 1, windowChars: 16 });
  return { gateway, bodies, traceparents };
}

const json = (value: unknown) => (response: ServerResponse) => response.end(JSON.stringify(value));
const status = (code: number) => (response: ServerResponse) => {
  response.statusCode = code;
  response.end();
};
const silent = (): void => undefined;

test("a service is asked with the value, the phase and the node, and its findings are taken (S1.8)", async () => {
  const { gateway, bodies } = await setup(
    json({ findings: [{ rule: "r1", category: "hate", path: "output.text" }] }),
    json({ flagged: true }),
    json({ flagged: false }),
  );
  const roots = { output: { text: "x" } };
  expect(await gateway.check(roots, SUBJECT, NEVER)).toEqual({
    ok: true,
    findings: [{ rule: "r1", category: "hate", path: "output.text" }],
  });
  expect(bodies).toEqual([{ value: roots, phase: "output", runId: "r", nodeId: "n" }]);
  expect(await gateway.check(roots, SUBJECT, NEVER)).toMatchObject({
    findings: [{ rule: "http", path: "output" }],
  });
  expect(await gateway.check(roots, SUBJECT, NEVER)).toEqual({ ok: true, findings: [] });
});

test("streamed text is asked about in stretches, the last of which is not shown yet", async () => {
  const { gateway, bodies } = await setup(json({ findings: [] }));
  const stretch = { text: "x".repeat(40), seen: 0, isCut: false };
  const look = (isLast: boolean) => gateway.checkStretch({ ...stretch, isLast }, SUBJECT, NEVER);
  expect(await look(false)).toEqual({ ok: true, findings: [], clear: 24 });
  expect(await look(true)).toEqual({ ok: true, findings: [], clear: 40 });
  expect(bodies[0]).toEqual({ text: stretch.text, phase: "output", runId: "r", nodeId: "n" });
});

test("a service that fails for a moment is asked again", async () => {
  const { gateway, bodies } = await setup(status(503), json({ findings: [] }));
  expect(await gateway.check({}, SUBJECT, NEVER)).toEqual({ ok: true, findings: [] });
  expect(bodies).toHaveLength(2);
});

test.each([
  ["is away for good", [status(503)], 2],
  ["does not answer in time", [silent], 2],
  ["refuses", [status(403)], 1],
  ["leads elsewhere", [status(302)], 2],
  ["answers nonsense", [json({ hello: 1 })], 1],
  ["answers no JSON", [(response: ServerResponse) => void response.end("ok")], 1],
  ["answers without end", [json({ findings: [], more: "x".repeat(100_000) })], 1],
])("a service that %s is no answer, in bounded tries", async (_what, answers, tries) => {
  const { gateway, bodies } = await setup(...answers);
  const verdict = await gateway.check({ output: "private" }, SUBJECT, NEVER);
  expect(verdict).toMatchObject({ ok: false });
  expect(JSON.stringify(verdict)).not.toContain("127.0.0.1");
  expect(bodies.length).toBeLessThanOrEqual(tries);
});

test("an attempt that is aborted asks no more", async () => {
  const { gateway, bodies } = await setup(json({ findings: [] }));
  expect(await gateway.check({}, SUBJECT, AbortSignal.abort())).toMatchObject({ ok: false });
  expect(bodies).toEqual([]);
});

test("a service gets the trace of the run", async () => {
  const telemetry = await startTelemetry({ serviceName: "test", env: {} });
  onTestFinished(() => telemetry.shutdown());
  const { gateway, traceparents } = await setup(json({ findings: [] }));
  const traceparent = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await inTraceOf(traceparent, () => gateway.check({}, SUBJECT, NEVER));
  expect(traceparents).toEqual([traceparent]);
});
