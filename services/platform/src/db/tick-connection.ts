// The connection of the ticks: opened on demand, and again after it broke or was given up. The race it survives: a connection that was
// given up breaks later; the new one then stays.

import { storeFault } from "./failure.ts";
import { openPipeline, type Pipeline } from "./pool.ts";
import type { Schemas } from "../config/schemas.ts";

interface TickConnectionOptions {
  /** The name of this process in notifications to others. */
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
    const { id, schemas, onConnected } = this.#options;
    const pipeline = await openPipeline(this.#url, { name: "pawl-tick", id, schemas, onBroken });
    onConnected?.();
    return pipeline;
  }

  /** Closes it: a session that refuses writes may do so for its whole life, and another server may accept them now. */
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
