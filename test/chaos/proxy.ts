// A TCP proxy on loopback that disturbs its connections. It never reorders, repeats or invents bytes: a toxic does only what networks do.
// Bytes that it held back come through when the toxic is lifted, as TCP would send them again.
import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import type { Random } from "../stress/random.ts";
import { ServerMessages } from "./notifications.ts";

/** What a link does to its bytes. */
export type Toxic =
  /** Connections break, and new ones are refused. */
  | { readonly kind: "cut" }
  /** Nothing comes through in these directions, and neither side gets an error. */
  | { readonly kind: "silence"; readonly up: boolean; readonly down: boolean }
  | { readonly kind: "delay"; readonly delayMs: number; readonly jitterMs: number }
  | { readonly kind: "rate"; readonly bytesPerSecond: number }
  /** The next piece is cut in the middle, and the connection ends there: by FIN, or by RST. */
  | { readonly kind: "partial"; readonly isReset: boolean }
  /** A request comes through; its answer is lost, and the connection breaks a moment later. */
  | { readonly kind: "lost answer" }
  /** PostgreSQL's notifications are lost, and nothing else; for a link that leads to it. */
  | { readonly kind: "lost notifications" };

/** One link. */
export type Proxy = {
  readonly name: string;
  readonly port: number;
  /** Connections made so far that were spoiled. */
  readonly spoiled: () => number;
  /** From now on, for present and future connections. */
  readonly poison: (toxic: Toxic) => void;
  /** Back to normal; `cutting` breaks the connections that were open under the toxic. */
  readonly heal: (cutting: boolean) => void;
  readonly stop: () => Promise<void>;
};

type Direction = "up" | "down";
type Pair = { readonly client: Socket; readonly server: Socket };

/** After a lost answer the server may still carry out the requests that came with it. */
const CARRIED_OUT_MS = 100;
/** A toxic's end is looked for this often. */
const LOOK_MS = 20;
const SECOND_MS = 1_000;

/** Listens on a free port and passes everything on to `targetPort`. */
export async function startProxy(
  name: string,
  targetPort: number,
  { random, isPostgres = false }: { readonly random: Random; readonly isPostgres?: boolean },
): Promise<Proxy> {
  const link = new Link(random, isPostgres);
  const listener = createServer((client) => link.join(client, connect(targetPort, LOOPBACK)));
  listener.listen(0, LOOPBACK);
  await once(listener, "listening");
  // A server listening on TCP always has such an address.
  const { port } = listener.address() as AddressInfo;
  return {
    name,
    port,
    spoiled: () => link.spoiled,
    poison: (toxic) => link.poison(toxic),
    heal: (cutting) => link.heal(cutting),
    stop: async () => {
      link.stop();
      listener.close();
      await once(listener, "close");
    },
  };
}

class Link {
  readonly #pairs = new Set<Pair>();
  readonly #random: Random;
  readonly #isPostgres: boolean;
  #toxic: Toxic | undefined;
  spoiled = 0;

  constructor(random: Random, isPostgres: boolean) {
    this.#random = random;
    this.#isPostgres = isPostgres;
  }

  join(client: Socket, server: Socket): void {
    const pair = { client, server };
    if (this.#toxic?.kind === "cut") return this.#cut(pair, false);
    this.#pairs.add(pair);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.#cut(pair, false));
      socket.on("close", () => this.#cut(pair, false));
    }
    void this.#pump(pair, "up");
    void this.#pump(pair, "down");
  }

  poison(toxic: Toxic): void {
    this.#toxic = toxic;
    if (toxic.kind !== "cut") return;
    this.spoiled += this.#pairs.size;
    for (const pair of [...this.#pairs]) this.#cut(pair, true);
  }

  heal(cutting: boolean): void {
    this.#toxic = undefined;
    if (cutting) for (const pair of [...this.#pairs]) this.#cut(pair, true);
  }

  stop(): void {
    this.heal(true);
  }

  /** Passes on one direction of a connection, piece by piece. */
  async #pump(pair: Pair, direction: Direction): Promise<void> {
    const [from, to] = direction === "up" ? [pair.client, pair.server] : [pair.server, pair.client];
    const messages = direction === "down" && this.#isPostgres ? new ServerMessages() : undefined;
    try {
      for await (const chunk of from) {
        // A socket without an encoding gives buffers.
        const came = this.#heard(chunk as Buffer, messages);
        if (came.length === 0) continue;
        await this.#pass(pair, to, came, direction);
        if (!this.#pairs.has(pair)) return;
      }
      to.end();
    } catch {
      this.#cut(pair, false);
    }
  }

  /** Whole messages of a database, without those that are lost; of anything else all there is. */
  #heard(chunk: Buffer, messages: ServerMessages | undefined): Buffer {
    if (messages === undefined) return chunk;
    const { bytes, lost } = messages.take(chunk, this.#toxic?.kind === "lost notifications");
    this.spoiled += lost;
    return bytes;
  }

  async #pass(pair: Pair, to: Socket, chunk: Buffer, direction: Direction): Promise<void> {
    const toxic = this.#toxic;
    if (toxic === undefined || toxic.kind === "lost notifications") return await write(to, chunk);
    if (toxic.kind === "lost answer" && direction === "up") return await write(to, chunk);
    this.spoiled += 1;
    switch (toxic.kind) {
      case "cut":
        return this.#cut(pair, true);
      case "silence":
        while (this.#toxic?.kind === "silence" && this.#toxic[direction] && this.#pairs.has(pair))
          await pause(LOOK_MS);
        return await write(to, chunk);
      case "delay":
        await pause(toxic.delayMs + this.#random() * toxic.jitterMs);
        return await write(to, chunk);
      case "rate":
        return await this.#trickle(pair, to, chunk);
      case "partial":
        await write(to, chunk.subarray(0, Math.ceil(chunk.length / 2)));
        return this.#cut(pair, toxic.isReset);
      case "lost answer":
        await pause(CARRIED_OUT_MS);
        return this.#cut(pair, true);
    }
  }

  /** As many bytes as the rate allows, until it no longer does. */
  async #trickle(pair: Pair, to: Socket, chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length && this.#toxic?.kind === "rate" && this.#pairs.has(pair)) {
      const step = Math.max(1, Math.floor((this.#toxic.bytesPerSecond * LOOK_MS) / SECOND_MS));
      await write(to, chunk.subarray(at, at + step));
      at += step;
      await pause((step / this.#toxic.bytesPerSecond) * SECOND_MS);
    }
    if (at < chunk.length) await write(to, chunk.subarray(at));
  }

  #cut(pair: Pair, isReset: boolean): void {
    this.#pairs.delete(pair);
    for (const socket of [pair.client, pair.server]) {
      socket.on("error", () => undefined);
      if (isReset && !socket.connecting) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
}

async function write(to: Socket, bytes: Buffer): Promise<void> {
  if (to.destroyed) throw new Error("the other side is gone");
  if (!to.write(bytes)) await once(to, "drain", { signal: AbortSignal.timeout(60_000) });
}
