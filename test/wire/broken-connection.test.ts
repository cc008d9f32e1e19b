// Connections that speak no protocol of ours, stop half-way or abuse one. The gateway closes them and serves all others as before (rows H19
// and H21).
import { once } from "node:events";
import http2 from "node:http2";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { useStage } from "./stage.ts";

const stage = useStage();

/** A connection by hand; it ends with the test. */
function dial(): Socket {
  const socket = connect(stage().port, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Settles when the other side, whether politely or not, ended the connection. */
const hungUp = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once("close", () => resolve()));

const GARBAGE: readonly (readonly [string, string | Buffer])[] = [
  ["zeros", Buffer.alloc(10_000)],
  ["a TLS hello", Buffer.from("1603010200010001fc0303", "hex")],
  [
    "a preface and then noise",
    Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.alloc(1_000, 0xff)]),
  ],
  [
    "a preface and a frame of 16 MB",
    Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      Buffer.from("ffffff040000000000", "hex"),
    ]),
  ],
  ["a broken preface", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"],
  ["no version", "GET /\r\n\r\n"],
  ["another version", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"],
  ["no host", "GET / HTTP/1.1\r\n\r\n"],
  [
    "two lengths",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
  ],
  [
    "a length and chunks",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "a chunk of no size",
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ],
  ["a line without an end", "A".repeat(100_000)],
];

test.each(GARBAGE)("H21: %s on the port is hung up on", async (_, bytes) => {
  await stage().unharmed(async () => {
    const socket = dial();
    socket.resume();
    const closed = hungUp(socket);
    socket.write(bytes);
    await closed;
  });
});

test("H21: a connection whose preface stops half-way is closed, and meanwhile no other call waits for it", async () => {
  await stage().unharmed(async () => {
    const [half, silent] = [dial(), dial()];
    const closed = Promise.all([hungUp(half), hungUp(silent)]);
    half.write("PRI * HTTP/2.0\r\n");
    expect((await fetch(`${stage().url}/readyz`)).status).toBe(200);
    await closed;
  });
});

test("H19: a storm of streams that are reset at once ends the connection that makes it, and no other", async () => {
  await stage().unharmed(async () => {
    const session = http2.connect(stage().url);
    onTestFinished(() => session.destroy());
    session.on("error", () => undefined);
    const gone = new Promise((resolve) => session.once("close", resolve));
    await once(session, "connect");
    for (let count = 0; count < 20_000 && !session.destroyed && !session.closed; count++) {
      const stream = session.request({ ":path": "/readyz" });
      stream.on("error", () => undefined);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      if (count % 50 === 0) await new Promise((resolve) => session.ping(resolve));
    }
    await gone;
  });
});
