// Finds and tests loopback ports for processes that start later.
//
// Seconds pass until a process listens on its port, and again when it restarts. Race: another process takes the port in between. So these
// ports are outside the range from which the kernel gives out ports. A client that calls such a port could otherwise get that port itself
// and answer its own call. The ports come in blocks: a process that uses a block listens on its first port as long as it lives.
import { type AddressInfo, createServer, type Server } from "node:net";

/** All local processes listen on this address only. */
export const LOOPBACK = "127.0.0.1";

/** Kernels give out ports from 32768 (Linux) or 49152 on. */
const FIRST_PORT = 20_000;
const BLOCK_SIZE = 60;
const BLOCK_COUNT = 200;

/** The unused ports of this process's blocks. */
const left: number[] = [];

/** A free port that no other caller of this function gets while this process lives. */
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

/** The ports of a free block. Any free port if all blocks are taken. */
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
  // A server listening on TCP has an AddressInfo. The string form is for pipes.
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
