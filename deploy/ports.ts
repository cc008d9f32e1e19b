// Finding and testing loopback ports before something is started on them.
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** The only address anything local listens on. */
export const LOOPBACK = "127.0.0.1";

/** A port nobody listens on now. Another process may still take it before the caller does. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, LOOPBACK, resolve);
  });
  // A server listening on TCP has an AddressInfo; the string form is for pipes.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Whether a listener could be opened on this loopback port now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  const opened = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, LOOPBACK, () => resolve(true));
  });
  if (opened) await new Promise((resolve) => server.close(resolve));
  return opened;
}
