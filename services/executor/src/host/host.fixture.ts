// Test support: a host on a real port, with a scheduler and a process that the test plays, and a clock that the test moves.

import { randomUUID } from "node:crypto";
import { ManualTimers } from "@pawl/platform/lifecycle/manual-timers.fixture";
import { createLogger } from "@pawl/platform/telemetry/log";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HelloSchema, Session } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, vi } from "vitest";
import type { ModerationGateway } from "../checks/moderation.ts";
import { attemptRunner } from "../run/attempt.ts";
import {
  SchedulerPeer,
  testAssignment,
  testClaim,
  type PeerConnection,
} from "../work/scheduler-peer.fixture.ts";
import type { HostClock } from "./clock.ts";
import { TIMES } from "./limits.ts";
import { ScriptedProcess } from "./scripted-process.fixture.ts";
import { serveHost, type ServeOptions } from "./serve.ts";

interface HostFixtureOptions extends Partial<ServeOptions> {
  readonly moderation?: ModerationGateway;
}

/** Starts a scheduler and a host; nothing is connected yet. */
export async function startHost(options: HostFixtureOptions = {}) {
  const peer = await SchedulerPeer.start();
  const time = new ManualTimers();
  const clock: HostClock = { now: time.now, after: (ms, wake) => time.after(ms, wake) };
  const host = await serveHost({
    hostId: randomUUID(),
    times: TIMES,
    clock,
    log: createLogger({ service: "executor", level: "silent" }),
    connect: peer.connect,
    runner: (registry) => attemptRunner(registry, options.moderation),
    graceMs: 0,
    settleMs: 0,
    address: { host: "127.0.0.1", port: 0 },
    allowedHosts: [],
    ...options,
  });
  const address = `127.0.0.1:${host.port}`;
  const join = (metadata?: Readonly<Record<string, string>>): ScriptedProcess => {
    const joined = new ScriptedProcess(address, metadata);
    onTestFinished(() => joined.close());
    return joined;
  };
  onTestFinished(async () => {
    await host.stop();
    await peer.close();
  });
  /** The sessions as the host shows them. */
  const sessions = async (process = join()): Promise<readonly Session[]> =>
    (await process.client.call.listSessions({})).sessions;
  return { peer, time, host, address, join, sessions };
}

/** A process with a session, registered with the scheduler. */
export async function setup(
  hello: MessageInitShape<typeof HelloSchema> = {},
  options: HostFixtureOptions = {},
) {
  const started = await startHost(options);
  const process = started.join();
  await process.hello(hello);
  const scheduler = await started.peer.connection();
  const register = await scheduler.register();
  /** Settles when the only session looks like this. */
  const seen = (session: Partial<Session>): Promise<void> =>
    vi.waitFor(async () => {
      expect((await process.client.call.listSessions({})).sessions).toMatchObject([session]);
    });
  return { ...started, process, scheduler, register, seen };
}

/** Assigns work of this type and waits until the process has it. */
export async function assigned(
  { scheduler, process }: { readonly scheduler: PeerConnection; readonly process: ScriptedProcess },
  node: Partial<Parameters<typeof testAssignment>[1]> = {},
  epoch = 1n,
) {
  const claim = testClaim(epoch, `n${epoch}`);
  scheduler.send(testAssignment(claim, { type: "acme.echo", ...node }));
  const invoke = await process.received("invoke");
  return { claim, invoke, invocationId: invoke.invocationId };
}
