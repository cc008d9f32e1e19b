// One cleartext port for HTTP/1.1 and HTTP/2: the first bytes of a connection decide. Node's http2 server has no fallback without TLS, so
// this file reads the preface, puts it back, and passes the socket on.
//
// States of a connection: undecided (fewer than 24 bytes that all match so far; closed after 10 s) → HTTP/2 | HTTP/1.1.

import { createServer, type Server, type Socket } from "node:net";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const DECISION_MS = 10_000;

/** The servers that get a connection once its protocol is known. */
interface OnePortTargets {
  readonly http1: (socket: Socket) => void;
  readonly http2: (socket: Socket) => void;
}

/** A TCP server for both protocols. The caller listens and closes. */
export const createOnePort = (targets: OnePortTargets): Server =>
  createServer({ noDelay: true }, (socket) => decide(socket, targets));

function decide(socket: Socket, targets: OnePortTargets): void {
  const onEarlyError = (): void => void socket.destroy();
  socket.on("error", onEarlyError);
  socket.setTimeout(DECISION_MS, onEarlyError);
  // The type is wider than that of Buffer.alloc(0), because `concat` returns a Buffer over another kind of memory.
  let seen: Buffer = Buffer.alloc(0);
  const onReadable = (): void => {
    for (;;) {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const length = Math.min(seen.length, PREFACE.length);
      const matches = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
      if (matches && length < PREFACE.length) continue;
      socket.off("readable", onReadable);
      socket.setTimeout(0);
      socket.removeListener("timeout", onEarlyError);
      socket.unshift(seen);
      if (matches) targets.http2(socket);
      else targets.http1(socket);
      return;
    }
  };
  socket.on("readable", onReadable);
}
