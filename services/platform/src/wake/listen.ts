// LISTEN as a hint, never as truth: it says at once which runs have news, and whoever listens polls as well, so a lost
// notification costs latency and nothing else.
//
// States: connecting → listening → (the connection breaks) waiting → connecting …; stopped is final. The race it survives:
// notifications sent while no connection listened are gone, so every transition to listening is itself news of all runs.

import { isUuid, type RunId, runId } from "@pawl/core/name/ids";
import { Client } from "pg";

/** The channel the tick notifies; payload `<runId>:<lastSeq>,…`, or `*` when the list would be too long. */
export const CHANNEL = "pawl_runs";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;
/** A connection that is silently gone is found by asking it something this often. */
const PROBE_MS = 10_000;
const ANSWER_MS = 5_000;

export interface WakeHandlers {
  /** The run's log reaches at least `lastSeq`. */
  readonly onRun: (runId: RunId, lastSeq: number) => void;
  /** Any run may have news. */
  readonly onAll: () => void;
  /** Whether hints arrive; poll faster while they do not. */
  readonly onListening: (isListening: boolean) => void;
}

/** One run with news, out of a notification. */
export interface Wake {
  readonly runId: RunId;
  readonly lastSeq: number;
}

/** Reads a payload; undefined means any run may have news (also for what this build does not understand). */
export function parseWake(payload: string): readonly Wake[] | undefined {
  const wakes: Wake[] = [];
  for (const part of payload.split(",")) {
    const colon = part.indexOf(":");
    const id = part.slice(0, colon);
    const lastSeq = Number(part.slice(colon + 1));
    if (colon < 0 || !isUuid(id) || !Number.isSafeInteger(lastSeq)) return undefined;
    wakes.push({ runId: runId(id), lastSeq });
  }
  return wakes;
}

/** Keeps one connection listening until stopped. */
export class WakeListener {
  readonly #url: string;
  readonly #handlers: WakeHandlers;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isStopped = false;

  constructor(url: string, handlers: WakeHandlers) {
    this.#url = url;
    this.#handlers = handlers;
  }

  /** Begins to connect; does not wait for it. */
  start(): void {
    void this.#connect();
  }

  /** Closes the connection and stays away. */
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
    client.on("notification", (message) => this.#hear(message.payload ?? ""));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch {
      this.#lose(client);
      return;
    }
    if (this.#client !== client) return;
    this.#retryMs = FIRST_RETRY_MS;
    this.#handlers.onListening(true);
    this.#handlers.onAll();
    this.#probe(client);
  }

  #hear(payload: string): void {
    const wakes = parseWake(payload);
    if (wakes === undefined) this.#handlers.onAll();
    else for (const wake of wakes) this.#handlers.onRun(wake.runId, wake.lastSeq);
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

  /** Errors and ends of one connection come in any number and order; only the first of the current one counts. */
  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    if (this.#isStopped) return;
    this.#handlers.onListening(false);
    const waitMs = this.#retryMs * (0.5 + Math.random() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    this.#timer = setTimeout(() => void this.#connect(), waitMs);
    this.#timer.unref();
  }
}
