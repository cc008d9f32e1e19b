import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PawlClient } from "@pawl/client";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve } from "@pawl/platform/rpc/implementation";
import { HandlerService } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../test/support/folder.ts";
import { until } from "../../test/support/until.ts";
import { LOOPBACK } from "../ports.ts";
import { Polyglot } from "./polyglot.ts";

/** A process that ignores SIGTERM, as one whose function never returns. */
const STUCK =
  "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 60_000); console.log('ready');";

test("an example handler whose function ignores its cancel is killed, and its supervisor starts another one", async () => {
  const name = `polyglot-order TypeScript ${process.pid}`;
  const lines: string[] = [];
  const isOver = (): boolean => lines.some((line) => line.includes("ended (SIGKILL)"));
  const server = await startGrpcServer({
    host: LOOPBACK,
    port: 0,
    services: [
      serve(HandlerService, {
        listSessions: async () => ({
          sessions: [{ name, busy: 1, ignoring: isOver() ? 0 : 1, ignoringMs: 40_000n }],
        }),
      }),
    ],
    onInternal: ({ error }) => expect.unreachable(String(error)),
  });
  onTestFinished(() => server.stop(0));
  const folder = temporaryFolder("polyglot");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const isReady = (): boolean =>
    readFileSync(join(folder, "example-typescript.log"), "utf8").includes("ready");
  // The part of the client that the supervisor uses.
  const client = {
    executors: { list: async () => (isReady() ? [{ processName: name }] : []) },
    workflows: { apply: async () => undefined },
  } as unknown as PawlClient;
  const command = [process.execPath, "-e", STUCK] as const;
  const polyglot = new Polyglot({
    ...{ client, logDir: folder, outbox: folder, address: `${LOOPBACK}:${server.port}` },
    programs: [
      {
        language: "TypeScript",
        type: "x",
        prepare: async () => ({ kind: "found", command, env: {} }),
      },
    ],
    report: (line) => lines.push(line),
  });
  await polyglot.start();
  await until(() => lines.some((line) => line.includes("is up again")), {
    what: "another process",
  });
  expect(lines.join("\n")).toMatch(/ignored the cancel[^]*ended \(SIGKILL\)[^]*is up again/);
  const stopped = polyglot.stop();
  const pid = Number(/process (\d+)\)$/.exec(lines.at(-1) ?? "")?.[1]);
  process.kill(-pid, "SIGKILL");
  await stopped;
});
