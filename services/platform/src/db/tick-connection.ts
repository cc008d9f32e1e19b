// The connection of the ticks: opened when it is needed, and again when it broke or was left. Race survived: one that was left for
// another breaks later; then the other stays.

import { storeFault } from "./failure.ts";
import { openPipeline, type Pipeline } from "./pool.ts";

interface TickConnectionOptions {
  /** Names this process in hints to others. */
  readonly id: string;
  /** It has a new connection, perhaps to another server. */
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
    const { id, onConnected } = this.#options;
    const pipeline = await openPipeline(this.#url, { name: "pawl-tick", id, onBroken });
    onConnected?.();
    return pipeline;
  }

  /** Cuts it: a session that refuses to write may do so for as long as it lives, and the right server may be another one now. */
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
