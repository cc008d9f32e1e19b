import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve } from "@pawl/platform/rpc/implementation";
import { HandlerService } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { LOOPBACK } from "../ports.ts";
import { lookAtHosts } from "./host-view.ts";

/** A host that lists these sessions. */
async function hostWith(...sessions: readonly { name: string; refused?: { reason: string }[] }[]) {
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
