// Finding and testing loopback ports before something is started on them.
//
// Between the finding and the listening lie seconds, and a process that is started again leaves its port alone meanwhile. So a
// found port is none that the kernel gives to those who ask for any (a client that calls a port nobody listens on can even be
// given that very port and answer itself), and none that another process finds: ports are found in blocks, and who finds in a
// block listens on its first port for as long as it lives.
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";

/** The only address anything local listens on. */
export const LOOPBACK = "127.0.0.1";

/** Kernels give out ports from 32768 (Linux) or 49152 on. */
const FIRST_PORT = 20_000;
const BLOCK_SIZE = 60;
const BLOCK_COUNT = 200;

/** What is left of the blocks that are ours. */
const left: number[] = [];

/** A port nobody listens on, and nobody else who asks here is given while this process lives. */
export async function freePort(): Promise<number> {
  for (;;) {
    if (left.length === 0) left.push(...(await reserveBlock()));
    const port = left.shift();
    if (port !== undefined && (await isPortFree(port))) return port;
  }
}

/** Whether a listener could be opened on this loopback port now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  return server !== undefined;
}

/** The ports of a block nobody else has; any port, should all blocks be taken. */
async function reserveBlock(): Promise<number[]> {
  const offset = Math.floor(Math.random() * BLOCK_COUNT);
  for (let nth = 0; nth < BLOCK_COUNT; nth++) {
    const first = FIRST_PORT + ((offset + nth) % BLOCK_COUNT) * BLOCK_SIZE;
    const guard = await listen(first);
    if (guard === undefined) continue;
    guard.unref();
    return Array.from({ length: BLOCK_SIZE - 1 }, (_, index) => first + 1 + index);
  }
  const server = await listen(0);
  if (server === undefined) throw new Error("there is no free port");
  // A server listening on TCP has an AddressInfo; the string form is for pipes.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return [port];
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, LOOPBACK, () => resolve(server));
  });
}
