// One connection that listens on channels.
//
// States: connecting → listening → (the connection breaks) waiting → connecting …; stopped is final.

import { Client } from "pg";
import type { PoolUsage } from "../db/pool.ts";
import { createBackoff } from "../lifecycle/backoff.ts";

const RETRY_MS = { initialMs: 100, maxMs: 2_000 } as const;
/** How often the listener queries the connection, to notice that it is broken. */
const PROBE_MS = 10_000;
const ANSWER_MS = 5_000;

interface ChannelHandlers {
  readonly onPayload: (payload: string, channel: string) => void;
  /** Whether notifications arrive. Notifications that were sent while they did not arrive are lost. */
  readonly onListening: (isListening: boolean) => void;
}

/** Keeps one connection listening until stopped. */
export class ChannelListener {
  readonly #url: string;
  readonly #channels: readonly string[];
  readonly #handlers: ChannelHandlers;
  #client: Client | undefined;
  readonly #backoff = createBackoff(RETRY_MS);
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isListening = false;

  constructor(url: string, channels: readonly string[], handlers: ChannelHandlers) {
    this.#url = url;
    this.#channels = channels;
    this.#handlers = handlers;
  }

  /** Starts to connect and does not wait for it. */
  start(): void {
    void this.#connect();
  }

  /** The connection. It is in use while notifications arrive. */
  usage(): PoolUsage {
    return { size: 1, inUse: this.#isListening ? 1 : 0, idle: 0 };
  }

  /** Closes the connection. It does not open again. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      application_name: "pawl-listen",
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
    });
    this.#client = client;
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ payload = "", channel }) =>
      this.#handlers.onPayload(payload, channel),
    );
    try {
      await client.connect();
      await client.query(this.#channels.map((channel) => `listen ${channel}`).join("; "));
    } catch {
      this.#lose(client);
      return;
    }
    if (this.#client !== client) return;
    this.#backoff.reset();
    this.#isListening = true;
    this.#handlers.onListening(true);
    this.#probe(client);
  }

  #probe(client: Client): void {
    this.#timer = setTimeout(() => {
      client.query("select 1").then(
        () => this.#client === client && this.#probe(client),
        () => this.#lose(client),
      );
    }, PROBE_MS);
    this.#timer.unref();
  }

  /** One connection may report several errors and ends, in any order. Only the first one of the current connection counts. */
  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#isListening = false;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    if (this.#isStopped) return;
    this.#handlers.onListening(false);
    this.#timer = setTimeout(() => void this.#connect(), this.#backoff.nextMs()).unref();
  }
}
