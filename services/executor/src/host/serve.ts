// Serves the host on a port of its own. An executor works without it: if the port is taken, it says so and runs its own node types only.
// So a second executor on one machine starts as before; handler processes connect to the first one.

import { LIMITS } from "@pawl/core/data/limits";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve } from "@pawl/platform/rpc/implementation";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { HandlerService } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { Secret } from "@pawl/platform/config/secret";
import { Host } from "./host.ts";
import type { SessionParts } from "./session.ts";

export interface ServeOptions extends SessionParts {
  readonly address: { readonly host: string; readonly port: number };
  /** Processes have to send it. */
  readonly token?: Pick<Secret, "reveal"> | undefined;
  readonly allowedHosts: readonly string[];
}

interface ServedHost {
  /** undefined if the port is taken. */
  readonly port: number | undefined;
  /** Attempts that run in processes now. */
  readonly busyCount: () => number;
  /** Lets the processes finish within the grace period, then stops. */
  readonly stop: () => Promise<void>;
}

/** How long the ends of the streams may take. */
const STOP_MS = 1_000;

export async function serveHost(options: ServeOptions): Promise<ServedHost> {
  const { log, address, token, allowedHosts } = options;
  const host = new Host(options);
  const busyCount = (): number => host.busyCount;
  try {
    const server = await startGrpcServer({
      ...{ ...address, token, allowedHosts },
      messageBytes: LIMITS.handlerMessageBytes,
      services: [serve(HandlerService, host.implementation)],
      onInternal: ({ requestId, error }) => {
        METRICS.internalFaults.add(1);
        log.error({ err: error, request_id: requestId }, "a call of a handler process failed");
      },
    });
    log.info({ ...address, port: server.port }, "serving handler processes");
    const stop = async (): Promise<void> => {
      await host.stop();
      await server.stop(STOP_MS);
    };
    return { port: server.port, busyCount, stop };
  } catch (error) {
    const at = `${address.host}:${address.port}`;
    log.warn(
      { err: error },
      `handler processes cannot connect to this executor: ${at} cannot be bound; set PAWL_HANDLER_PORT to a free port`,
    );
    return { port: undefined, busyCount, stop: async () => undefined };
  }
}
