import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { type Implementation, serve } from "@pawl/platform/rpc/implementation";
import { HandlerService, SessionState } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { LOOPBACK } from "../ports.ts";
import { lookAtHosts } from "./host-view.ts";

type Listing = Awaited<
  ReturnType<NonNullable<Implementation<typeof HandlerService>["listSessions"]>>
>;
type Session = NonNullable<Listing["sessions"]>[number];

/** A host that lists these sessions. */
async function hostWith(...sessions: readonly Session[]) {
  const implementation = {
    listSessions: async () => ({ hostId: "host", sessions: [...sessions] }),
  };
  const server = await startGrpcServer({
    ...{ host: LOOPBACK, port: 0, services: [serve(HandlerService, implementation)] },
    onInternal: ({ error }) => expect.unreachable(String(error)),
  });
  onTestFinished(() => server.stop(0));
  return `${LOOPBACK}:${server.port}`;
}

test("a version may serve any host of the list, and a host that does not answer is named once", async () => {
  const faults: string[] = [];
  const gone = `${LOOPBACK}:1`;
  const refused = [{ reason: "TYPE_CONFLICT" }];
  const addresses = [
    gone,
    await hostWith(),
    await hostWith({ name: "v1" }, { name: "v2", refused }),
  ];
  const view = lookAtHosts({
    ...{ addresses, token: undefined, nameOf: (version) => `v${version}` },
    onFault: (address, why) => faults.push(`${address}: ${why}`),
  });
  onTestFinished(view.close);
  const { signal } = new AbortController();
  await view.connected(1, signal);
  expect(await view.refused(2, signal)).toBe(true);
  expect(faults).toEqual([expect.stringMatching(/^127\.0\.0\.1:1: .*ECONNREFUSED/)]);
  const stop = new AbortController();
  const waiting = view.connected(3, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});

test("a version is stuck when a function has ignored its cancel for the grace, and alone when nothing else runs; a cut process is not looked at", async () => {
  const old = { ignoring: 1, ignoringMs: 40_000n };
  const address = await hostWith(
    { name: "v1", ...old, busy: 2 },
    { name: "v2", ...old, busy: 1, state: SessionState.DRAINING },
    { name: "v3", ...old, ignoringMs: 1_000n, busy: 1 },
    { name: "v4", ...old, busy: 1, state: SessionState.CUT },
  );
  const view = lookAtHosts({
    ...{ addresses: [address], token: undefined, nameOf: (version) => `v${version}` },
    onFault: expect.unreachable,
  });
  onTestFinished(view.close);
  const { signal } = new AbortController();
  expect(await view.stuck(1, false, signal)).toBe(1);
  expect(await view.stuck(2, true, signal)).toBe(1);
  // A version that leaves, that was cut, or that is gone gets no work.
  for (const version of [2, 4, 5]) await view.leaving(version, signal);
  const stop = new AbortController();
  const others = [
    view.stuck(1, true, stop.signal),
    view.stuck(3, false, stop.signal),
    view.stuck(4, false, stop.signal),
    view.leaving(1, stop.signal),
  ];
  const first = Promise.race(others);
  await view.connected(3, signal);
  stop.abort(new Error("none is stuck"));
  await expect(first).rejects.toThrow("none is stuck");
  await Promise.allSettled(others);
});
