// The kit's gRPC server, on plain HTTP/2. A gRPC library would keep the kit from sending broken frames and from cutting connections.

import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";

const PREFIX_BYTES = 5;

/** One gRPC call that the process under test opened. */
export class WireCall {
  readonly path: string;
  readonly headers: http2.IncomingHttpHeaders;
  readonly #stream: http2.ServerHttp2Stream;
  #buffered = Buffer.alloc(0);
  #trailers: http2.OutgoingHttpHeaders | undefined;
  /** Whether either side has ended the call. */
  isOver = false;
  /** The status that the process sees for one of the kit; a mutant may change it. */
  statusOf: (code: number) => number = (code) => code;

  constructor(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) {
    this.#stream = stream;
    this.headers = headers;
    this.path = String(headers[":path"]);
    // The process may reset the stream at any time; `close` follows.
    stream.on("error", () => undefined);
    stream.on("close", () => void (this.isOver = true));
    stream.on("wantTrailers", () => stream.sendTrailers(this.#trailers ?? trailersOf(0, "")));
  }

  /** Starts the flow: `message` gets the bytes of each message, `over` is called when the process has ended its side or all of it. */
  listen(message: (bytes: Uint8Array) => void, over: () => void): void {
    this.#stream.on("data", (chunk: Buffer) => {
      this.#buffered = Buffer.concat([this.#buffered, chunk]);
      for (;;) {
        if (this.#buffered.length < PREFIX_BYTES) return;
        const end = PREFIX_BYTES + this.#buffered.readUInt32BE(1);
        if (this.#buffered.length < end) return;
        const bytes = new Uint8Array(this.#buffered.subarray(PREFIX_BYTES, end));
        this.#buffered = this.#buffered.subarray(end);
        message(bytes);
      }
    });
    this.#stream.once("end", over);
    this.#stream.once("close", over);
  }

  /** Calls back when the call is over on both sides. */
  onClose(callback: () => void): void {
    this.#stream.once("close", callback);
  }

  /** Sends one message; broken bytes are for the process to survive. */
  write(bytes: Uint8Array): void {
    if (this.isOver) return;
    if (!this.#stream.headersSent)
      this.#stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(bytes.length, 1);
    this.#stream.write(Buffer.concat([prefix, bytes]));
  }

  /** Ends the call with a gRPC status; `status` is a google.rpc.Status with the details of a refusal. */
  end(code = 0, details = "", status?: Uint8Array): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#trailers = {
      ...trailersOf(this.statusOf(code), details),
      ...(status === undefined
        ? {}
        : { "grpc-status-details-bin": Buffer.from(status).toString("base64") }),
    };
    if (this.#stream.headersSent) this.#stream.end();
    else
      this.#stream.respond(
        { "content-type": "application/grpc", ...this.#trailers },
        { endStream: true },
      );
  }

  /** Breaks the TCP connection that carries the call. */
  cut(): void {
    this.isOver = true;
    this.#stream.session?.destroy();
  }
}

const trailersOf = (code: number, details: string): http2.OutgoingHttpHeaders => ({
  "grpc-status": String(code),
  "grpc-message": encodeURIComponent(details),
});

export interface WireServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a free loopback port. */
export async function startWireServer(onCall: (call: WireCall) => void): Promise<WireServer> {
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => onCall(new WireCall(stream, headers)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // A server that listens on TCP has an address with a port.
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const session of sessions) session.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}
