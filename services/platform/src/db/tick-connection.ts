// The connection of the ticks. The scheduler opens it on demand, and again after it broke or was given up. Statements are sent without
// waiting for earlier answers. Race: a connection that was given up breaks later. Its failure does not close the new one.

import { Socket } from "node:net";
import { Client } from "pg";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";
import { storeFault } from "./failure.ts";
import { CONNECT_TIMEOUT_MS, sessionOptions } from "./pool.ts";

/**
 * All work waits for the tick, so a tick waits only briefly for a row that another session holds. Then it separates its inputs
 * (scheduler/src/tick/redo.ts). A longer wait would gain nothing: a run whose row was written meanwhile has a new version anyway. A tick
 * that stalls in its transaction blocks every other scheduler with work on the same runs.
 */
const LIMITS = { lockMs: 250, idleMs: 2_000 };

/** An open connection. */
export interface Pipeline {
  readonly client: Client;
  /** The name of this process in notifications to others. */
  readonly id: string;
  /**
   * Holds statements until `release` or the end of this turn of the event loop. A tick then costs one system call. One call for each
   * statement took a sixth of the scheduler's CPU.
   */
  gather(): void;
  /** Writes the held statements. */
  release(): void;
  /** Ends the connection at once. Every pending query rejects. */
  cut(): void;
}

interface TickConnectionOptions {
  readonly id: string;
  readonly schemas?: Schemas | undefined;
  /** Called for a new connection, perhaps to another server. */
  readonly onConnected?: (() => void) | undefined;
}

export class TickConnection {
  readonly #url: string;
  readonly #options: TickConnectionOptions;
  #pipeline: Promise<Pipeline> | undefined;

  constructor(url: string, options: TickConnectionOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** @throws STORE_UNAVAILABLE */
  get(): Promise<Pipeline> {
    if (this.#pipeline !== undefined) return this.#pipeline;
    const forget = (): void => {
      if (this.#pipeline === opened) this.#pipeline = undefined;
    };
    const opened: Promise<Pipeline> = this.#open(forget).catch((error: unknown) => {
      forget();
      throw storeFault(error);
    });
    this.#pipeline = opened;
    return opened;
  }

  async #open(onBroken: () => void): Promise<Pipeline> {
    const { id, schemas = DEFAULT_SCHEMAS, onConnected } = this.#options;
    const socket = new Socket();
    const client = new Client({
      connectionString: this.#url,
      application_name: "pawl-tick",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      pipeline: true,
      options: sessionOptions(schemas, LIMITS),
      stream: () => socket,
    });
    client.on("error", onBroken);
    client.on("end", onBroken);
    await client.connect();
    onConnected?.();
    let isHolding = false;
    const release = (): void => {
      if (isHolding) socket.uncork();
      isHolding = false;
    };
    const gather = (): void => {
      if (isHolding) return;
      isHolding = true;
      socket.cork();
      process.nextTick(release);
    };
    return { client, id, gather, release, cut: () => socket.destroy() };
  }

  get isOpen(): boolean {
    return this.#pipeline !== undefined;
  }

  /** Closes the connection. A session that refuses writes may do so for its whole life, and another server may accept them now. */
  leave(pipeline: Pipeline): void {
    this.#pipeline = undefined;
    pipeline.cut();
  }

  async close(): Promise<void> {
    const pipeline = this.#pipeline;
    this.#pipeline = undefined;
    await (await pipeline)?.client.end();
  }
}
