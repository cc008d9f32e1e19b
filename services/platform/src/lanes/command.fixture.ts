// Servers and callers of commands over real sockets.

import { stat } from "node:fs/promises";
import { type AddressInfo, connect as dial, createServer, type Socket } from "node:net";
import { EngineError } from "@pawl/core/fault/engine-error";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { onTestFinished } from "vitest";

import { createCommandClient, type CommandClientOptions } from "./command-client.ts";
import { serveCommands } from "./command-server.ts";
import { startGrpcServer } from "../rpc/grpc-server.ts";
import { serve, type Implementation } from "../rpc/implementation.ts";

/** The served methods. */
type Runs = Implementation<typeof RunService>;

/** A server of commands, with its internal faults. */
export async function startServer(runs: Runs) {
  const faults: unknown[] = [];
  const onInternal = ({ error }: { readonly error: unknown }): void => void faults.push(error);
  const commands = serveCommands([serve(RunService, runs)], onInternal);
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [commands.service],
    onInternal,
  });
  onTestFinished(() => server.stop(0));
  return { server, commands, faults };
}

interface Reachable {
  readonly port: number;
}

/** Calls to any of the servers that is up. */
export function connect(...servers: readonly Reachable[]) {
  return connectWith({}, ...servers);
}

/** The same with options. */
export function connectWith(options: CommandClientOptions, ...servers: readonly Reachable[]) {
  const address = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const client = createCommandClient(address, options);
  onTestFinished(() => client.close());
  return client.callsOf(RunService);
}

/**
 * A link to a server: open; shut, as if no process listened; or frozen, like a stopped process: it accepts and never answers. The link keeps
 * its port all the time, so no other process can take it while a server is away.
 */
export async function wayTo(server: Reachable) {
  let state: "open" | "shut" | "frozen" = "open";
  let target = server;
  const ends = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    ends.add(from);
    from.on("error", () => undefined);
    from.on("close", () => {
      ends.delete(from);
      to.destroy();
    });
    from.on("data", (bytes) => state === "frozen" || to.write(bytes));
  };
  const way = createServer((near) => {
    if (state === "shut") return void near.destroy();
    const far = dial(target.port, "127.0.0.1");
    pass(near, far);
    pass(far, near);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  way.listen(0, "127.0.0.1", resolve);
  await promise;
  const shut = (): void => {
    state = "shut";
    for (const end of ends) end.destroy();
  };
  onTestFinished(() => {
    shut();
    way.close();
  });
  return {
    port: (way.address() as AddressInfo).port,
    shut,
    freeze: () => void (state = "frozen"),
    open: (to = target) => {
      target = to;
      state = "open";
    },
  };
}

/** A turn of the event loop: reading a file takes one at least. */
export const turn = async (): Promise<void> => void (await stat(import.meta.filename));

/** An answer. */
export const started = (runId: string) => ({ run: { runId } });
/** The refusal. */
export const refusalOf = async (work: Promise<unknown>): Promise<EngineError> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof EngineError) return thrown;
  throw new Error("expected an EngineError", { cause: thrown });
};
