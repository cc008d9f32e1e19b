import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code } from "@connectrpc/connect";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, onTestFinished, test } from "vitest";
import { SYSTEM_CLOCK } from "./backoff.ts";
import { createPawlClient } from "./client.ts";
import { jsonBytes } from "./json.ts";
import { openSubmitStream } from "./node/submit-stream.ts";
import { ScriptedGateway, scriptedFailure, scriptedLog } from "./scripted-gateway.fixture.ts";

test("a gateway without the standing stream gets single calls for a minute, with the same request ids", async () => {
  const value = { outputJson: jsonBytes("by call") };
  const log = scriptedLog("r1", [{ type: "run.completed", fact: { case: "runCompleted", value } }]);
  const started: (string | undefined)[] = [];
  const gateway = new ScriptedGateway({
    async *submit(messages, connection) {
      if (connection === 0) yield { fail: scriptedFailure(Code.Unimplemented, "X", "not here") };
      for await (const { submissions } of messages)
        for (const { start } of submissions) {
          const requestId = start?.requestId ?? "";
          const end = { runId: "r2", status: RunStatus.COMPLETED, outputJson: jsonBytes("stream") };
          yield { answers: [{ requestId, accepted: { runId: "r2" }, end }] };
        }
    },
    execute: ({ start }) => {
      started.push(start?.requestId);
      return [{ accept: "r1" }, { send: log }];
    },
    runs: {
      startRun: ({ requestId }) => {
        started.push(requestId);
        return { run: { runId: requestId } };
      },
    },
  });
  const baseUrl = await gateway.start();
  onTestFinished(() => gateway.stop());
  let nowMs = 0;
  const client = createPawlClient({ baseUrl, clock: { ...SYSTEM_CLOCK, now: () => nowMs } });
  onTestFinished(() => client.close());
  const seen: string[] = [];
  const onStart = ({ runId }: { readonly runId: string }) => void seen.push(runId);
  expect(await client.run("w", null, { requestId: "a", onStart })).toBe("by call");
  expect(await client.start("w", null, { requestId: "b" })).toMatchObject({ runId: "b" });
  expect(await client.runs.startMany([{ workflowId: "w", requestId: "c" }])).toMatchObject([
    { ok: true, runId: "c" },
  ]);
  expect(started).toEqual(["a", "b", "c"]);
  expect(seen).toEqual(["r1"]);
  expect(gateway.submitted).toHaveLength(1);
  nowMs += 60_000;
  expect(await client.run("w")).toBe("stream");
  client.close();
  await expect(client.run("w")).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
});

test("a proxy that does not know the path of the stream has no stream", async () => {
  const sessions: ServerHttp2Session[] = [];
  const proxy = createServer().on("stream", (stream) => {
    stream.respond({ ":status": 404 });
    stream.end();
  });
  proxy.on("session", (session) => sessions.push(session));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo; // a listening TCP server has no other kind
  const closed = new Promise((onClose) => {
    openSubmitStream(`http://127.0.0.1:${port}`, { onMessage: () => undefined, onClose });
  });
  expect(await closed).toMatchObject({ code: Code.Unimplemented });
});
