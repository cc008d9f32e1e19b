// Callers that end many streams on one HTTP/2 connection keep it. A gateway closes a connection on which a client resets streams like a
// flood; every open call on it then fails and waits for its retry, which callers saw as ends that came 150 to 240 ms late.
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createPawlClient, TERMINAL_EVENT_TYPES } from "@pawl/client";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { KNOWN, saveKnown } from "./known-workflow.ts";
import { useStage } from "./stage.ts";

const CALLERS = 8;
const CALLS_EACH = 40;
/** HTTP/2's frame that resets a stream. */
const RST_STREAM = 3;
const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;

/** A run of it waits for a person, so its stream is open when a caller resets it. */
const HELD = "ends-held";
const ASK = JSON.stringify({
  nodes: [{ id: "ask", type: "approval", config: { message: "Go on?" } }],
});

const stage = useStage(undefined, async (set) => {
  await saveKnown(set);
  const { workflows } = set.door("grpc-js");
  await workflows.createWorkflow({ workflowId: HELD, definition: { text: ASK } });
});

/** A way to the gateway that counts connections and the streams that the client resets. */
async function countingPort() {
  const counts = { connections: 0, resets: 0 };
  const server = createServer({ noDelay: true }, (client) => {
    counts.connections += 1;
    const gateway = connect({ port: stage().port, host: "127.0.0.1", noDelay: true });
    const take = frameTypes((type) => (counts.resets += type === RST_STREAM ? 1 : 0));
    client.on("data", take);
    client.pipe(gateway).pipe(client);
    for (const socket of [client, gateway]) socket.on("error", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return { counts, baseUrl: `http://127.0.0.1:${port}` };
}

/** Calls `onFrame` with the type of each frame that a client sends. */
function frameTypes(onFrame: (type: number) => void): (chunk: Buffer) => void {
  let skip = PREFACE_BYTES;
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const left = Math.min(skip, rest.length);
      rest = rest.subarray(left);
      skip -= left;
      if (skip > 0 || rest.length < FRAME_HEADER_BYTES) return;
      onFrame(rest.readUInt8(3));
      skip = FRAME_HEADER_BYTES + rest.readUIntBE(0, 3);
    }
  };
}

/** Several callers at once, each with calls one after another. */
async function byCallers(call: () => Promise<void>): Promise<void> {
  const caller = async (): Promise<void> => {
    for (let calls = 0; calls < CALLS_EACH; calls += 1) await call();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

test("a client that waits for the ends of many runs resets no stream and keeps its connection", async () => {
  const { counts, baseUrl } = await countingPort();
  const client = createPawlClient({ transport: createGrpcTransport({ baseUrl }) });
  await byCallers(async () => {
    for await (const event of client.runs.execute(KNOWN, { types: [...TERMINAL_EVENT_TYPES] }))
      if (event.type === "run.completed") break;
  });
  expect(counts).toEqual({ connections: 1, resets: 0 });
});

test("a client that resets each stream once it has its message keeps its connection", async () => {
  const { counts, baseUrl } = await countingPort();
  const runs = createClient(RunService, createGrpcTransport({ baseUrl }));
  await byCallers(async () => {
    const leave = new AbortController();
    const stream = runs.executeRun({ start: { workflowId: HELD } }, { signal: leave.signal });
    for await (const { run } of stream) {
      expect(run?.runId).toBeDefined();
      break;
    }
    leave.abort();
  });
  const resets = CALLERS * CALLS_EACH;
  await until(() => counts.resets >= resets, { what: `${resets} reset streams` });
  expect(counts).toEqual({ connections: 1, resets });
});
